"""Inner loops over numpy arrays, compiled by numba. They know integers, nothing of ours."""
