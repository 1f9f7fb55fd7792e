"""The in-process host: the same dataflow without Spark, for tests and for trying things out.

    epoch(changes) ── pack ──▶ stage 0, every shard ──▶ stage 1 ... ──▶ net changes, rejects, counts

Durable chunks are dictionaries; arenas are in memory, or files under `scratch`. `restart` forgets
the arenas, so the next epoch rebuilds them from the logs, as after a crash.

Not here: Spark (spark/host); committing, retries.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from everview.dataflow.dataflow import Dataflow
from everview.dataflow.pack import Packed, Packer
from everview.dataflow.stage import Counts, StageShard
from everview.delta.changes import Changes, Reject
from everview.delta.consolidate import consolidate
from everview.delta.delta import Delta, merge
from everview.delta.frame import batch_of, decode, encode
from everview.state.arena import Arena


class Chunks:
    """A dictionary as a Store."""

    def __init__(self) -> None:
        self.blobs: dict[int, bytes] = {}

    def numbers(self) -> list[int]:
        return list(self.blobs)

    def has(self, number: int) -> bool:
        return number in self.blobs

    def get(self, number: int) -> bytes:
        return self.blobs[number]

    def put(self, number: int, blob: bytes) -> None:
        self.blobs[number] = blob

    def remove(self, number: int) -> None:
        del self.blobs[number]


@dataclass(slots=True)
class Epoch:
    """What an epoch gave: the view's net change, and the rows that were refused."""

    number: int
    changes: Delta
    rejects: list[Reject] = field(default_factory=list)


class LocalHost:
    """Runs a dataflow in this process, epoch by epoch."""

    def __init__(self, dataflow: Dataflow, scratch: Path | None = None) -> None:
        self.dataflow, self.scratch = dataflow, scratch
        self.packer = Packer(dataflow)
        self.number = 0
        self.stores: dict[tuple[int, int], Chunks] = {}
        self.shards: dict[tuple[int, int], StageShard] = {}

    def epoch(self, changes: Iterable[Changes]) -> Epoch:
        """Apply one epoch of changes, given in source order."""
        number, self.number = self.number, self.number + 1
        for run in self.shards.values():
            run.rest()
        blobs = [p for c in changes for p in self.packer.pack(c)]
        for stage in self.dataflow.stages:
            if number == 0 and stage.group is not None and not stage.group.keys:
                blobs.append(Packed(0, encode({"stage": stage.number})))
        for stage in self.dataflow.stages:
            by_shard: dict[int, list[bytes]] = {}
            for p in blobs:
                by_shard.setdefault(p.shard, []).append(p.blob)
            blobs = []
            for shard, mine in sorted(by_shard.items()):
                run, first = self._shard(stage.number, shard)
                blobs += [Packed(*o) for o in run.epoch(number, mine, first=first)]
        return self._epoch(number, blobs)

    def restart(self) -> None:
        """Forget every arena."""
        self.shards = {}

    def counts(self) -> Counts:
        """Over all stages and shards; work (probes, touched, ...) of the last epoch."""
        return sum((s.counts for s in self.shards.values()), Counts())

    def _shard(self, stage: int, shard: int) -> tuple[StageShard, bool]:
        at = (stage, shard)
        first = at not in self.stores
        if at not in self.shards:
            folder = None
            if self.scratch is not None:
                folder = self.scratch / f"{stage}-{shard}-{self.number}"
            store = self.stores.setdefault(at, Chunks())
            spec = self.dataflow.stages[stage]
            run = StageShard(self.dataflow, spec, shard, Arena(folder), store)
            run.rebuild()
            self.shards[at] = run
        return self.shards[at], first

    def _epoch(self, number: int, blobs: list[Packed]) -> Epoch:
        deltas, rejects = [Delta.empty(self.dataflow.columns)], []
        for p in blobs:
            header, parts = decode(p.blob)
            if "changes" in header:
                deltas.append(Delta.from_arrow(batch_of(parts[0]), self.dataflow.columns))
            rejects += [Reject(**r) for r in header.get("rejects", ())]
        changes = consolidate(merge(deltas))
        changes.weight = changes.weight.astype(np.int64)
        return Epoch(number, changes, rejects)
