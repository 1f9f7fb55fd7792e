"""An epoch of one stage and shard, inside Spark's state transaction.

    token, committed     ──▶ take the arena of that token, or rebuild it from the log
    apply the epoch      ──▶ new chunks into the state store, a fresh token
    leave the arena under the fresh token; the output blobs go on

If the commit fails, the old token stays committed and names no arena any more: the next attempt
rebuilds. An attempt that Spark gave up but that still runs can only leave an arena under a token
that is never committed.

Not here: the work itself (dataflow/stage), Spark's side of the operator (spark/processor).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from everview.dataflow.laps import Laps
from everview.dataflow.program import dataflow_of
from everview.dataflow.stage import StageShard
from everview.spark import scratch
from everview.spark.checkpoint import another_query
from everview.spark.hosted import Hosted, epoch_number, query_id, state_mark
from everview.spark.store import MapStore
from everview.state.arena import Arena


def run_epoch(
    hosted: Hosted, number: int, spark_key: int, rows: Iterator[pd.DataFrame], chunks: Any,
    token_state: Any,
) -> pd.DataFrame:  # fmt: skip
    """Apply the blobs of an epoch to stage `number`; the blobs that leave it."""
    laps = Laps()
    blobs = [bytes(b) for frame in rows for b in frame["blob"]]
    laps.lap("receive")
    flow = dataflow_of(hosted.program)
    shard = hosted.keys.index(spark_key)
    committed = token_state.get()
    token = committed[0] if committed else None
    mark = state_mark(hosted)
    if token is not None and not token.startswith(mark):
        raise another_query("the checkpoint")
    place = scratch.place(Path(hosted.scratch), query_id(), number, shard)
    arena, warm = Arena.take(place, token)
    run = StageShard(flow, flow.stages[number], shard, arena, MapStore(chunks), laps)
    laps.lap("take")
    if token is not None and not warm:
        run.rebuild()
        laps.lap("rebuild")
    out = run.epoch(epoch_number(), blobs, first=token is None)
    fresh = f"{mark}-{uuid.uuid4().hex}"
    token_state.update((fresh,))
    arena.leave(place / fresh)
    laps.lap("leave")
    out.append((shard, laps.blob()))
    keys = [hosted.keys[s] for s, _ in out]
    return pd.DataFrame({"shard": pd.array(keys, "int32"), "blob": [b for _, b in out]})
