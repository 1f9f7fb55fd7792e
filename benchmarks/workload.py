"""TPC-H as the benchmarks declare it: policy `trust`, placements, and a query's dataflow.

Small tables, suppliers and (filtered) customers go to every shard; orders and lineitem are
partitioned, so that each query needs one stage for its join.

Not here: data (fifo), measuring.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from fifo import SLIDING, Epoch

from everview.dataflow.compile import Settings, compile_plan
from everview.dataflow.dataflow import Dataflow
from everview.delta.changes import Changes
from everview.plan.rules import optimize
from everview.schema import Schema
from everview.sql.script import read_view
from everview.workloads import tpch
from everview.workloads.tpch.generate import generate

POLICY = "trust"


def tables(data: Path, scale: float) -> Path:
    """The generated tables of a scale."""
    return generate(data / f"tpch-{scale:g}", scale)


def placement(relation: str) -> Literal["replicated", "partitioned"]:
    return "partitioned" if relation in SLIDING else "replicated"


def schema() -> Schema:
    """The tables with their policy and placement."""
    return Schema(
        tuple(
            replace(r, policy=POLICY, placement=placement(r.name)) for r in tpch.schema().relations
        )
    )


def dataflow(query: str, shards: int) -> Dataflow:
    """The dataflow of a query."""
    known = schema()
    plan = optimize(read_view(query, tpch.query(query), known))
    return compile_plan(plan, known, Settings(shards))


def changes_of(epoch: Epoch, wanted: dict[str, tuple[str, ...]]) -> list[Changes]:
    """An epoch as a source would hand it over."""
    out = []
    for name, table in epoch.tables.items():
        batch = table.select(list(wanted[name])).combine_chunks().to_batches()
        op = np.where(np.asarray(pa.compute.equal(table.column("op"), "+")), 1, -1)
        if batch:
            out.append(Changes(name, batch[0], op.astype(np.int8)))
    return out
