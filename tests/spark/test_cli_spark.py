"""The command line on Spark, each command in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import everview

pytestmark = pytest.mark.spark
ROOT = Path(__file__).parents[2]
PROGRESS = re.compile(r"revenue: (no epoch yet|epoch \d+) · .*\d MiB")


def call(*words: str, folder: Path) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `everview words...`."""
    source = str(Path(everview.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", "from everview.cli import main; main()", *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": source, "COLUMNS": "80"},
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_run_once_shows_the_answer_and_nothing_of_java(tmp_path: Path) -> None:
    script = str(ROOT / "examples" / "revenue.sql")
    code, out, err = call("run", script, "--once", "--set", "shards=4", folder=tmp_path)
    assert code == 0, err
    first, *progress = err.splitlines()
    assert first == "starting Spark"
    assert progress
    assert all(PROGRESS.fullmatch(line) for line in progress), err
    rows = {tuple(line.strip("│ ").split()) for line in out.splitlines() if "199" in line}
    assert {tuple(w for w in r if w not in "│+") for r in rows} == {
        ("1995", "120.00", "1"), ("1996", "70.24", "2"), ("1997", "312.50", "2"),
    }  # fmt: skip


def test_verify_compares_every_view_and_errors_stay_short(tmp_path: Path) -> None:
    script = tmp_path / "two.sql"
    script.write_text(
        "CREATE TABLE t (k INT PRIMARY KEY, v DECIMAL(9,2))"
        " WITH (connector = 'csv', path = 'in', change_column = 'op');"
        "CREATE VIEW mean AS SELECT avg(v) AS m, count(*) AS n FROM t;"
        "CREATE VIEW dear AS SELECT k FROM t WHERE v > 1;"
    )
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.csv").write_text("op,k,v\n+,1,1.00\n+,2,2.50\n+,3,0.01\n-,1,\n+,x,1\n")
    code, out, err = call("verify", str(script), "--set", "shards=4", folder=tmp_path)
    assert code == 0, err
    assert out.splitlines() == [
        "verified: mean, 1 row equal to DuckDB's answer over 4 changes",
        "verified: dear, 1 row equal to DuckDB's answer over 4 changes",
    ]
    assert "Exception" not in err
