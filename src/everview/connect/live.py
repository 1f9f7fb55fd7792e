"""A table in the terminal that stays current: the answer, what just changed, and how it goes.

           q3 revenue per order
           o_orderkey   revenue        o_orderdate
      +    1412         288330.41      1995-03-05        came in the last epoch
      -    96           112330.12      1995-02-24        went in the last epoch
           4423         3074.56        1995-02-17
     epoch 12 · 81,230 rows/s in · 512 changes/s out · 0.9 s fresh · live 1.2M waiting 30k · ...

Signs say what changed (+, -, ~ for a new value under the same key); colour only helps. Where the
output is no terminal, every epoch is one line of text, at most one a second.

The whole answer is held in memory, as rows: this is for answers that people look at.

Not here: where the changes come from; folding (fold).
"""

from __future__ import annotations

import datetime as dt
import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from threading import Lock
from typing import IO, Any

import pyarrow as pa
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from everview.connect.fold import NAN, Row, apply, weights_of

_NUMBERS = (int, float, Decimal)
_STYLES = {"+": "green", "-": "red dim", "~": "yellow", " ": ""}


@dataclass(frozen=True, slots=True)
class Progress:
    """What the progress line says; None: not known."""

    rows_per_second: float | None = None
    changes_per_second: float | None = None
    freshness: float | None = None  # seconds from a row's arrival to its change going out
    live: int | None = None
    waiting: int | None = None
    rejects: int = 0
    memory: int | None = None  # bytes

    def line(self, epoch: int) -> str:
        parts = [f"epoch {epoch:,}" if epoch >= 0 else "no epoch yet"]
        if self.rows_per_second is not None:
            parts.append(f"{self.rows_per_second:,.0f} rows/s in")
        if self.changes_per_second is not None:
            parts.append(f"{self.changes_per_second:,.0f} changes/s out")
        if self.freshness is not None:
            parts.append(f"{self.freshness:.1f} s fresh")
        if self.live is not None:
            parts.append(f"{self.live:,} live")
        if self.waiting is not None:
            parts.append(f"{self.waiting:,} waiting")
        parts.append(f"{self.rejects:,} rejects")
        if self.memory is not None:
            parts.append(f"{self.memory / 2**20:,.0f} MiB")
        return " · ".join(parts)


class LiveTable:
    """The current answer of one view, kept from its changes (retract form) and shown.

    `order` sorts the rows that are shown: a function of a row (a tuple in column order). Without it
    the rows that changed last come first, then the others by their values. `top`: how many are
    shown. As a context manager on a terminal it draws in place; elsewhere `update` prints lines.
    """

    def __init__(
        self,
        title: str,
        columns: Sequence[str],
        key_columns: Sequence[str] = (),
        top: int = 20,
        *,
        order: Callable[[Row], Any] | None = None,
        file: IO[str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.title, self.columns, self.top = title, tuple(columns), top
        self.answer: Counter[Row] = Counter()
        self.epoch, self.changes, self.progress = -1, 0, Progress()
        self._key = tuple(self.columns.index(k) for k in key_columns)
        self._order, self._clock = order, clock
        self._printed, self._pending = float("-inf"), False
        self._console = Console(file=file, highlight=False)
        self._board: Board | None = None
        self._marks: dict[Row, str] = {}
        self._counts: Counter[str] = Counter()

    def __enter__(self) -> LiveTable:
        if self._console.is_terminal:
            self._board = BOARD
            self._board.add(self, self._console)
        return self

    def __exit__(self, *_: object) -> None:
        """Leaves the last state of the table behind."""
        if self._board is not None:
            self._board.remove(self)
            self._board = None
            return
        if self._pending:
            self._say()
        if self.epoch >= 0 and not self._console.is_terminal:
            self._console.print(self.render())

    def update(
        self,
        epoch: int,
        changes: pa.Table | pa.RecordBatch | Iterable[pa.RecordBatch],
        progress: Progress | None = None,
    ) -> None:
        """Take in one epoch's changes and show the outcome."""
        self.epoch, self.progress = epoch, progress or self.progress
        weights: Counter[Row] = Counter()
        for table in [changes] if isinstance(changes, (pa.Table, pa.RecordBatch)) else changes:
            self.changes += table.num_rows
            if table.num_columns:
                weights.update(weights_of(table.select(["kind", *self.columns])))
        apply(self.answer, weights, epoch)
        self._marks = _marks(weights, self._key)
        self._counts.update(self._marks.values())
        self._pending = True
        if self._board is not None:
            self._board.draw()
        elif not self._console.is_terminal and self._clock() - self._printed >= 1:
            self._say()

    def render(self) -> RenderableType:
        """The table as it stands: rows with their marks, and the progress line."""
        table = Table(title=Text(self.title), caption=f"{sum(self.answer.values()):,} rows")
        table.add_column("", width=1)
        some = next(iter(self.answer), ())
        for i, name in enumerate(self.columns):
            numeric = bool(some) and isinstance(some[i], _NUMBERS)
            table.add_column(
                Text(name), justify="right" if numeric else "left", overflow="ellipsis"
            )
        for row in self._shown():
            mark = self._marks.get(row, " ")
            times = self.answer.get(row, 0)
            more = f" ×{times}" if times > 1 else ""
            cells = [Text(cell(v)) for v in row]
            if cells and more:
                cells[-1].append(more)
            table.add_row(Text(mark), *cells, style=_STYLES[mark])
        return Group(table, Text(self.progress.line(self.epoch)))

    def _shown(self) -> list[Row]:
        """The rows to show: of the answer, and those that went in the last epoch."""
        gone = [r for r, mark in self._marks.items() if mark == "-" and r not in self.answer]
        rows = [*self.answer, *gone]
        if self._order is not None:
            return heapq.nsmallest(self.top, rows, key=self._order)
        return heapq.nsmallest(self.top, rows, key=lambda r: (r not in self._marks, ordered(r)))

    def _say(self) -> None:
        """One line for the epochs since the last line."""
        self._printed, self._pending = self._clock(), False
        signs = " ".join(f"{m}{self._counts[m]:,}" for m in "+-~")
        self._counts.clear()
        rows = sum(self.answer.values())
        line = f"{self.title}: {rows:,} rows ({signs}) · {self.progress.line(self.epoch)}"
        self._console.print(Text(line), soft_wrap=True)


class Board:
    """The tables that are drawn in place on the terminal, one below the other."""

    def __init__(self) -> None:
        self._tables: list[LiveTable] = []
        self._live: Live | None = None
        self._lock = Lock()

    def add(self, table: LiveTable, console: Console) -> None:
        with self._lock:
            self._tables.append(table)
            if self._live is None:
                self._live = Live(self._group(), console=console, auto_refresh=False)
                self._live.start()
            self._draw()

    def remove(self, table: LiveTable) -> None:
        """Its last state stays where it stands, above those that go on."""
        with self._lock:
            assert self._live is not None
            if len(self._tables) == 1:
                self._draw()
                self._live.stop()
                self._live = None
            else:
                self._live.console.print(table.render())
            self._tables.remove(table)
            self._draw()

    def draw(self) -> None:
        with self._lock:
            self._draw()

    def _draw(self) -> None:
        if self._live is not None:
            self._live.update(self._group(), refresh=True)

    def _group(self) -> Group:
        return Group(*(t.render() for t in self._tables))


BOARD = Board()


def _marks(weights: Counter[Row], key: tuple[int, ...]) -> dict[Row, str]:
    """+ for rows that came, - for rows that went, ~ for a row whose key had another one before."""
    marks = {r: "+" if n > 0 else "-" for r, n in weights.items() if n}
    if not key:
        return marks

    def keys(sign: str) -> set[Row]:
        return {tuple(r[i] for i in key) for r, m in marks.items() if m == sign}

    both = keys("+") & keys("-")
    return {
        r: "~" if tuple(r[i] for i in key) in both else m
        for r, m in marks.items()
        if m == "+" or tuple(r[i] for i in key) not in both
    }


def ordered(row: Row) -> tuple[tuple[int, Any], ...]:
    """A sort key for rows with NULLs (last) and NaN (after the numbers)."""
    return tuple((2, 0) if v is None else (1, 0) if v == NAN else (0, v) for v in row)


def cell(value: Any) -> str:
    """A value as the table shows it."""
    if value is None:
        return "NULL"
    if isinstance(value, Decimal):
        return f"{value:,f}"
    if isinstance(value, bytes):
        return "0x" + value[:16].hex() + ("…" if len(value) > 16 else "")
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    return str(value)
