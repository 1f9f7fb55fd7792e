"""The foreign-key join: changes of the copies in, changes of the joined rows out.

Per copy of a relation (see kernels/join for the arrays):

    index: key ─▶ entry ─▶ row slot        words[slot]  payload        marks[slot]  support, live
                       └▶ list of the rows of the copy above that reference the key

An epoch, whatever the order in which its changes came:
 1. admit: per key the net effect of its changes (policies; equal old and new rows are dropped)
 2. remove old rows, root first: a live row that goes takes its referencing rows along, up to the
    root, whose joined rows leave with weight -1
 3. add new rows, leaves first: a row whose edges all lead to live rows, that passes its filter and
    its assertions, is live, and lifts the rows that reference it; at the root weight +1 comes out
So each root row leaves at most once and enters at most once, and the work is one probe per change
and edge plus the rows whose support changes. Emission notes the *slots* of a joined row's parts;
slots freed in an epoch are reused only in the next, so payload can be gathered at the end.

Not here: where the rows of a copy are (operators/copy), which shard a change belongs to
(dataflow/pack), durability (state/log), grouping.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from everview.delta.delta import Delta
from everview.delta.evaluate import matches
from everview.delta.vector import Array, Vector
from everview.expr import Expr, conjunction, refs
from everview.kernels import join as kernel
from everview.kernels.index import drop_unused
from everview.operators.copy import CopySpec, RowTable
from everview.plan.node import Assertion, Edge
from everview.state.arena import Arena
from everview.state.text import TextTable

_POLICY = {
    "reject": kernel.STRICT, "fail": kernel.STRICT, "upsert": kernel.UPSERT, "trust": kernel.TRUST,
}  # fmt: skip
PASSES, COUNT = "#passes", "#count"


@dataclass(slots=True)
class Arrivals:
    """An epoch's changes of one copy, in source order. `op`: +1, -1, +2 (or weights if no key)."""

    columns: dict[str, Vector]
    op: Array
    passes: Array | None = None


@dataclass(slots=True)
class Work:
    """What an epoch did, counted."""

    changes: int = 0
    probes: int = 0
    touched: int = 0
    turned: int = 0


@dataclass(slots=True)
class _Step:
    """The net effect of an epoch on one copy, between admission and the walks."""

    removed: Array  # slots
    added: Array  # change indices
    homes: Array  # entry per added row
    counts: Array  # multiplicity per added row
    words: Array
    arrivals: Arrivals
    entries: Array  # entries that may be left without use
    keyed: bool


@dataclass(slots=True)
class Joined:
    """Joined rows: per copy the slot of its part, and the weight."""

    slots: dict[str, Array]
    weight: Array


class Join:
    """The join of one stage and shard. `outputs`: the columns that leave."""

    def __init__(
        self, arena: Arena, texts: TextTable, copies: tuple[CopySpec, ...],
        edges: tuple[Edge, ...], assertions: tuple[Assertion, ...], outputs: tuple[str, ...],
        zone: str,
    ) -> None:  # fmt: skip
        self.texts, self.assertions, self.outputs = texts, assertions, outputs
        self.zone = zone
        self.order = _root_first(copies, edges)
        self.below = {c.name: [e for e in edges if e.many == c.name] for c in copies}
        self.above = {e.one: (e, self.below[e.many].index(e)) for e in edges}
        self.rows = {c.name: RowTable(arena, texts, c, len(self.below[c.name])) for c in copies}
        self.root = self.order[0]
        self.home = {c.name: s.name for s in copies for c in s.columns}
        self.work = Work()
        self._out: list[Joined] = []

    # ------------------------------------------------------------------ an epoch

    def epoch(
        self, arrivals: Mapping[str, Arrivals]
    ) -> tuple[Delta, dict[str, Array], dict[str, pa.RecordBatch], Array]:
        """Apply an epoch. Returns the joined changes, per copy a verdict for each of its changes
        (kernels/join), per copy the new rows to log, and the ids of logged rows that are gone."""
        self.work, self._out = Work(), []
        verdicts: dict[str, Array] = {}
        steps: dict[str, _Step] = {}
        for name, a in arrivals.items():
            steps[name], verdicts[name] = self._admit(name, a)
        dead = [np.zeros(0, np.int64)]
        for name in self.order:
            if name in steps:
                dead.append(self._remove(name, steps[name].removed))
        new: dict[str, pa.RecordBatch] = {}
        placed: dict[str, Array] = {}
        for name in reversed(self.order):
            if name in steps and len(steps[name].added):
                placed[name] = self._add(name, steps[name])
                new[name] = self._logged(steps[name])
        delta = self._emit()
        self._finish(steps)
        self._placed = placed
        return delta, verdicts, new, np.concatenate(dead)

    def logged(self, ids: Mapping[str, Array]) -> None:
        """The ids the log gave to the epoch's new rows."""
        for name, given in ids.items():
            self.rows[name].ids[self._placed[name]] = given

    def load(self, name: str, batches: list[pa.RecordBatch], ids: Array) -> None:
        """Put rows read back from the log into the (empty) table of a copy; leaves come first."""
        batch = pa.concat_batches(batches)
        table = self.rows[name]
        columns = {
            c.name: Vector.from_arrow(batch.column(c.name), c.type) for c in table.spec.columns
        }
        n = batch.num_rows
        passes = np.asarray(batch.column(PASSES)) if table.spec.filtered else None
        counts = np.ones(n, np.int64) if table.spec.key else batch.column(COUNT).to_numpy()
        words = table.layout.words(columns, self.texts, n)
        arrivals = Arrivals(columns, np.ones(n, np.int8), passes)
        none = np.zeros(0, np.int32)
        homes = table.index.entries(table.key.of(words))
        step = _Step(none, np.arange(n), homes, counts, words, arrivals, none, True)
        self._out = []
        slots = self._add(name, step)
        table.ids[slots] = ids
        self._out = []

    def content(self) -> Delta:
        """All joined rows."""
        self._out = []
        marks = self.rows[self.root].marks
        live = np.flatnonzero(marks[:, kernel.FLAGS] & kernel.LIVE).astype(np.int32)
        self._note(live, 1)
        delta = self._emit()
        self._out = []
        return delta

    # ------------------------------------------------------------------ 1. admission

    def _admit(self, name: str, a: Arrivals) -> tuple[_Step, Array]:
        table, n = self.rows[name], len(a.op)
        self.work.changes += n
        self.work.probes += n
        words = table.layout.words(a.columns, self.texts, n)
        keys = table.key.of(words)
        table.index.room(n)
        ix = table.index.ix
        mark = np.zeros(len(ix.row), np.int32)
        touched, now = np.zeros(n, np.int32), np.zeros(n, np.int64)
        verdict = np.zeros(n, np.int8)
        if not table.spec.key:
            return self._admit_counted(table, a, words, keys, (mark, touched, now, verdict))
        policy = _POLICY[table.spec.policy]
        k = kernel.admit(ix, keys, a.op, policy, mark, touched, now, verdict)
        touched, now = touched[:k], now[:k]
        old = ix.row[touched]
        added = now >= 0
        both = added & (old != 0)
        if both.any():
            same = np.zeros(int(both.sum()), np.bool_)
            kernel.stored(table.words, old[both], words, now[both], same)
            if a.passes is not None:
                was = (table.marks[old[both], kernel.FLAGS] & kernel.PASS) != 0
                same &= was == a.passes[now[both]]
            at = np.flatnonzero(both)[same]
            now[at] = kernel.UNCHANGED
            added[at] = False
        removed = old[(now != kernel.UNCHANGED) & (old != 0)]
        indices = now[added]
        counts = np.ones(len(indices), np.int64)
        homes = touched[added]
        return _Step(removed, indices, homes, counts, words, a, touched, True), verdict

    def _admit_counted(
        self, table: RowTable, a: Arrivals, words: Array, keys: Array,
        scratch: tuple[Array, Array, Array, Array],
    ) -> tuple[_Step, Array]:  # fmt: skip
        mark, touched, now, verdict = scratch
        first = np.zeros(len(a.op), np.int64)
        weight = a.op.astype(np.int64)
        strict = True
        k = kernel.admit_counted(
            table.index.ix, keys, weight, table.counts, strict, mark, touched, now, first, verdict
        )
        touched, now, first = touched[:k], now[:k], first[:k]
        old = table.index.ix.row[touched]
        was = np.where(old != 0, table.counts[old], 0)
        changed = was != now
        removed = old[changed & (was != 0)]
        added = changed & (now != 0)
        homes, counts = touched[added], now[added]
        return _Step(removed, first[added], homes, counts, words, a, touched, False), verdict

    # ------------------------------------------------------------------ 2. removal

    def _remove(self, name: str, slots: Array) -> Array:
        """Rows leave a copy; returns their log ids."""
        table = self.rows[name]
        if not len(slots):
            return np.zeros(0, np.int64)
        live = (table.marks[slots, kernel.FLAGS] & kernel.LIVE) != 0
        table.marks[slots, kernel.FLAGS] &= ~kernel.LIVE
        self._died(name, slots[live])
        for at, edge in enumerate(self.below[name]):
            kernel.unlink(table.links, at, slots, self.rows[edge.one].index.ix)
        table.index.ix.row[table.marks[slots, kernel.ENTRY]] = 0
        for at in table.layout.text:
            self.texts.use(table.words[slots, at], -1)
        table.freed.append(slots)
        return table.ids[slots]

    def _died(self, name: str, slots: Array) -> None:
        """Live rows stopped being live: what references them waits; root rows leave the answer."""
        while len(slots):
            self.work.turned += len(slots)
            self.rows[name].counters[3] -= len(slots)
            if name == self.root:
                self._note(slots, -1)
                return
            edge, at = self.above[name]
            ix = self.rows[name].index.ix
            entries = self.rows[name].marks[slots, kernel.ENTRY]
            table = self.rows[edge.many]
            out = np.zeros(int(ix.count[entries].sum()), np.int32)
            n = kernel.lower(table.links, table.marks, at, entries, ix.head, out)
            self.work.touched += len(out)
            name, slots = edge.many, out[:n]

    # ------------------------------------------------------------------ 3. addition

    def _add(self, name: str, step: _Step) -> Array:
        """Rows enter a copy; returns their slots."""
        table, at_changes = self.rows[name], step.added
        slots = table.take(len(at_changes))
        entries = step.homes
        table.index.ix.row[entries] = slots
        kernel.place(table.words, slots, step.words, at_changes)
        table.marks[slots, kernel.ENTRY] = entries
        table.marks[slots, kernel.SUPPORT] = 0
        if not table.spec.key:
            table.counts[slots] = step.counts
        passes = step.arrivals.passes
        flags = kernel.PASS if passes is None else np.where(passes[at_changes], kernel.PASS, 0)
        table.marks[slots, kernel.FLAGS] = flags
        for at in table.layout.text:
            self.texts.use(table.words[slots, at], 1)
        for at, edge in enumerate(self.below[name]):
            self._link(table, at, edge, slots)
        ready = table.marks[slots, kernel.SUPPORT] == table.edges
        ready &= (table.marks[slots, kernel.FLAGS] & kernel.PASS) != 0
        self._rose(name, slots[ready])
        return slots

    def _link(self, table: RowTable, at: int, edge: Edge, slots: Array) -> None:
        self.work.probes += len(slots)
        one = self.rows[edge.one]
        one.index.room(len(slots))
        at_words = table.layout.columns_at(edge.columns)
        keys = one.key.of_values(table.words[slots[:, None], at_words[None, :]])
        given = np.ones(len(slots), np.bool_)
        for column in edge.columns:
            valid = table.layout.valid(table.words, column, slots)
            if valid is not None:
                given &= valid
        kernel.link(table.links, table.marks, at, slots, one.index.ix, keys, given, one.marks)

    def _rose(self, name: str, slots: Array) -> None:
        """Candidates become live if asserted: they lift what references them; root rows enter."""
        while len(slots):
            slots = self._asserted(name, slots)
            self.rows[name].marks[slots, kernel.FLAGS] |= kernel.LIVE
            self.rows[name].counters[3] += len(slots)
            self.work.turned += len(slots)
            if name == self.root:
                self._note(slots, 1)
                return
            edge, at = self.above[name]
            ix = self.rows[name].index.ix
            entries = self.rows[name].marks[slots, kernel.ENTRY]
            table = self.rows[edge.many]
            out = np.zeros(int(ix.count[entries].sum()), np.int32)
            n = kernel.lift(table.links, table.marks, at, entries, ix.head, table.edges, out)
            self.work.touched += len(out)
            name, slots = edge.many, out[:n]

    def _asserted(self, name: str, slots: Array) -> Array:
        predicates = tuple(a.predicate for a in self.assertions if a.copy == name)
        if not predicates or not len(slots):
            return slots
        predicate: Expr = conjunction(predicates)
        parts = self._parts(name, slots)
        needed = {r.name for r in refs(predicate)}
        columns = {n: self._gather(n, parts) for n in sorted(needed)}
        return slots[matches(predicate, columns, len(slots), zone=self.zone)]

    # ------------------------------------------------------------------ emission

    def _note(self, slots: Array, sign: int) -> None:
        if not len(slots):
            return
        parts = self._parts(self.root, slots) if sign < 0 else {self.root: slots}
        weight = sign * self.rows[self.root].times(slots)
        self._out.append(Joined(parts, weight))

    def _parts(self, name: str, slots: Array) -> dict[str, Array]:
        """The slots of the rows below rows of a copy, along the edges."""
        parts = {name: slots}
        for copy in self.order:
            if copy in parts:
                for at, edge in enumerate(self.below[copy]):
                    entries = self.rows[copy].links[parts[copy], 3 * at]
                    parts[edge.one] = self.rows[edge.one].index.ix.row[entries]
        return parts

    def _gather(self, column: str, parts: dict[str, Array]) -> Vector:
        name = self.home[column]
        table = self.rows[name]
        return table.layout.vector(table.words, column, self.texts, parts[name])

    def _emit(self) -> Delta:
        """Joined changes of the epoch, those that leave first."""
        out = sorted(self._out, key=lambda j: bool(j.weight[0] > 0))
        for j in out:
            if j.slots.keys() != self.rows.keys():
                j.slots = self._parts(self.root, j.slots[self.root])
        merged = {
            n: np.concatenate([j.slots[n] for j in out] or [np.zeros(0, np.int32)])
            for n in self.rows
        }
        weight = np.concatenate([j.weight for j in out] or [np.zeros(0, np.int64)])
        return Delta({n: self._gather(n, merged) for n in self.outputs}, weight)

    def _logged(self, step: _Step) -> pa.RecordBatch:
        at = step.added
        arrays = {n: v.take(at).to_arrow() for n, v in step.arrivals.columns.items()}
        if step.arrivals.passes is not None:
            arrays[PASSES] = pa.array(step.arrivals.passes[at])
        if not step.keyed:
            arrays[COUNT] = pa.array(step.counts)
        return pa.RecordBatch.from_pydict(arrays)

    def _finish(self, steps: Mapping[str, _Step]) -> None:
        """Free entries without use, and give back slots."""
        for name, step in steps.items():
            drop_unused(self.rows[name].index.ix, step.entries)
            for at, edge in enumerate(self.below[name]):
                entries = self.rows[name].links[step.removed, 3 * at]
                drop_unused(self.rows[edge.one].index.ix, entries[entries != 0])
        for table in self.rows.values():
            table.end_epoch()


def _root_first(copies: tuple[CopySpec, ...], edges: tuple[Edge, ...]) -> list[str]:
    """Copy names so that every copy comes before those it references."""
    order = [copies[0].name]
    for name in order:
        order.extend(e.one for e in edges if e.many == name)
    return order
