"""The live table: what it holds, what it marks, and what it says without a terminal."""

from __future__ import annotations

import io
import random
import re
from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pytest
from rich.console import Console

from everview.connect.fold import fold
from everview.connect.live import LiveTable, Progress
from everview.errors import InputError


def changes(*rows: tuple[str, int, str | None]) -> pa.Table:
    kinds, keys, values = zip(*rows, strict=True)
    money = [None if v is None else Decimal(v) for v in values]
    return pa.table({
        "kind": list(kinds), "epoch": [1] * len(rows), "k": list(keys),
        "v": pa.array(money, pa.decimal128(15, 2)),
    })  # fmt: skip


def shown(table: LiveTable) -> list[str]:
    """The rendered lines, spaces squeezed."""
    console = Console(file=io.StringIO(), width=100)
    with console.capture() as capture:
        console.print(table.render())
    lines = (re.sub(r"[│┃\s]+", " ", line).strip() for line in capture.get().splitlines())
    return [line for line in lines if line]


def test_marks_say_what_the_last_epoch_changed() -> None:
    table = LiveTable("Q", ["k", "v"], ["k"], file=io.StringIO())
    table.update(1, changes(("+I", 1, "5.00"), ("+I", 2, "1234567.5"), ("+I", 3, None)))
    assert shown(table)[4:7] == ["+ 1 5.00", "+ 2 1,234,567.50", "+ 3 NULL"]
    table.update(2, changes(("-U", 1, "5"), ("+U", 1, "6"), ("-D", 3, None), ("+I", 4, "0")))
    assert shown(table)[4:8] == ["~ 1 6.00", "- 3 NULL", "+ 4 0.00", "2 1,234,567.50"]
    table.update(3, [])
    assert [line[0] for line in shown(table)[4:7]] == ["1", "2", "4"]
    assert table.answer == {(1, Decimal(6)): 1, (2, Decimal("1234567.50")): 1, (4, Decimal(0)): 1}


def test_order_top_and_multiplicity() -> None:
    table = LiveTable("Q", ["k"], top=2, order=lambda row: -row[0], file=io.StringIO())
    batch = pa.RecordBatch.from_pydict({"kind": ["+I"] * 4, "epoch": [1] * 4, "k": [1, 9, 9, 5]})
    table.update(1, [batch])
    assert shown(table)[4:7] == ["+ 9 ×2", "+ 5", "└───┴──────┘"]
    assert any("4 rows" in line for line in shown(table))


def test_it_holds_what_folding_gives() -> None:
    rnd = random.Random(1)
    table = LiveTable("Q", ["k", "v"], ["k"], file=io.StringIO())
    held: Counter[tuple[int, str]] = Counter()
    log = []
    for epoch in range(60):
        rows: list[tuple[str, int, str | None]] = []
        for _ in range(rnd.randrange(1, 6)):
            if held and rnd.random() < 0.5:
                row = rnd.choice(sorted(held.elements()))
                held -= Counter([row])
                rows.append(("-D", *row))
            else:
                row = (rnd.randrange(5), str(rnd.randrange(3)))
                held[row] += 1
                rows.append(("+I", *row))
        log.append((epoch, changes(*rows)))
        table.update(epoch, log[-1][1])
        assert table.answer == fold(log)
        assert shown(table)


def test_without_a_terminal_it_is_a_line_a_second() -> None:
    now = [0.0]
    file = io.StringIO()
    progress = Progress(81230.4, 512, 0.94, 1200, 30, 2, 100 << 20)
    with LiveTable("q3", ["k", "v"], ["k"], file=file, clock=lambda: now[0]) as table:
        table.update(1, changes(("+I", 1, "1")), progress)
        now[0] = 0.5
        table.update(2, changes(("+I", 2, "1")), progress)
        table.update(3, changes(("-U", 2, "1"), ("+U", 2, "2")))
        now[0] = 1.0
        table.update(4, changes(("-D", 2, "2")), progress)
        table.update(5, changes(("+I", 7, "2")), progress)
    said = (
        "81,230 rows/s in · 512 changes/s out · 0.9 s fresh · "
        "1,200 live · 30 waiting · 2 rejects · 100 MiB"
    )
    lines = file.getvalue().splitlines()
    assert lines[:3] == [
        f"q3: 1 rows (+1 -0 ~0) · epoch 1 · {said}",
        f"q3: 1 rows (+1 -1 ~1) · epoch 4 · {said}",
        f"q3: 2 rows (+1 -0 ~0) · epoch 5 · {said}",
    ]
    assert [line.split() for line in lines if line.startswith("│")] == [
        ["│", "+", "│", "7", "│", "2.00", "│"],
        ["│", "│", "1", "│", "1.00", "│"],
    ]  # at the end, the answer


def test_tables_share_a_terminal() -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=80)
    first, second = LiveTable("first", ["k", "v"]), LiveTable("second", ["k", "v"])
    first._console = second._console = console
    with first:
        with second:
            second.update(1, changes(("+I", 1, "55")))
        first.update(1, changes(("+I", 2, "66")))
    left = file.getvalue().rpartition("second")[2]  # what is drawn after the second has ended
    assert "55" in left.partition("first")[0]
    assert "66" in left.rpartition("first")[2]


def test_a_terminal_is_redrawn_in_place() -> None:
    table = LiveTable("q3", ["k", "v"], ["k"])
    file = io.StringIO()
    table._console = Console(file=file, force_terminal=True, width=80)
    with table:
        table.update(1, changes(("+I", 1, "1")))
    assert "q3" in file.getvalue()
    assert "epoch 1" in file.getvalue()


def test_a_wrong_changelog_is_not_shown_as_an_answer() -> None:
    table = LiveTable("q", ["k", "v"], file=io.StringIO())
    with pytest.raises(InputError, match="takes back"):
        table.update(1, changes(("-D", 1, "1")))
