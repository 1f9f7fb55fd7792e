"""The Spark host: a program and its sources as one streaming DataFrame of output blobs.

    ranges source (files) ─┐
    packed stream ─────────┼─ union ─ group by shard ─ stage 0 ─ group by shard ─ stage 1 ... ─▶
    blobs packed stream ─────────┘

Not here: starting and watching the query (spark/run), typed rows (spark/unpack).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from everview.connect.contract import RangeSource
from everview.dataflow.program import Program, dataflow_of
from everview.spark.hosted import BLOBS, Hosted
from everview.spark.processor import StageProcessor
from everview.spark.rows import Stream, packed
from everview.spark.source import range_source


def hosted(program: Program, scratch: str, partitions: int) -> Hosted:
    """The program with the Spark key of each shard, spread evenly over the partitions."""
    keys = shard_keys(dataflow_of(program).shards, partitions)
    return Hosted(program, scratch, keys, 2 * partitions)


def output_blobs(
    spark: SparkSession, on: Hosted, ranges: RangeSource | None, streams: Iterable[Stream],
    limit: int,
) -> DataFrame:  # fmt: skip
    """The streaming DataFrame of the last stage's output: changes, rejects and statistics."""
    flow = dataflow_of(on.program)
    wanted = flow.relations()
    frames = [packed(s, on, wanted[s.relation.name]) for s in streams]
    if ranges is not None:
        name = f"everview_{uuid.uuid4().hex}"
        spark.dataSource.register(range_source(ranges, on, limit, name))
        frames.insert(0, spark.readStream.format(name).load())
    blobs = reduce(DataFrame.unionAll, frames)
    for stage in flow.stages:
        blobs = blobs.groupBy("shard").transformWithStateInPandas(
            StageProcessor(on, stage.number), BLOBS, "append", "none"
        )
    return blobs


def shard_keys(shards: int, partitions: int) -> tuple[int, ...]:
    """One Spark grouping key per shard, so that shard i lands in partition i modulo `partitions`.

    Spark sends an INT key to the partition given by its Murmur3 hash; left to chance, eight keys on
    two partitions may split six to two.
    """
    keys: list[int] = []
    candidate = 0
    while len(keys) < shards:
        if murmur3(candidate) % partitions == len(keys) % partitions:
            keys.append(candidate)
        candidate += 1
    return tuple(keys)


def murmur3(value: int, seed: int = 42) -> int:
    """Spark's hash of an INT, as a signed number (Python's modulo then is Spark's pmod)."""
    mask = 0xFFFFFFFF

    def turn(x: int, r: int) -> int:
        return ((x << r) | (x >> (32 - r))) & mask

    k = (value & mask) * 0xCC9E2D51 & mask
    k = turn(k, 15) * 0x1B873593 & mask
    h = turn(seed ^ k, 13) * 5 + 0xE6546B64 & mask
    h ^= 4
    h = (h ^ (h >> 16)) * 0x85EBCA6B & mask
    h = (h ^ (h >> 13)) * 0xC2B2AE35 & mask
    h ^= h >> 16
    return h - 2**32 if h >= 2**31 else h
