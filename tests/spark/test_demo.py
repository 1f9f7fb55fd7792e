"""The demo from beginning to end, with fewer epochs; the README's example as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from everview.workloads import demo

pytestmark = pytest.mark.spark
README = Path(__file__).parents[2] / "README.md"


def test_the_demo_ends_verified(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(demo, "EPOCH", 32_000)
    assert demo.main() == 0
    lines = capsys.readouterr().out.splitlines()
    last = re.fullmatch(
        r"verified: q3 (\d+) rows, q7 (\d+) rows equal to DuckDB's answer", lines[-1]
    )
    assert last
    assert int(last[1]) > 10
    assert int(last[2]) == 4
    assert any(line.startswith("processing the stream") for line in lines)
    assert any(re.match(r"q3: .* epoch \d ", line) for line in lines)


def test_the_readme_example_runs(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = README.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "Counter({('KENYA', 1, Decimal('12.50')): 1})",
        "verified: wealth, 1 row equal to DuckDB's answer over 2 changes",
    ]
