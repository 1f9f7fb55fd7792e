"""How one node turns a delta into a delta. Operators see columns and keys, not the plan."""
