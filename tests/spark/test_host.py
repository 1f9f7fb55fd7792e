"""Where Spark sends the groups of shards."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from everview.spark.host import murmur3, shard_keys

pytestmark = pytest.mark.spark


def test_shards_are_spread_evenly_over_the_partitions(spark: SparkSession) -> None:
    """By the partition that Spark itself gives to each key."""
    for partitions, shards in ((1, 8), (2, 8), (3, 12), (7, 28), (8, 33)):
        keys = shard_keys(shards, partitions)
        assert len(set(keys)) == shards
        frame = spark.createDataFrame([(k,) for k in keys], "shard INT")
        placed = frame.repartition(partitions, "shard").selectExpr("shard", "spark_partition_id()")
        where = dict(tuple(r) for r in placed.collect())
        assert [where[k] for k in keys] == [i % partitions for i in range(shards)]
        assert max(Counter(where.values()).values()) <= -(-shards // partitions)


def test_the_hash_is_sparks(spark: SparkSession) -> None:
    values = [0, 1, -1, 42, 2**31 - 1, -(2**31), 123_456]
    frame = spark.createDataFrame([(v,) for v in values], "v INT").selectExpr("v", "hash(v)")
    assert dict(tuple(r) for r in frame.collect()) == {v: murmur3(v) for v in values}


def test_workers_collect_no_garbage_among_what_was_loaded_before_them(spark: SparkSession) -> None:
    def left_out(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"n": [gc.get_freeze_count()]})

    found = spark.range(1).mapInArrow(left_out, "n BIGINT").collect()
    assert found[0].n > 100_000
