"""The demo without its queries: the stream it makes and keeps, what it says, how it ends."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pyarrow as pa
import pytest
from rich.console import Console

from everview.connect.live import LiveTable
from everview.verify import Verdict
from everview.workloads import demo


def table() -> LiveTable:
    shown = LiveTable("q3", ["k"], file=io.StringIO())
    shown.update(0, pa.table({"kind": ["+I"], "epoch": [0], "k": [7]}))
    return shown


def test_the_stream_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(demo, "SCALE", 0.001)
    monkeypatch.setattr(demo, "EPOCH", 1000)
    folder = demo.cache()
    assert folder == tmp_path / "everview" / "demo"
    made = demo.update_file(folder)
    lines = made.read_text().splitlines()
    assert 10 < lines.count("*") < 20
    assert {line[:3] for line in lines} >= {"+CU", "+OR", "+LI", "-OR", "-LI"}
    made.write_text("kept")
    assert demo.update_file(folder).read_text() == "kept"
    assert not list(folder.glob(".*"))


def test_a_cache_that_cannot_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert demo.cache().name == "everview-demo"


def test_without_a_terminal_it_says_what_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "TICK", 0.001)
    monkeypatch.setattr(demo, "SILENCE", 0.002)
    file = io.StringIO()
    with demo.Screen(Console(file=file)) as screen, screen.doing("starting Spark"):
        while file.getvalue().count("\n") < 3:
            pass
    first, *others = file.getvalue().splitlines()
    assert first == "starting Spark"
    assert all(re.fullmatch(r"starting Spark: \d+ s", line) for line in others)


def test_on_a_terminal_the_tables_are_drawn() -> None:
    file = io.StringIO()
    with demo.Screen(Console(file=file, force_terminal=True, width=80)) as screen:
        screen.show([table()])
    assert "q3" in file.getvalue()
    assert "7" in file.getvalue()


def test_it_ends_with_the_verdicts() -> None:
    file = io.StringIO()
    console = Console(file=file, width=80)
    right, wrong = Verdict("q3", 71, 9), Verdict("q7", 4, 9, "5 rows, expected 4\n  missing: [a]")
    assert demo.conclude(console, [table()], [right, Verdict("q7", 4, 9)]) == 0
    said = file.getvalue().splitlines()
    assert said[-1] == "verified: q3 71 rows, q7 4 rows equal to DuckDB's answer"
    assert any("│ 7" in line for line in said)
    assert demo.conclude(console, [], [right, wrong]) == 1
    assert file.getvalue().endswith("5 rows, expected 4\n  missing: [a]\n")
