"""End to end on Spark: how many changes a second, how fresh, and where an epoch's time goes.

    Parquet files of changes ─ source ─ pack ─ shuffle ─ stages, durable ─ Parquet changelog

A window of half the orders (fifo) is filled first. Then it slides: the files of the next epoch are
put in place while an epoch runs, so Spark never waits for them and an epoch is exactly so many
changes.
After two epochs of warm-up the next ones are measured; then the changelog is summed up and compared
with DuckDB over the rows that are in the window.

    updates/s    changes of the measured epochs / the time from the end of warm-up to their end
    freshness    median time of an epoch: from looking for changes to changes and state committed

Not here: the join alone (kernel), other systems (peers).
"""

from __future__ import annotations

import os
import pipes
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from threading import Event, Thread
from typing import Any

import psutil
from fifo import Fifo, write
from workload import POLICY, dataflow, placement, tables

import everview
from everview.schema import Relation
from everview.verify.query import connect
from everview.workloads import tpch

WARM = 2
SPARK_PARTS = (
    "latestOffset",
    "getBatch",
    "walCommit",
    "queryPlanning",
    "addBatch",
    "commitOffsets",
)
OUR_PARTS = (
    "scan", "pack", "receive", "take", "rebuild", "decode", "join", "group", "log", "emit", "leave",
    "sink",
)  # fmt: skip


class Memory:
    """Samples the resident memory and the CPU seconds of this process and all below it."""

    def __init__(self, every: float = 0.25) -> None:
        self.every, self.peak, self._end = every, 0, Event()
        self.me = psutil.Process()
        self._thread = Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._end.wait(self.every):
            self.peak = max(self.peak, sum(self._each("memory_info", "rss")))

    def cpu(self) -> float:
        """CPU seconds so far, also of processes that have ended."""
        names = ("user", "system", "children_user", "children_system")
        return sum(sum(self._each("cpu_times", n)) for n in names)

    def _each(self, what: str, name: str) -> Iterator[float]:
        for p in [self.me, *self.me.children(recursive=True)]:
            try:
                yield getattr(getattr(p, what)(), name)
            except psutil.Error:
                continue

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()


@dataclass
class Feeder:
    """Puts the files of one epoch after the other into place, each while the one before it runs."""

    staged: Path
    live: Path
    epochs: list[int]
    cpu: Any
    begun: dict[int, float] = field(default_factory=dict)  # Spark's epoch -> when its sink began
    cpu_at: dict[int, float] = field(default_factory=dict)

    def place(self) -> None:
        if not self.epochs:
            return
        name = f"{self.epochs.pop(0):06d}.parquet"
        for folder in sorted(self.staged.iterdir()):
            if (folder / name).exists():
                os.link(folder / name, self.live / folder.name / name)

    def follow(self, run: Any) -> None:
        """From now on every epoch that reaches the sink brings the next files into place."""
        plain = run.sink.write

        def write_and_place(blobs: Any, epoch: int) -> Any:
            self.place()
            outcome = plain(blobs, epoch)
            self.begun[epoch], self.cpu_at[epoch] = time.monotonic(), self.cpu()
            return outcome

        run.sink.write = write_and_place


def stage(data: Path, query: str, scale: float, size: int, epochs: int) -> tuple[Fifo, int, Path]:
    """The files of fill (0, 1, ...) and epochs (1000, 1001, ...), kept for the next time."""
    wanted = tuple(dataflow(query, 1).relations())
    stream = Fifo(tables(data, scale), wanted)
    orders = stream.orders_for(size)
    names = "-".join(sorted(w[:2] for w in wanted))
    folder = data / f"fifo-{scale:g}-{size}-{names}"
    fill = folder / "fill"
    if not (folder / "filled").exists():
        for number, epoch in enumerate(stream.fill()):
            write(epoch, fill, number)
        (folder / "filled").touch()
    for number in range(epochs):
        done = folder / f"done-{number}"
        if not done.exists():
            epoch = stream.epoch(number, orders)
            write(epoch, folder / "epochs", 1000 + number)
            done.write_text(str(epoch.changes))
    return stream, orders, folder


def declared(relation: Relation, live: Path) -> str:
    """CREATE TABLE of a relation, fed from its folder."""
    columns = ", ".join(
        f"{c.name} {c.type}{'' if c.nullable else ' NOT NULL'}" for c in relation.columns
    )
    options = {
        "connector": "parquet", "path": str(live / relation.name), "change_column": "op",
        "placement": placement(relation.name), "policy": POLICY,
    }  # fmt: skip
    given = ", ".join(f"{k} = '{v}'" for k, v in options.items())
    return f"CREATE TABLE {relation.name} ({columns}, PRIMARY KEY ({', '.join(relation.key)}))" + (
        f" WITH ({given});\n"
    )


@contextmanager
def started(folder: Path, work: Path, query: str, size: int, **settings: Any) -> Iterator[Any]:
    """The view over the filled folders, with its window full; nothing slides yet."""
    live = _filled(folder, work, query)
    relations = {r.name: r for r in tpch.schema().relations}
    db = everview.connect(epoch_limit=max(1_000_000, 4 * size), **settings)
    with db:
        db.execute("".join(declared(relations[f.name], f.parent) for f in sorted(live.iterdir())))
        view = db.view(query, tpch.query(query))
        run = view.start(f"parquet:{work / 'changelog'}", checkpoint=work / "checkpoint")
        run.process_available()
        yield run


@contextmanager
def spark_alone(folder: Path, work: Path, query: str) -> Iterator[Any]:
    """The same for Spark's own pipe."""
    live = _filled(folder, work, query)
    with everview.connect() as db:
        run = pipes.SparkPipe(db.spark, live, db.config.partitions)
        run.process_available()
        yield run
        run.query.stop()


def _filled(folder: Path, work: Path, query: str) -> Path:
    """The folders that the query reads, with the fill in them."""
    live = work / "live"
    for name in dataflow(query, 1).relations():
        (live / name).mkdir(parents=True)
    for file in sorted((folder / "fill").glob("*/*.parquet")):
        os.link(file, live / file.parent.name / file.name)
    return live


def measure(
    data: Path, query: str, scale: float, size: int, epochs: int = 8, pipe: str = "",
    **settings: Any,
) -> dict[str, Any]:  # fmt: skip
    """One run: the window filled, WARM epochs, then `epochs` measured ones; of the query, or of a
    `pipe` (see pipes) in its place."""
    stream, orders, folder = stage(data, query, scale, size, WARM + epochs)
    counts = [int((folder / f"done-{i}").read_text()) for i in range(WARM + epochs)]
    work = Path(tempfile.mkdtemp(prefix="everview-bench-", dir=data))
    begun = time.monotonic()
    if pipe == "spark":
        start = spark_alone(folder, work, query)
    else:
        start = started(folder, work, query, size, **settings)
    try:
        with pipes.empty(pipe == "empty"), Memory() as memory, start as run:
            filled = time.monotonic() - begun
            feeder = Feeder(
                folder / "epochs", work / "live", [1000 + i for i in range(WARM + epochs)],
                memory.cpu,
            )  # fmt: skip
            feeder.follow(run)
            feeder.place()
            run.process_available()
            progress = {p["batchId"]: p for p in (_plain(q) for q in run.query.recentProgress)}
            first, last = sorted(feeder.begun)[-epochs - 1], max(feeder.begun)
            measured = range(first + 1, last + 1)
            wall = feeder.begun[last] - feeder.begun[first]
            cpu = feeder.cpu_at[last] - feeder.cpu_at[first]
            changes = sum(counts[WARM:])
            figures = {
                "query": query, "scale": scale, "epoch_changes": size, "changes": changes,
                "epochs": epochs, "policy": POLICY,
                "updates_per_s": round(changes / wall),
                "cpu_s_per_million": round(cpu / changes * 1e6, 2),
                "freshness_s": round(
                    median(_of(progress, n, "triggerExecution") for n in measured) / 1000, 3
                ),
                "peak_mib": memory.peak >> 20, "fill_s": round(filled, 1),
                "spark_ms": {
                    p: round(median(_of(progress, n, p) for n in measured)) for p in SPARK_PARTS
                },
            }  # fmt: skip
            if pipe:
                return figures | {"pipe": pipe}
            reports = [r for r in run.reports if r.epoch in measured]
            held = stream.held(WARM + epochs, orders)
            return figures | {
                "answer": compare(data, query, scale, held, work),
                "shards": len(run.on.keys), "stages": _stages(query),
                "changes_out": sum(r.changes for r in reports),
                "our_ms": {
                    p: round(median(r.parts.get(p, 0.0) for r in reports), 1) for p in OUR_PARTS
                },
            }  # fmt: skip
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _plain(progress: Any) -> dict[str, Any]:
    return {"batchId": progress.batchId, **dict(progress.durationMs)}


def _of(progress: dict[int, dict[str, Any]], epoch: int, part: str) -> float:
    return float(progress.get(epoch, {}).get(part, 0))


def _stages(query: str) -> int:
    return len(dataflow(query, 1).stages)


def compare(data: Path, query: str, scale: float, held: Any, work: Path) -> str:
    """`match`, or how many rows of the summed changelog differ from DuckDB's answer.

    Averages are left out: DuckDB types them as DOUBLE.
    """
    db = connect()
    db.execute("SET threads = 2")
    source = data / f"tpch-{scale:g}"
    import pyarrow as pa

    db.register("held", pa.table({"k": pa.array(held)}))
    for name in ("region", "nation", "supplier", "customer", "part", "partsupp"):
        db.execute(f"CREATE VIEW {name} AS FROM '{source}/{name}.parquet'")
    for name, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
        db.execute(
            f"CREATE VIEW {name} AS FROM '{source}/{name}.parquet' "
            f"WHERE {key} IN (SELECT k FROM held)"
        )
    db.execute(f"CREATE TABLE right_answer AS {tpch.query(query)}")
    log = f"read_parquet('{work}/changelog/*.parquet')"
    names = [r[0] for r in db.execute("DESCRIBE right_answer").fetchall()]
    picked = ", ".join(n for n in names if not n.startswith("avg_"))
    db.execute(
        f"CREATE TABLE ours AS SELECT {picked} FROM {log} GROUP BY ALL "
        "HAVING sum(CASE WHEN kind IN ('+I', '+U') THEN 1 ELSE -1 END) > 0"
    )
    both = (f"SELECT {picked} FROM right_answer", f"SELECT {picked} FROM ours")
    wrong = sum(
        db.execute(f"SELECT count(*) FROM ({a} EXCEPT ALL {b})").fetchall()[0][0]
        for a, b in (both, both[::-1])
    )
    rows = db.execute("SELECT count(*) FROM right_answer").fetchall()[0][0]
    return f"match, {rows} rows" if not wrong else f"DIFFERS in {wrong} rows"


def show(f: dict[str, Any]) -> None:
    what = f"the {f['pipe']} pipe of {f['query']}" if "pipe" in f else f["query"]
    print(
        f"  {what} at scale {f['scale']:g}, policy {f['policy']}, "
        f"{f['epoch_changes']:,} changes an epoch, {f['epochs']} epochs"
    )
    print(
        f"  {f['updates_per_s']:>9,} updates/s   freshness {f['freshness_s']:.2f} s   "
        f"{f['cpu_s_per_million']:.2f} CPU s per million updates   peak {f['peak_mib']:,} MiB"
    )
    spark = "  ".join(f"{p} {ms}" for p, ms in f["spark_ms"].items())
    print(f"  ms of an epoch: {spark}")
    if "our_ms" in f:
        ours = "  ".join(f"{p} {ms:g}" for p, ms in f["our_ms"].items() if ms)
        print(f"  ms inside addBatch, summed over tasks: {ours}")
        print(f"  {f['stages']} stage(s), {f['shards']} shards   answer: {f['answer']}")
