"""The whole answer of a view, from the state of its last committed epoch; no source is read again.

    statestore: chunks of the last stage ── by shard ── rebuild in memory ── all rows ─▶ answer

Works on a checkpoint whether its query runs or not. Not here: reading one key, ad-hoc SQL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from everview.connect.fold import Row, retract
from everview.dataflow.local import Chunks
from everview.dataflow.program import dataflow_of
from everview.dataflow.stage import REJECTS, StageShard
from everview.delta.changelog import canonical
from everview.delta.frame import batch_bytes, decode, encode
from everview.errors import StateError
from everview.spark.checkpoint import committed
from everview.spark.hosted import BLOBS, Hosted
from everview.spark.processor import CHUNKS
from everview.spark.unpack import changelog_schema, unpack_blobs
from everview.state.arena import Arena


def snapshot(spark: SparkSession, on: Hosted, checkpoint: Path) -> Counter[Row]:
    """The answer at the last committed epoch, with multiplicities."""
    epoch = committed(checkpoint)
    answer: Counter[Row] = Counter()
    if epoch is None:
        return answer
    flow = dataflow_of(on.program)
    last = flow.stages[-1]
    if not last.keeps and last.group is None:
        raise StateError(
            "SNAPSHOT.STATELESS",
            f"view {flow.view} keeps no state: its rows only pass through, so its answer is known "
            "to its first run and its changelog alone",
            fix="write it to a folder (parquet:DIR), start it on a new checkpoint, or give its "
            "relation a primary key and a policy other than trust",
        )
    rows = _chunks(spark, checkpoint)
    found = rows.groupBy("shard").applyInPandas(_content(on), BLOBS).toArrow()
    blobs = found.column("blob").to_pylist()
    if (
        last.group is not None
        and not last.group.keys
        and on.keys[0] not in set(found.column("shard").to_pylist())
    ):  # its one row needs no state to be 0
        blobs.append(_blob(on, 0, {}))
    batches = list(unpack_blobs(flow, map(memoryview, blobs), "retract"))
    retract(answer, pa.Table.from_batches(batches, changelog_schema(flow, "retract")), epoch)
    return answer


def kept_rejects(spark: SparkSession, checkpoint: Path) -> list[dict[str, Any]]:
    """The last rows that were refused, as the state remembers them."""
    if committed(checkpoint) is None:
        return []
    rows = _chunks(spark, checkpoint).where(f"number = {REJECTS}").toArrow()
    blobs = rows.column("blob").to_pylist()
    return [reject for blob in blobs for reject in decode(blob)[0]["kept"]["last"]]


def _chunks(spark: SparkSession, checkpoint: Path) -> DataFrame:
    """The chunks of the last stage at the last committed epoch: shard, number, blob."""
    return (  # Spark numbers stateful operators from the last to the first
        spark.read.format("statestore")
        .option("path", str(checkpoint))
        .option("operatorId", 0)
        .option("stateVarName", CHUNKS)
        .load()
        .selectExpr("key.shard AS shard", "user_map_key.number", "user_map_value.blob")
    )


def _content(on: Hosted) -> Callable[[Any, pd.DataFrame], pd.DataFrame]:
    def content(key: Any, chunks: pd.DataFrame) -> pd.DataFrame:
        found = {int(n): bytes(b) for n, b in zip(chunks["number"], chunks["blob"], strict=True)}
        blob = _blob(on, on.keys.index(int(key[0])), found)
        return pd.DataFrame({"shard": [int(key[0])], "blob": [blob]})

    return content


def _blob(on: Hosted, shard: int, chunks: dict[int, bytes]) -> bytes:
    """All rows of a shard, from its chunks, as an output blob."""
    flow = dataflow_of(on.program)
    store = Chunks()
    store.blobs = chunks
    run = StageShard(flow, flow.stages[-1], shard, Arena(), store)
    run.rebuild()
    rows = canonical(run.content(), flow.key)
    return encode({"changes": 0}, [batch_bytes(rows.to_arrow())])
