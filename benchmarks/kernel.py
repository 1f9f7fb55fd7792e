"""How fast is the join itself: updates per second of one core, without decoding, without Spark.

The join of TPC-H Q3 holds a sliding window at scale 0.1. Its arrivals are prepared beforehand:
read, filtered, packed and decoded. Then, epoch by epoch:

    operator   Join.epoch: arrivals in; joined changes, and the rows to log, out
    kernels    the compiled loops inside it (admit, link, lower, lift, ...) and nothing else

An update is a change that arrives at the join. Times are CPU seconds of the one thread, so other
work on the machine does not count; the median of the epochs after warm-up.

Not here: what reading, packing and Spark cost (end_to_end).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import thread_time
from typing import Any

from fifo import Epoch, Fifo
from workload import changes_of, dataflow, tables

from everview.dataflow.dataflow import Dataflow
from everview.dataflow.local import Chunks
from everview.dataflow.pack import Packer
from everview.dataflow.stage import StageShard
from everview.kernels import index as index_kernels
from everview.kernels import join as join_kernels
from everview.kernels import text as text_kernels
from everview.operators import join as join_operator
from everview.state.arena import Arena
from everview.state.log import Log
from everview.state.rows import Layout

SCALE, ARRIVALS = 0.1, 100_000
TARGET = 3_000_000  # updates/s of the kernels on one core
STEPS = {
    (Layout, "words"): "words",
    (join_operator.Join, "_admit"): "admit",
    (join_operator.Join, "_remove"): "remove",
    (join_operator.Join, "_add"): "add, link",
    (join_operator.Join, "_emit"): "gather",
    (join_operator.Join, "_logged"): "rows to log",
    (join_operator.Join, "_finish"): "finish",
    (Log, "append"): "log encode",
}
KERNELS = {
    join_kernels: (
        "admit", "admit_counted", "link", "unlink", "lower", "lift", "take_slots", "give_slots",
        "stored", "place",
    ),
    index_kernels: ("add_all", "find_all", "refill"),
    text_kernels: ("intern", "use", "release", "gather"),
    join_operator: ("drop_unused",),
}  # fmt: skip


class Watch:
    """CPU seconds by step, each without the steps inside it; and of the kernels in each step."""

    def __init__(self) -> None:
        self.steps: Counter[str] = Counter()
        self.kernels: Counter[str] = Counter()
        self._stack: list[str] = []
        self._at = thread_time()

    def turn(self, to: str | None) -> None:
        """Charge the time so far to the running step; enter a step, or return to the outer one."""
        now = thread_time()
        if self._stack:
            self.steps[self._stack[-1]] += now - self._at
        self._at = now
        if to is None:
            self._stack.pop()
        else:
            self._stack.append(to)

    def step(self, label: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            self.turn(label)
            try:
                return call(*args, **kwargs)
            finally:
                self.turn(None)

        return timed

    def kernel(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any) -> Any:
            begun = thread_time()
            out = call(*args)
            if self._stack:
                self.kernels[self._stack[-1]] += thread_time() - begun
            return out

        return timed


@contextmanager
def watching() -> Iterator[Watch]:
    """The steps and kernels of the join timed, until the end of the block."""
    watch, kept = Watch(), []
    for (owner, name), label in STEPS.items():
        kept.append((owner, name, getattr(owner, name)))
        setattr(owner, name, watch.step(label, getattr(owner, name)))
    for module, names in KERNELS.items():
        for name in names:
            kept.append((module, name, getattr(module, name)))
            setattr(module, name, watch.kernel(getattr(module, name)))
    try:
        yield watch
    finally:
        for owner, name, original in kept:
            setattr(owner, name, original)


class Prepared:
    """One shard of the query's join stage, and its arrivals made ready outside the measurement."""

    def __init__(self, flow: Dataflow) -> None:
        stage = next(s for s in flow.stages if s.keeps)
        self.packer, self.wanted = Packer(flow), flow.relations()
        self.shard = StageShard(flow, stage, 0, Arena(), Chunks())
        if self.shard.join is None:
            raise SystemExit("this query has no join")
        self.join, self.log, self.number = self.shard.join, self.shard.log, 0

    def arrivals(self, epoch: Epoch) -> dict[str, Any]:
        blobs = [p.blob for c in changes_of(epoch, self.wanted) for p in self.packer.pack(c)]
        arrived, _ = self.shard._decode(blobs)
        return {name: a.arrivals for name, a in arrived.items()}

    def apply(self, arrivals: dict[str, Any]) -> tuple[float, float]:
        """CPU seconds of the operator, and of logging what it kept."""
        begun = thread_time()
        _, _, new, dead = self.join.epoch(arrivals)
        joined = thread_time()
        self.join.logged(self.log.append(self.number, new, dead))
        logged = thread_time()
        self.log.compact(self.number, dict(self.join.rows))
        self.shard.texts.end_epoch()
        self.number += 1
        return joined - begun, logged - joined


def measure(data: Path, query: str = "q3", epochs: int = 12, warm: int = 3) -> dict[str, Any]:
    """Rates of operator and kernels, and the time by step, per epoch of about ARRIVALS updates."""
    prepared = Prepared(dataflow(query, shards=1))
    stream = Fifo(tables(data, SCALE), tuple(prepared.wanted))
    for epoch in stream.fill():
        prepared.apply(prepared.arrivals(epoch))
    sample = stream.epoch(0, 1000)
    passed = sum(len(a.op) for a in prepared.arrivals(sample).values()) / sample.changes
    orders = min(stream.orders_for(int(ARRIVALS / passed)), stream.window)
    ready = (prepared.arrivals(stream.epoch(n, orders)) for n in range(warm + 2 * epochs))
    for _ in range(warm):
        prepared.apply(next(ready))
    plain, counted = [], 0
    for _ in range(epochs):
        arrivals = next(ready)
        counted = sum(len(a.op) for a in arrivals.values())
        plain.append((counted, *prepared.apply(arrivals)))
    with watching() as watch:
        rates = []
        for _ in range(epochs):
            arrivals = next(ready)
            before = watch.kernels.total()
            prepared.apply(arrivals)
            rates.append(_length(arrivals) / (watch.kernels.total() - before))
    held = {n: t.used for n, t in prepared.join.rows.items()}
    return {
        "query": query, "scale": SCALE, "arrivals_per_epoch": counted, "rows_held": held,
        "epochs": epochs, "policy": "trust",
        "operator_updates_per_s": round(median(n / joined for n, joined, _ in plain)),
        "operator_and_log_updates_per_s": round(median(n / (a + b) for n, a, b in plain)),
        "kernel_updates_per_s": round(median(rates)), "kernel_target": TARGET,
        "ms_per_epoch": {
            s: {
                "all": round(1000 * watch.steps[s] / epochs, 2),
                "kernels": round(1000 * watch.kernels[s] / epochs, 2),
            }
            for s in STEPS.values()
        },
    }  # fmt: skip


def _length(arrivals: dict[str, Any]) -> int:
    return sum(len(a.op) for a in arrivals.values())


def show(f: dict[str, Any]) -> None:
    print(
        f"  {f['query']} at scale {f['scale']:g}, policy {f['policy']}, "
        f"rows held {f['rows_held']}, {f['arrivals_per_epoch']:,} updates an epoch, one core"
    )
    print(f"  kernels       {f['kernel_updates_per_s']:>10,} updates/s (target {TARGET:,})")
    print(f"  operator      {f['operator_updates_per_s']:>10,} updates/s")
    print(f"  with the log  {f['operator_and_log_updates_per_s']:>10,} updates/s")
    print("  ms an epoch       all   kernels")
    for step, ms in f["ms_per_epoch"].items():
        print(f"    {step:<12} {ms['all']:>7.2f} {ms['kernels']:>9.2f}")
