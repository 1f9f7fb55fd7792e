"""A stage of one shard at work: blobs in, blobs out, state in a log and an arena.

    blobs ── decode, sort by position ──▶ arrivals per feed
          ──▶ join (or pass) ──▶ steps ──▶ group ──▶ steps ──▶ net changes
          ──▶ log: new rows, dead ids; compaction      ──▶ route to the next stages, or out

What leaves is a function of the stored content, the blobs and the epoch's number alone. Blobs for
later stages, rejects and statistics pass through.

Not here: where blobs travel (hosts), the arena's token (hosts: `state/arena`, `spark/store`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everview.dataflow.dataflow import Dataflow, Feed, Stage
from everview.dataflow.laps import Laps
from everview.dataflow.pack import (
    OP,
    ORDER,
    PASSES,
    ROW,
    failed,
    fold,
    raw_text,
    reject_blob,
    route_blobs,
)
from everview.delta.changelog import canonical
from everview.delta.changes import Reason, Reject
from everview.delta.consolidate import consolidate
from everview.delta.delta import WEIGHT, Delta
from everview.delta.frame import batch_bytes, batch_of, decode, encode, peek
from everview.delta.vector import Array, Vector, concat
from everview.kernels.join import DUPLICATE_KEY, GOOD, MISSING_ROW
from everview.operators.copy import CopySpec
from everview.operators.group import Group
from everview.operators.join import Arrivals, Join
from everview.operators.row import apply, difference
from everview.state.arena import Arena
from everview.state.log import Log, Store
from everview.state.text import TextTable

GROUPS = "groups"
REJECTS = 0  # the chunk number under which a shard keeps its last rejects; not part of the log
KEPT_REJECTS = 100
_REASONS: dict[int, Reason] = {DUPLICATE_KEY: "DUPLICATE_KEY", MISSING_ROW: "MISSING_ROW"}


WORK = ("changes", "probes", "touched", "turned", "changes_out", "rejects")


@dataclass(slots=True)
class Counts:
    """What a stage holds and did in its last epoch. Counts of shards and stages add up."""

    live: int = 0
    waiting: int = 0
    groups: int = 0
    entries: int = 0
    texts: int = 0
    changes: int = 0
    probes: int = 0
    touched: int = 0
    turned: int = 0
    changes_out: int = 0
    rejects: int = 0
    arena_bytes: int = 0
    log_bytes: int = 0
    log_rows: int = 0

    def __add__(self, other: Counts) -> Counts:
        mine, theirs = asdict(self), asdict(other)
        return Counts(**{k: mine[k] + theirs[k] for k in mine})


@dataclass(slots=True)
class _Arrived:
    """The blobs of one feed, decoded: columns, marks, and where each row stood: in which blob, and
    at which row of that blob's range (`rows` None: it came from a stage)."""

    arrivals: Arrivals
    blobs: Array
    rows: Array | None
    where: list[tuple[str, int]]  # of each blob: segment, start


class StageShard:
    """One stage of a dataflow, one shard of it."""

    def __init__(
        self, dataflow: Dataflow, stage: Stage, shard: int, arena: Arena, store: Store,
        laps: Laps | None = None,
    ) -> None:  # fmt: skip
        self.dataflow, self.stage, self.shard = dataflow, stage, shard
        self.arena, self.store = arena, store
        self.last = stage.number == len(dataflow.stages) - 1
        self.next = [
            (s.number, f) for s in dataflow.stages for f in s.feeds if f.stage == stage.number
        ]
        self.texts, self.zone = TextTable(arena), dataflow.zone
        self.log = Log(store, arena.scalars, stage.number)
        self.join: Join | None = None
        self.group: Group | None = None
        if stage.keeps:
            copies = tuple(
                CopySpec(f.name, f.columns, f.key, f.policy, f.filtered) for f in stage.feeds
            )
            self.join = Join(
                arena, self.texts, copies, stage.edges, stage.assertions, stage.joined, self.zone
            )
        if stage.group is not None:
            self.group = Group(arena, self.texts, stage.group, self.zone)
        self.counts = Counts()
        self.laps = laps or Laps()

    # ------------------------------------------------------------------ state

    def rebuild(self) -> None:
        """Fill the empty arena from the log."""
        content: dict[str, tuple[list[pa.RecordBatch], list[Array]]] = {}
        for table, batch, ids in self.log.load():
            batches, numbers = content.setdefault(table, ([], []))
            batches.append(batch)
            numbers.append(ids)
        if self.group is not None:
            self.group.start()
        if self.join is not None:
            for name in reversed(self.join.order):
                if name in content:
                    batches, numbers = content[name]
                    self.join.load(name, batches, np.concatenate(numbers))
            if self.group is not None:
                self.group.fold(
                    apply(self.stage.before, self.join.content(), self.zone), partial=False
                )
                self.group.end_epoch()
        elif self.group is not None and GROUPS in content:
            batches, numbers = content[GROUPS]
            self.group.load(batches, np.concatenate(numbers))
        self.texts.end_epoch()

    def content(self) -> Delta:
        """All rows of the view in this shard of the last stage, after a rebuild; without state,
        none."""
        if self.group is not None:
            if not (self.stage.group and self.stage.group.keys) and self.shard:
                return Delta.empty(self.dataflow.columns)
            rows, there = self.group.rows()
            return difference(self.stage.after, self.zone, rows, np.zeros_like(there), rows, there)
        if self.join is not None:
            return apply(self.stage.before, self.join.content(), self.zone)
        return Delta.empty(self.dataflow.columns)  # its rows only pass through

    def rest(self) -> None:
        """No epoch of work so far: what is counted of the last one no longer holds."""
        self.counts = replace(self.counts, **dict.fromkeys(WORK, 0))

    # ------------------------------------------------------------------ an epoch

    def epoch(self, number: int, blobs: list[bytes], *, first: bool) -> list[tuple[int, bytes]]:
        """Apply an epoch's blobs; returns (shard, blob) for the next stage, or of the output."""
        self.laps.skip()
        arrived, out = self._decode(blobs)
        self.laps.lap("decode")
        rejects: list[Reject] = []
        if self.join is not None:
            arrivals = {n: a.arrivals for n, a in arrived.items()}
            delta, verdicts, new, dead = self.join.epoch(arrivals)
            for name, verdict in verdicts.items():
                rejects += self._refused(self._feed(name), arrived[name], verdict)
            self.laps.lap("join")
            ids = self.log.append(number, new, dead)
            self.join.logged(ids)
            self.laps.lap("log")
        else:
            delta = self._passed(arrived)
        delta, changed = self._grouped(delta, number, first=first)
        self.laps.lap("group")
        self.log.compact(number, self._tables())
        self.laps.lap("log")
        if self.group is not None:
            self.group.end_epoch()
        self.texts.end_epoch()
        self.laps.lap("group")
        out += self._emit(changed, number)
        self.laps.lap("emit")
        if rejects:
            out.append((self.shard, reject_blob(rejects)))
        self._keep_rejects(out)
        self._count(len(changed), len(rejects))
        stats = {"stats": asdict(self.counts), "stage": self.stage.number, "shard": self.shard}
        out.append((self.shard, encode({**stats, "to": "sink"})))
        return out

    def _grouped(self, delta: Delta, number: int, *, first: bool) -> tuple[Delta, Delta]:
        """The delta after the stage's steps and group, as net changes."""
        if self.group is None or self.stage.group is None:
            return delta, consolidate(apply(self.stage.before, delta, self.zone))
        if not self.stage.group.keys and self.shard:  # the one group lives in the first shard
            return delta, Delta.empty(self.stage.columns)
        # A group without keys lives in the first shard; others only pass blobs on.
        first = first and self.shard == 0
        self.group.start()
        partial = self.stage.feeds[0].partial is not None
        if not partial:
            delta = apply(self.stage.before, delta, self.zone)
        self.group.fold(delta, partial=partial)
        changed = difference(self.stage.after, self.zone, *self.group.changes(first=first))
        if not self.stage.keeps:
            self.laps.lap("group")
            batch, dead = self.group.to_log()
            ids = self.log.append(number, {} if batch is None else {GROUPS: batch}, dead)
            if batch is not None:
                self.group.logged(ids[GROUPS])
            self.laps.lap("log")
        if not self.stage.key:
            changed = consolidate(changed)
        return delta, changed

    def _decode(self, blobs: list[bytes]) -> tuple[dict[str, _Arrived], list[tuple[int, bytes]]]:
        """The blobs of this stage by feed, in source order; and what passes through."""
        mine: dict[str, list[tuple[tuple[Any, ...], pa.RecordBatch]]] = {}
        out: list[tuple[int, bytes]] = []
        for blob in blobs:
            header = peek(blob)
            if header.get("stage") != self.stage.number or header.get("to") == "sink":
                out.append((self.shard, blob))
                continue
            if "feed" not in header:  # only there to wake the stage
                continue
            header, parts = decode(blob)
            batch = batch_of(parts[0])
            row = batch.column(ROW)[0].as_py() if ROW in batch.schema.names else 0
            where = (header["segment"], header["start"], row)
            mine.setdefault(header["feed"], []).append((where, batch))
        return {n: self._arrived(self._feed(n), b) for n, b in sorted(mine.items())}, out

    def _arrived(self, feed: Feed, found: list[tuple[tuple[Any, ...], pa.RecordBatch]]) -> _Arrived:
        found.sort(key=lambda f: f[0])
        batches = [b for _, b in found]
        names = batches[0].schema.names
        columns = {
            c.name: concat([Vector.from_arrow(b.column(c.name), c.type) for b in batches])
            for c in feed.columns
        }
        op = np.concatenate([b.column(OP if OP in names else WEIGHT).to_numpy() for b in batches])
        passes = None
        if feed.filtered:
            passes = np.concatenate([np.asarray(b.column(PASSES)) for b in batches])
        rows = None
        if ROW in names:
            rows = np.concatenate([b.column(ROW).to_numpy() for b in batches])
        blobs = np.repeat(np.arange(len(batches)), [b.num_rows for b in batches])
        if ORDER in names:
            order = pc.sort_indices(pa.chunked_array([b.column(ORDER) for b in batches])).to_numpy()
            columns = {n: v.take(order) for n, v in columns.items()}
            op, passes = op[order], None if passes is None else passes[order]
            rows, blobs = None if rows is None else rows[order], blobs[order]
        if ROW not in names and feed.key:  # from a stage: what leaves comes before what enters
            order = np.argsort(op > 0, kind="stable")
            columns = {n: v.take(order) for n, v in columns.items()}
            op, blobs = op[order].astype(np.int8), blobs[order]
        where = [(w[0], w[1]) for w, _ in found]
        return _Arrived(Arrivals(columns, op, passes), blobs, rows, where)

    def _passed(self, arrived: dict[str, _Arrived]) -> Delta:
        """The rows of a stage that keeps none, as a delta."""
        feed = self.stage.feeds[0]
        if feed.name not in arrived:
            return Delta.empty(feed.columns)
        a = arrived[feed.name].arrivals
        return Delta(a.columns, a.op.astype(np.int64))

    def _emit(self, changed: Delta, number: int) -> list[tuple[int, bytes]]:
        if self.last:
            if not len(changed):
                return []
            changed = canonical(changed, self.dataflow.key)
            return [(self.shard, encode({"changes": number}, [batch_bytes(changed.to_arrow())]))]
        out = []
        for stage, feed in self.next:
            header = {"stage": stage, "feed": feed.name, "segment": f"{self.shard:06d}", "start": 0}
            if feed.partial is not None:
                columns = fold(feed, changed, self.zone)
                weight = np.ones(len(columns["#0"]), np.int64)
            else:
                columns = {c.name: changed.columns[c.name] for c in feed.columns}
                weight = changed.weight
            extra = {WEIGHT: pa.array(weight)}
            packed = route_blobs(feed, columns, extra, header, self.dataflow.shards)
            out += [(p.shard, p.blob) for p in packed]
        return out

    # ------------------------------------------------------------------ rejects and counts

    def _refused(self, feed: Feed, arrived: _Arrived, verdict: Array) -> list[Reject]:
        bad = np.flatnonzero(verdict != GOOD)
        if not len(bad):
            return []
        found = []
        for i in bad:
            segment, start = arrived.where[int(arrived.blobs[i])]
            row = int(arrived.rows[i]) if arrived.rows is not None else int(i)
            reason = _REASONS[int(verdict[i])]
            raw = raw_text(arrived.arrivals.columns, int(i))
            found.append(Reject(feed.relation or feed.name, segment, start, row, reason, raw))
        if feed.policy == "fail":
            raise failed(found[0])
        reporter = feed.reports and (feed.route.kind != "every" or self.shard == 0)
        return found if reporter else []

    def _keep_rejects(self, out: list[tuple[int, bytes]]) -> None:
        """The last stage keeps how many rows were refused, why, and the last of them."""
        if not self.last:
            return
        new = [r for _, blob in out for r in peek(blob).get("rejects", ())]
        if not new:
            return
        new.sort(key=lambda r: (r["segment"], r["start"], r["row"], r["relation"]))
        kept: dict[str, Any] = {"counts": {}, "last": []}
        if self.store.has(REJECTS):
            kept = decode(self.store.get(REJECTS))[0]["kept"]
        for r in new:
            name = f"{r['relation']}:{r['reason']}"
            kept["counts"][name] = kept["counts"].get(name, 0) + 1
        kept["last"] = (kept["last"] + new)[-KEPT_REJECTS:]
        self.store.put(REJECTS, encode({"kept": kept}))

    def _count(self, changes_out: int, rejects: int) -> None:
        c = Counts(changes_out=changes_out if self.last else 0, rejects=rejects)
        if self.join is not None:
            for table in self.join.rows.values():
                c.entries += table.index.used
                c.live += table.live
                c.waiting += table.used - table.live
            work = self.join.work
            c.changes, c.probes = work.changes, work.probes
            c.touched, c.turned = work.touched, work.turned
        if self.group is not None:
            c.groups = self.group.used if self.stage.group and self.stage.group.keys else 0
        c.texts, c.arena_bytes = self.texts.used, self.arena.bytes
        c.log_bytes, c.log_rows = self.log.bytes, self.log.rows
        self.counts = c

    def _tables(self) -> dict[str, Any]:
        if self.join is not None:
            return dict(self.join.rows)
        return {GROUPS: self.group} if self.group is not None else {}

    def _feed(self, name: str) -> Feed:
        return next(f for f in self.stage.feeds if f.name == name)
