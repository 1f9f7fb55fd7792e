"""The whole answer of a view, from the state of its last committed epoch; no source is read again.

    statestore: chunks of the last stage ── by shard ── rebuild in memory ── all rows ─▶ answer

Works on a checkpoint whether its query runs or not. Not here: reading one key, ad-hoc SQL.
"""

from __future__ import annotations

import json
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
from everview.spark.hosted import BLOBS, Hosted
from everview.spark.processor import CHUNKS
from everview.spark.unpack import changelog_schema, unpack_blobs
from everview.state.arena import Arena


def committed(checkpoint: Path) -> int | None:
    """The last committed epoch of a checkpoint, None if there is none."""
    folder = checkpoint / "commits"
    numbers = [int(f.name) for f in folder.iterdir() if f.name.isdigit()] if folder.is_dir() else []
    return max(numbers, default=None)


def end_offset(checkpoint: Path, epoch: int) -> dict[str, Any]:
    """Where the first source of a query stood at the end of an epoch, from its offset log: a
    version, a line of settings, then a line for each source."""
    lines = (checkpoint / "offsets" / str(epoch)).read_text(encoding="utf-8").splitlines()
    offset: dict[str, Any] = json.loads(lines[2])
    return offset


def snapshot(spark: SparkSession, on: Hosted, checkpoint: Path) -> Counter[Row]:
    """The answer at the last committed epoch, with multiplicities."""
    epoch = committed(checkpoint)
    answer: Counter[Row] = Counter()
    if epoch is None:
        return answer
    flow = dataflow_of(on.program)
    rows = _chunks(spark, checkpoint)
    found = rows.groupBy("shard").applyInPandas(_content(on), BLOBS).toArrow()
    blobs = found.column("blob").to_pylist()
    group = flow.stages[-1].group
    if group is not None and not group.keys and not blobs:  # its one row needs no state to be 0
        blobs = [_blob(on, 0, {})]
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
