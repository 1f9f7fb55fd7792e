"""A plan as stages and routes, and what runs them wherever they are hosted."""
