"""A TPC-H view on the in-process host, fed from an update sequence through the real reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from everview.connect.update_sequence import UpdateSequence
from everview.dataflow.compile import Settings, compile_plan
from everview.dataflow.local import LocalHost
from everview.delta.delta import Delta
from everview.plan.rules import optimize
from everview.schema import Schema
from everview.sql.script import read_view


def run_view(
    name: str, sql: str, schema: Schema, sequence: Path, on_epoch: Callable[[int, Delta], None]
) -> int:
    """Run the view over the sequence; each epoch's changes go to `on_epoch`; rows of state left."""
    flow = compile_plan(optimize(read_view(name, sql, schema)), schema, Settings(shards=3))
    source = UpdateSequence(str(sequence), schema.relations)
    host = LocalHost(flow)
    wanted, offset = flow.relations(), source.initial()
    while (end := source.advance(offset, None)) != offset:
        changes = [c for r in source.ranges(offset, end) for c in source.read(r, wanted)]
        out = host.epoch(changes)
        assert not out.rejects, f"{name}: rejected {out.rejects[:3]}"
        on_epoch(host.number - 1, out.changes)
        offset = end
    counts = host.counts()
    return counts.live + counts.waiting + counts.groups
