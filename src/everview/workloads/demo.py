"""`everview demo`: a small TPC-H stream, two queries kept current before your eyes, then verified.

    generate ──▶ update sequence, 16 epochs ──▶ q3 ─┬─▶ two tables, drawn after every epoch
    (once, in the user's cache)             └─▶ q7 ─┘   at the end: the batch answers, compared

Half of the orders are there at a time: after the first half, each further order pushes the oldest
one out, so answers grow, change and shrink. Both queries run at the same time, each in its own
Spark query. Where the output is no terminal, everything is a line of text.

Not here: the data (workloads/tpch), the tables drawn (connect/live), the comparison (verify).
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

import everview
from everview.connect.live import LiveTable
from everview.database import Database, View
from everview.schema import Schema
from everview.spark.run import Run
from everview.spark.sinks import MemorySink
from everview.verify import Verdict
from everview.workloads import tpch
from everview.workloads.tpch.generate import generate, update_sequence

SCALE, EPOCH = 0.01, 8_000
SHARDS = 4
ROWS_SHOWN = 8
TICK, SILENCE = 0.2, 1.0  # seconds between looks, and without a line where there is no terminal


def main() -> int:
    """0 if both answers are DuckDB's, 1 if one differs."""
    with Screen() as screen:
        with screen.doing(f"generating TPC-H data, scale {SCALE:g}, once"):
            sequence = update_file(cache())
        with screen.doing("starting Spark"):
            db = everview.connect(shards=SHARDS)
        with db:
            db.schema = fed_by(sequence)
            shown = [watched(db, *q) for q in QUERIES]
            follow(screen, shown)
            with screen.doing("computing both answers from scratch with DuckDB"):
                verdicts = [s.view.verify() for s in shown]
    return conclude(screen.console, [s.table for s in shown], verdicts)


def conclude(console: Console, tables: Sequence[LiveTable], verdicts: Sequence[Verdict]) -> int:
    """The last answers where they are not on the screen yet, and how the comparison went."""
    if not console.is_terminal:
        console.print(*[t.render() for t in tables])
    for v in verdicts:
        if not v:
            console.print(str(v), markup=False, soft_wrap=True)
    if not all(verdicts):
        return 1
    counts = ", ".join(f"{v.view} {v.rows:,} rows" for v in verdicts)
    console.print(f"verified: {counts} equal to DuckDB's answer", soft_wrap=True)
    return 0


# -------------------------------------------------------------------------------------- the stream


def cache() -> Path:
    """Where the data stays between demos: the user's cache, else the temporary folder."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "everview" / "demo"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.gettempdir()) / "everview-demo"


def update_file(folder: Path) -> Path:
    """The update sequence, made if it is not there yet."""
    sequence = folder / f"fifo-{SCALE:g}-{EPOCH}.txt"
    if not sequence.exists():
        tables = generate(folder / f"tables-{SCALE:g}", SCALE)
        unfinished = sequence.with_name(f".{sequence.name}.{os.getpid()}")
        update_sequence(tables, unfinished, kind="fifo", window=0.5, epoch=EPOCH)
        unfinished.rename(sequence)
    return sequence


def fed_by(sequence: Path) -> Schema:
    """The TPC-H tables, all read from one update sequence that is known to be well-formed."""
    options = {"connector": "update-sequence", "path": str(sequence)}
    relations = tpch.schema().relations
    return Schema(tuple(replace(r, options=options, policy="trust") for r in relations))


# ------------------------------------------------------------------------------------- the queries


@dataclass
class Watched:
    """A running view, the table it is shown in, and how many epochs the table has seen."""

    view: View
    run: Run
    table: LiveTable
    seen: int = 0

    def look(self) -> bool:
        """Take in the epochs that have come; whether there were any."""
        sink = self.run.sink
        assert isinstance(sink, MemorySink)
        new = sink.changes[self.seen :]
        for epoch, changes in new:
            self.table.update(epoch, changes, self.run.numbers())
        self.seen += len(new)
        return bool(new)


QUERIES: tuple[tuple[str, str, Callable[[tuple[Any, ...]], Any]], ...] = (
    ("q3", "q3: orders not yet shipped, by revenue", lambda row: -row[1]),
    ("q7", "q7: trade between France and Germany", lambda row: row[:3]),
)


def watched(db: Database, name: str, title: str, order: Callable[[Any], Any]) -> Watched:
    """The query as a view, started."""
    view = db.view(name, tpch.query(name))
    run = view.start("memory")
    assert isinstance(run.sink, MemorySink)
    flow = run.sink.flow
    columns = [c.name for c in flow.columns]
    return Watched(view, run, LiveTable(title, columns, flow.key, ROWS_SHOWN, order=order))


def follow(screen: Screen, shown: list[Watched]) -> None:
    """Show every epoch until all data there is has been processed."""
    with ThreadPoolExecutor(len(shown)) as pool:
        ends: list[Future[None]] = [pool.submit(s.run.process_available) for s in shown]
        try:
            with screen.doing("processing the stream"):
                running = True
                while running:
                    running = bool(wait(ends, TICK, FIRST_EXCEPTION).not_done)
                    with screen.lock:
                        news = [s.look() for s in shown]
                    if any(news):
                        screen.show([s.table for s in shown])
                    for end in ends:
                        if end.done():
                            end.result()
        except BaseException:
            for s in shown:  # else the threads go on
                s.run.stop()
            raise


# -------------------------------------------------------------------------------------- the screen


@dataclass
class Screen:
    """One drawing that changes in place on a terminal; lines of text elsewhere."""

    console: Console = field(default_factory=lambda: Console(highlight=False))
    tables: list[LiveTable] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)  # of what the tables hold
    _live: Live | None = None
    _what: str = ""
    _since: float = 0.0
    _told: float = 0.0

    def __enter__(self) -> Screen:
        if self.console.is_terminal:
            self._live = Live(
                console=self.console, get_renderable=self._render, refresh_per_second=4
            )
            self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._what = ""
            self._live.refresh()
            self._live.__exit__(None, None, None)

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Say what is going on, and that it still goes on, at least once a second."""
        self._what, self._since = what, time.monotonic()
        self._say(what)
        over = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(over,), daemon=True)
        ticker.start()
        try:
            yield
        finally:
            over.set()
            ticker.join()

    def show(self, tables: list[LiveTable]) -> None:
        """What is drawn; elsewhere the tables print a line each by themselves."""
        self.tables, self._told = tables, time.monotonic()

    def _tick(self, over: threading.Event) -> None:
        while not over.wait(TICK):
            if time.monotonic() - self._told >= SILENCE:
                self._say(self._line())

    def _say(self, line: str) -> None:
        self._told = time.monotonic()
        if self._live is None:
            self.console.print(line, soft_wrap=True)

    def _line(self) -> str:
        return f"{self._what}: {time.monotonic() - self._since:.0f} s"

    def _render(self) -> Group:
        with self.lock:
            drawn = [t.render() for t in self.tables]
        return Group(*drawn, Text(self._line() if self._what else "", style="dim"))
