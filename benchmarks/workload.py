"""TPC-H as the benchmarks declare it: sizes by scale, the policy `trust`, and a query's dataflow.

Not here: data (fifo), measuring.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from fifo import Epoch

from everview.dataflow.compile import Settings, compile_plan
from everview.dataflow.dataflow import Dataflow
from everview.delta.changes import Changes
from everview.plan.rules import optimize
from everview.schema import Schema
from everview.sql.script import read_view
from everview.workloads import tpch
from everview.workloads.tpch.generate import generate

POLICY = "trust"
REPLICATE_ROWS = 200_000  # customers are sent to every shard up to scale 1
_ROWS = {"supplier": 10_000, "customer": 150_000, "orders": 1_500_000, "lineitem": 6_000_000}


def tables(data: Path, scale: float) -> Path:
    """The generated tables of a scale."""
    return generate(data / f"tpch-{scale:g}", scale)


def schema(scale: float) -> Schema:
    """The tables with their policy and their declared sizes."""
    return Schema(
        tuple(
            replace(r, policy=POLICY, rows=rows_of(r.name, scale) or r.rows)
            for r in tpch.schema().relations
        )
    )


def rows_of(relation: str, scale: float) -> int | None:
    return int(_ROWS[relation] * scale) if relation in _ROWS else None


def dataflow(query: str, scale: float, shards: int) -> Dataflow:
    """The dataflow of a query at a scale."""
    known = schema(scale)
    plan = optimize(read_view(query, tpch.query(query), known))
    return compile_plan(plan, known, Settings(shards, REPLICATE_ROWS))


def changes_of(epoch: Epoch, wanted: dict[str, tuple[str, ...]]) -> list[Changes]:
    """An epoch as a source would hand it over."""
    out = []
    for name, table in epoch.tables.items():
        batch = table.select(list(wanted[name])).combine_chunks().to_batches()
        op = np.where(np.asarray(pa.compute.equal(table.column("op"), "+")), 1, -1)
        if batch:
            out.append(Changes(name, batch[0], op.astype(np.int8)))
    return out
