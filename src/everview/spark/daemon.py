"""Spark's Python daemon with our code already loaded: workers are forked from it, warm.

Loading numba and its compiled kernels takes about a second; done here once, not in every worker.
A worker collects garbage after every task: what is loaded here is put out of its reach, or it would
look through all of that each time (0.1 s).

Not here: what workers run (spark/stage, spark/source, spark/unpack).
"""

import gc

from pyspark.daemon import manager

import everview.spark.stage  # noqa: F401  loaded for its effect

if __name__ == "__main__":
    gc.collect()
    gc.freeze()
    manager()
