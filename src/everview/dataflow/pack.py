"""Pack: parsed changes of a relation -> blobs, one per feed and shard.

    Changes ── checks ── per feed: filter, make ── route ──▶ (shard, blob) ...

Rows with a NULL where none may be are rejected here, before anything else sees them. A filter drops
rows only if the feed's policy is `trust`; otherwise rows that fail travel as their key, marked,
because they may undo a row that passed. A blob's header says where its rows stood in the source.

Not here: reading sources (connect), what a stage does with a blob (dataflow/stage).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from everview.dataflow.dataflow import Dataflow, Feed
from everview.dataflow.program import Program, dataflow_of
from everview.dataflow.route import cut, shards_of
from everview.delta.changes import DELETE, UPDATE, Changes, Reason, Reject
from everview.delta.delta import WEIGHT, Delta
from everview.delta.evaluate import evaluate, matches
from everview.delta.frame import batch_bytes, encode
from everview.delta.vector import Array, Vector, python
from everview.errors import InputError
from everview.operators.group import Group
from everview.state.arena import Arena
from everview.state.text import TextTable

OP, ROW, PASSES, ORDER = "#op", "#row", "#passes", "#order"
RAW = 200


@dataclass(frozen=True, slots=True)
class Marks:
    """What travels with each row besides its columns: op, place, and order if that decides."""

    op: Array
    rows: Array
    order: pa.Array | None = None

    def take(self, rows: Array) -> Marks:
        order = None if self.order is None else self.order.filter(pa.array(rows))
        return Marks(self.op[rows], self.rows[rows], order)

    def columns(self) -> dict[str, pa.Array]:
        found = {OP: pa.array(self.op), ROW: pa.array(self.rows.astype(np.int32))}
        return found if self.order is None else found | {ORDER: self.order}


@dataclass(frozen=True, slots=True)
class Packed:
    """A blob for a shard."""

    shard: int
    blob: bytes


class Packer:
    """Packs the changes of every relation that a dataflow reads."""

    def __init__(self, dataflow: Dataflow) -> None:
        self.shards, self.zone = dataflow.shards, dataflow.zone
        self.feeds: dict[str, list[tuple[int, Feed]]] = {}
        for s in dataflow.stages:
            for f in s.feeds:
                if f.relation is not None:
                    self.feeds.setdefault(f.relation, []).append((s.number, f))

    def pack(self, changes: Changes) -> list[Packed]:
        """The blobs of one batch of changes; rejects ride along to the first shard."""
        feeds = self.feeds.get(changes.relation, [])
        rejects = list(changes.rejects)
        out: list[Packed] = []
        if feeds and changes.batch.num_rows:
            columns, marks, refused = _checked(changes, feeds)
            rejects += refused
            for stage, feed in feeds:
                out += self._pack_feed(stage, feed, columns, marks, changes)
        if rejects:
            if any(f.policy == "fail" for _, f in feeds):
                raise failed(rejects[0])
            out.append(Packed(0, reject_blob(rejects)))
        return out

    def _pack_feed(
        self, stage: int, feed: Feed, columns: dict[str, Vector], marks: Marks, changes: Changes
    ) -> list[Packed]:
        seen = {f"{feed.alias}.{c.name}": columns[c.name] for c in feed.scan}
        passes = None
        if feed.filter is not None:
            passes = matches(feed.filter, seen, len(marks.op), zone=self.zone)
            if not feed.filtered:
                if not passes.all():
                    seen, marks = _taken(seen, passes), marks.take(passes)
                passes = None
        made = _make(feed, seen, passes, len(marks.op), self.zone)
        header = {
            "stage": stage, "feed": feed.name, "segment": changes.segment, "start": changes.start,
        }  # fmt: skip
        if feed.partial is not None:
            made = fold(feed, Delta(made, marks.op.astype(np.int64)), self.zone)
            extra = {WEIGHT: pa.array(np.ones(len(made["#0"]), np.int64))}
        else:
            extra = marks.columns()
            if passes is not None:
                extra[PASSES] = pa.array(passes)
        return route_blobs(feed, made, extra, header, self.shards)


@lru_cache(maxsize=64)
def packer_of(program: Program) -> Packer:
    """The program's packer; one per process."""
    return Packer(dataflow_of(program))


def route_blobs(
    feed: Feed, columns: dict[str, Vector], extra: dict[str, pa.Array], header: dict[str, Any],
    shards: int,
) -> list[Packed]:  # fmt: skip
    """The blobs of one feed's rows: columns and marks, cut by the feed's route."""
    arrays = {n: v.to_arrow() for n, v in columns.items()} | extra
    batch = pa.RecordBatch.from_pydict(arrays)
    n = batch.num_rows
    if not n:
        return []
    if feed.route.kind == "every":
        blob = encode(header, [batch_bytes(batch)])
        return [Packed(s, blob) for s in range(shards)]
    shard = shards_of(columns, feed.route, n, shards)
    return [
        Packed(s, encode(header, [batch_bytes(batch.take(pa.array(at)))]))
        for s, at in cut(shard, shards)
    ]


def fold(feed: Feed, delta: Delta, zone: str) -> dict[str, Vector]:
    """The partials of a delta, as columns."""
    assert feed.partial is not None
    arena = Arena()
    group = Group(arena, TextTable(arena), feed.partial, zone)
    group.start()
    group.fold(delta, partial=False)
    return group.partials().columns


def reject_blob(rejects: list[Reject]) -> bytes:
    return encode({"rejects": [asdict(r) for r in rejects]})


def failed(r: Reject) -> InputError:
    """The error of a relation whose policy is `fail`."""
    return InputError(
        f"REJECT.{r.reason}",
        f"a change of {r.relation} at {r.segment}:{r.start}+{r.row} was refused: {r.raw}",
        fix="mend the source, or give the relation the policy 'reject' to put such rows aside",
    )


def raw_text(columns: dict[str, Vector], row: int) -> str:
    """A row as short text, for people."""
    one = np.array([row])
    values = {n.split(".")[-1]: python(v.take(one).to_arrow())[0] for n, v in columns.items()}
    return json.dumps(values, default=str, ensure_ascii=False)[:RAW]


def _make(
    feed: Feed, seen: dict[str, Vector], passes: Array | None, n: int, zone: str
) -> dict[str, Vector]:
    """The columns that travel; under a failed filter only the key's values mean anything."""
    made = dict(seen)
    if feed.make:  # of rows that fail, too: what could fail itself is computed behind the gate
        made = {m.name: evaluate(m.value, seen, n, zone=zone) for m in feed.make}
    if passes is not None and not passes.all():
        for name, v in made.items():
            if name not in feed.key and "#" not in name:
                valid = passes if v.valid is None else v.valid & passes
                made[name] = Vector(v.type, v.values, valid, v.pool)
    return made if feed.partial is not None else {c.name: made[c.name] for c in feed.columns}


def _taken(columns: dict[str, Vector], rows: Array) -> dict[str, Vector]:
    return {n: v.take(rows) for n, v in columns.items()}


def _checked(
    changes: Changes, feeds: list[tuple[int, Feed]]
) -> tuple[dict[str, Vector], Marks, list[Reject]]:
    """The columns of a batch without the rows that no feed may see."""
    batch, op = changes.batch, changes.op
    rows = np.arange(len(op)) if changes.rows is None else changes.rows
    marks = Marks(op, rows, changes.order)
    wanted = {c.name: c for _, f in feeds for c in f.scan}
    identity = feeds[0][1].identity
    columns = {n: Vector.from_arrow(batch.column(n), c.type) for n, c in wanted.items()}
    reason = np.zeros(len(op), np.int8)
    updates = op == UPDATE
    if updates.any() and (not identity or feeds[0][1].policy == "trust"):
        reason[updates] = 1
    for n, c in wanted.items():
        valid = columns[n].valid
        if valid is None or (c.nullable and n not in identity):
            continue
        if n in identity:
            reason[~valid] = 2
        else:
            reason[~valid & (op != DELETE) & (reason == 0)] = 3
    bad = np.flatnonzero(reason)
    if not len(bad):
        return columns, marks, []
    names: dict[int, Reason] = {1: "NO_OLD_IMAGE", 2: "NULL_KEY", 3: "NOT_NULL"}
    rejects = [
        Reject(changes.relation, changes.segment, changes.start, int(rows[i]),
               names[int(reason[i])], raw_text(columns, int(i)))
        for i in bad
    ]  # fmt: skip
    good = reason == 0
    return _taken(columns, good), marks.take(good), rejects
