"""Spark's Python daemon with our code already loaded: workers are forked from it, warm.

Loading numba and its compiled kernels takes about a second; done here once, not in every worker.

Not here: what workers run (spark/stage, spark/source, spark/unpack).
"""

from pyspark.daemon import manager

import everview.spark.stage  # noqa: F401  loaded for its effect

if __name__ == "__main__":
    manager()
