"""What the same epochs cost without the work: two pipes to hold Everview's figures against.

    empty   the same scan, pack, shuffle and commit; the stage keeps its token and nothing else
    spark   Spark's own file source, the same filters and columns, a hash shuffle, a count

Both run over the same files as the query itself (end_to_end). Not here: measuring.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from workload import dataflow

from everview.dataflow.laps import Laps
from everview.delta.frame import peek
from everview.spark import host
from everview.spark.processor import StageProcessor

FILTERS = {
    "customer": "c_mktsegment = 'BUILDING'",
    "orders": "o_orderdate < DATE '1995-03-15'",
    "lineitem": "l_shipdate > DATE '1995-03-15'",
}
KEYS = {"customer": "c_custkey", "orders": "o_orderkey", "lineitem": "l_orderkey"}


class EmptyStage(StageProcessor):
    """Takes what comes, keeps a token, lets times pass."""

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Any:  # noqa: ARG002
        laps = Laps()
        blobs = [bytes(b) for frame in rows for b in frame["blob"]]
        laps.lap("receive")
        self.token.update((os.urandom(8).hex(),))
        out = [b for b in blobs if "times" in peek(b)] + [laps.blob()]
        yield pd.DataFrame({"shard": pd.array([key[0]] * len(out), "int32"), "blob": out})


@contextmanager
def empty(wanted: bool) -> Iterator[None]:
    """Queries started inside have empty stages."""
    with mock.patch.object(host, "StageProcessor", EmptyStage if wanted else StageProcessor):
        yield


class SparkPipe:
    """Q3's sources through Spark alone; looks like a Run to the feeder."""

    def __init__(self, spark: SparkSession, live: Path, partitions: int) -> None:
        self.spark, self.sink, self.partitions = spark, self, partitions
        self.reports: list[Any] = []
        frames = [self._source(live, name, wanted) for name, wanted in _wanted().items()]
        union = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), frames)
        self.query = (
            union.writeStream.foreachBatch(lambda df, epoch: self.write(df, epoch))
            .option("checkpointLocation", tempfile.mkdtemp(dir=live))
            .start()
        )

    def _source(self, live: Path, name: str, wanted: tuple[str, ...]) -> DataFrame:
        schema = self.spark.read.parquet(str(next((live / name).glob("*.parquet")))).schema
        rows = self.spark.readStream.schema(schema).parquet(str(live / name))
        return rows.filter(FILTERS[name]).select(rows[KEYS[name]].alias("k"), "op", *wanted)

    def write(self, rows: DataFrame, epoch: int) -> None:
        """Counts the epoch's rows behind a shuffle; looks at every column, or they would go."""
        moved = rows.repartition(self.partitions, "k")
        moved.selectExpr("count_if(hash(*) IS NOT NULL)").collect()
        self.reports.append(epoch)

    def process_available(self) -> None:
        self.query.processAllAvailable()


def _wanted() -> dict[str, tuple[str, ...]]:
    return {
        n: tuple(c for c in cs if c != KEYS[n]) for n, cs in dataflow("q3", 1).relations().items()
    }
