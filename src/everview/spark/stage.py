"""A stage as a Spark stateful operator: one group per shard, blobs in and out.

    rows (shard, blob) of an epoch ──▶ handleInputRows, once per shard
        token, committed     ──▶ take the arena of that token, or rebuild it from the log
        apply the epoch      ──▶ new chunks into the state store, a fresh token
        leave the arena under the fresh token; the output blobs go on

If the commit fails, the old token stays committed and names no arena any more: the next attempt
rebuilds. An attempt that Spark gave up but that still runs can only leave an arena under a token
that is never committed.

Not here: the work itself (dataflow/stage), assembling the query (spark/host).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark import TaskContext
from pyspark.sql.streaming import StatefulProcessor

from everview.dataflow.laps import Laps
from everview.dataflow.program import Program, dataflow_of
from everview.dataflow.stage import StageShard
from everview.spark import scratch
from everview.spark.store import CHUNKS, TOKEN, MapStore
from everview.state.arena import Arena

BLOBS = "shard INT, blob BINARY"


@dataclass(frozen=True, slots=True)
class Hosted:
    """A program on Spark: where arenas live, and the Spark key of each shard."""

    program: Program
    scratch: str
    keys: tuple[int, ...]


def task_property(name: str) -> str | None:
    context = TaskContext.get()
    return context.getLocalProperty(name) if context is not None else None


def epoch_number() -> int:
    """The number of the micro-batch that this task belongs to."""
    return int(task_property("streaming.sql.batchId") or 0)


def query_id() -> str:
    """The streaming query's id: the same after every restart from its checkpoint."""
    return task_property("sql.streaming.queryId") or "unknown"


class StageProcessor(StatefulProcessor):
    """Stage `number` of a hosted program."""

    def __init__(self, hosted: Hosted, number: int) -> None:
        self.hosted, self.number = hosted, number

    def init(self, handle: Any) -> None:
        self.chunks = handle.getMapState(CHUNKS, "number BIGINT", "blob BINARY")
        self.token = handle.getValueState(TOKEN, "token STRING")

    def handleInputRows(
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: ARG002
    ) -> Iterator[pd.DataFrame]:
        laps = Laps()
        blobs = [bytes(b) for frame in rows for b in frame["blob"]]
        laps.lap("receive")
        yield self._apply(int(key[0]), blobs, laps)

    def close(self) -> None:
        """Nothing is held between epochs."""

    def _apply(self, spark_key: int, blobs: list[bytes], laps: Laps) -> pd.DataFrame:
        flow = dataflow_of(self.hosted.program)
        shard = self.hosted.keys.index(spark_key)
        committed = self.token.get()
        token = committed[0] if committed else None
        place = scratch.place(Path(self.hosted.scratch), query_id(), self.number, shard)
        arena, warm = Arena.take(place, token)
        store = MapStore(self.chunks)
        run = StageShard(flow, flow.stages[self.number], shard, arena, store, laps)
        laps.lap("take")
        if token is not None and not warm:
            run.rebuild()
            laps.lap("rebuild")
        out = run.epoch(epoch_number(), blobs, first=token is None)
        fresh = uuid.uuid4().hex
        self.token.update((fresh,))
        arena.leave(place / fresh)
        laps.lap("leave")
        out.append((shard, laps.blob()))
        keys = [self.hosted.keys[s] for s, _ in out]
        return pd.DataFrame({"shard": pd.array(keys, "int32"), "blob": [b for _, b in out]})
