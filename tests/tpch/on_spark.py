"""A TPC-H view on real Spark: a streaming query over an update sequence, an epoch per `*` line.

The session is started once and serves every view; each view gets a database, a checkpoint and a
query of its own. The memory sink keeps the changes of every epoch, which are handed on in order.

Not here: histories, the oracle, the comparison (run_tpch, truth).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from everview.config import Config, load
from everview.connect.fold import EPOCH, KIND, WEIGHTS
from everview.database import Database
from everview.dataflow.program import dataflow_of
from everview.delta.delta import Delta
from everview.delta.vector import Vector
from everview.schema import Column, Schema
from everview.spark.run import Run
from everview.spark.session import embedded
from everview.spark.sinks import MemorySink

STATE = ("live", "waiting", "groups", "entries", "texts", "log_rows")


def run_view(
    name: str, sql: str, schema: Schema, sequence: Path, on_epoch: Callable[[int, Delta], None]
) -> int:
    """Run the view over the sequence; each epoch's changes go to `on_epoch`; rows of state left."""
    spark, config = _session()
    options = {"connector": "update-sequence", "path": str(sequence.resolve())}
    with Database(spark, config) as db:
        db.schema = Schema(tuple(replace(r, options=options) for r in schema.relations))
        run = db.view(name, sql).start()
        run.process_available()
        sink = run.sink
        assert isinstance(sink, MemorySink)
        assert not run.rejected, f"{name}: rejected {list(run.rejects)[:3]}"
        for epoch, table in sink.changes:
            on_epoch(epoch, delta_of(table, sink.flow.columns))
        _say(run)
        return sum(run.total(part) for part in STATE)


def delta_of(table: pa.Table, columns: tuple[Column, ...]) -> Delta:
    """A table in retract form as a delta: the kinds become weights, row by row."""
    weights = [WEIGHTS[k] for k in table.column(KIND).to_pylist()]
    assert len(set(table.column(EPOCH).to_pylist())) <= 1, "changes of several epochs in one"
    whole = table.combine_chunks()
    vectors = {c.name: Vector.from_arrow(_array(whole, c.name), c.type) for c in columns}
    return Delta(vectors, np.array(weights, np.int64))


def _array(table: pa.Table, name: str) -> pa.Array:
    chunks = table.column(name)
    return chunks.chunk(0) if chunks.num_chunks else pa.array([], chunks.type)


@cache
def _session() -> tuple[SparkSession, Config]:
    config = load()
    return embedded(config, "everview-tpch"), config


def _say(run: Run) -> None:
    """Stages, and the middle epoch's time, to stderr: what an epoch costs."""
    took = [p["durationMs"].get("triggerExecution", 0) for p in run.query.recentProgress]
    stages = len(dataflow_of(run.on.program).stages)
    print(f"  {run.view}: {stages} stages, median epoch {median(took)} ms", file=sys.stderr)
