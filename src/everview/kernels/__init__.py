"""Inner loops over numpy arrays, compiled by numba. They know integers only and import nothing of ours."""
