"""Ranges of files as a Spark streaming source whose rows are packed blobs.

    driver   latestOffset ─ RangeSource.advance ─▶ offset, committed by Spark
             partitions   ─ RangeSource.ranges  ─▶ shared out to a few tasks
    task     read(range)  ─ parse, pack         ─▶ (shard, blob) rows, as Arrow

No row of the data ever passes through the JVM: tasks read the files themselves.

Not here: file formats (connect), packing (dataflow/pack), rows of other streams (spark/rows).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from everview.connect.contract import Range, RangeSource
from everview.dataflow.dataflow import Dataflow
from everview.dataflow.laps import Laps
from everview.dataflow.program import dataflow_of
from everview.delta.frame import encode
from everview.spark.hosted import BLOBS, Hosted

BEGUN = "begun"
OPENING = 1 << 16  # bytes that could be read while a file is opened
ARROW_BLOBS = pa.schema([("shard", pa.int32()), ("blob", pa.binary())])


class RangeReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a RangeSource, `limit` changes an epoch."""

    def __init__(self, source: RangeSource, hosted: Hosted, limit: int) -> None:
        self.source, self.hosted, self.limit = source, hosted, limit

    def initialOffset(self) -> dict[str, Any]:
        return self.source.initial()

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self.limit)

    def prepareForTriggerAvailableNow(self) -> None:
        """The source itself ends: its offset stops moving when nothing more is there."""

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        rows = limit.max_rows if isinstance(limit, ReadMaxRows) else self.limit
        end = self.source.advance(start, None if isinstance(limit, ReadAllAvailable) else rows)
        # An ungrouped aggregate has a row before there is any input: its first epoch needs none.
        return {**end, BEGUN: True} if wakes(dataflow_of(self.hosted.program)) else end

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        ranges = self.source.ranges(start, end) if start != end else []
        found = shares(ranges, self.hosted.tasks) or [[]]
        return [InputPartition((i, s)) for i, s in enumerate(found)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from everview.dataflow.pack import packer_of  # only tasks need it: the driver starts sooner

        number, pieces = partition.value
        flow, packer = dataflow_of(self.hosted.program), packer_of(self.hosted.program)
        if number == 0:
            yield blob_rows(self.hosted, wakes(flow))
        laps, shard, read = Laps(), 0, 0
        for piece in pieces:
            for changes in self.source.read(piece, flow.relations()):
                laps.lap("scan")
                packed = [(p.shard, p.blob) for p in packer.pack(changes)]
                shard = packed[-1][0] if packed else shard  # a shard that is awake anyway
                read += changes.batch.num_rows + len(changes.rejects)
                laps.lap("pack")
                yield blob_rows(self.hosted, packed)
                laps.skip()
        yield blob_rows(self.hosted, [(shard, laps.blob(read))])


def range_source(source: RangeSource, hosted: Hosted, limit: int, name: str) -> type[DataSource]:
    """A Spark data source class, under a name of its own, that reads this RangeSource."""

    class Ranges(DataSource):
        @classmethod
        def name(cls) -> str:
            return name

        def schema(self) -> str:
            return BLOBS

        def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: ARG002
            return RangeReader(source, hosted, limit)

    return Ranges


def shares(ranges: list[Range], tasks: int) -> list[list[Range]]:
    """The ranges, in order, in at most `tasks` lists of about equal work: a task costs more than a
    small file does."""
    work = [r.size + OPENING for r in ranges]
    whole, done = sum(work), 0
    out: list[list[Range]] = [[] for _ in range(tasks)]
    for piece, cost in zip(ranges, work, strict=True):
        out[min(tasks * (2 * done + cost) // (2 * whole), tasks - 1)].append(piece)
        done += cost
    return [s for s in out if s]


def wakes(flow: Dataflow) -> list[tuple[int, bytes]]:
    """Blobs that make every ungrouped aggregate's shard run, rows or not."""
    return [
        (0, encode({"stage": s.number}))
        for s in flow.stages
        if s.group is not None and not s.group.keys
    ]


def blob_rows(hosted: Hosted, blobs: list[tuple[int, bytes]]) -> pa.RecordBatch:
    """Blobs as rows, keyed as Spark knows their shards."""
    keys = np.array([hosted.keys[s] for s, _ in blobs], np.int32)
    return pa.RecordBatch.from_arrays(
        [pa.array(keys), pa.array([b for _, b in blobs], pa.binary())], schema=ARROW_BLOBS
    )
