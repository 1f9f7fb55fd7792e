"""What is remembered: the durable log, and the arena, an index of the log in flat mapped arrays."""
