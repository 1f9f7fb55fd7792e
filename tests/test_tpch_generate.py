"""The TPC-H generator: well-formed histories, cut where asked, the same for the same arguments."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from everview.errors import ConfigError
from everview.workloads.tpch import generate as tpch
from everview.workloads.tpch.timeline import TABLES, Kind

SCALE = 0.001
KINDS: tuple[Kind, ...] = ("fifo", "insert-only", "random", "insert-delete-all")
TAGS = {t.tag: t for t in TABLES}
KEY_PLACES = {
    "region": (0,), "nation": (0,), "supplier": (0,), "part": (0,), "partsupp": (0, 1),
    "customer": (0,), "orders": (0,), "lineitem": (0, 3),
}  # fmt: skip


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tpch.generate(tmp_path_factory.mktemp("tpch"), SCALE)


def replay(lines: list[str]) -> tuple[dict[str, dict[tuple[str, ...], str]], int]:
    """The rows left, by table and key; fails where a change does not fit what is there."""
    tables: dict[str, dict[tuple[str, ...], str]] = {t.name: {} for t in TABLES}
    for line in lines:
        table = TAGS[line[1:3]]
        row = line[3:]
        fields = row.split("|")
        key = tuple(fields[i] for i in KEY_PLACES[table.name])
        rows = tables[table.name]
        if line[0] == "+":
            assert key not in rows, line
            rows[key] = row
        else:
            assert rows.pop(key) == row, line
    return tables, len(lines)


def read(path: Path) -> list[str]:
    return [x for x in path.read_text().split("\n") if x and x != "*"]


def test_generate_is_kept_and_made_again_for_another_scale(source: Path) -> None:
    before = (source / "orders.parquet").stat().st_mtime_ns
    assert tpch.generate(source, SCALE) == source
    assert (source / "orders.parquet").stat().st_mtime_ns == before
    stamp = source / tpch.STAMP
    stamp.write_text(stamp.read_text().replace("0.001", "7"))
    tpch.generate(source, SCALE)
    assert (source / "orders.parquet").stat().st_mtime_ns > before


def test_rows_are_written_as_dbgen_writes_them(source: Path, tmp_path: Path) -> None:
    command = [tpch._tpchgen(), "tbl", "-s", str(SCALE), "--output-dir", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    out = tmp_path / "all.txt"
    tpch.update_sequence(source, out, kind="insert-only")
    written: dict[str, Counter[str]] = {t.name: Counter() for t in TABLES}
    for line in read(out):
        written[TAGS[line[1:3]].name][line[3:]] += 1
    for table in TABLES:
        expected = Counter((tmp_path / f"{table.name}.tbl").read_text().splitlines())
        if table.name == "partsupp":  # repeats keys at this scale; the first of each key counts
            assert written[table.name] <= expected
            assert len(written[table.name]) == len({tuple(r.split("|")[:2]) for r in expected})
        else:
            assert written[table.name] == expected, table.name


@pytest.mark.parametrize("kind", KINDS)
def test_every_history_is_well_formed(source: Path, tmp_path: Path, kind: Kind) -> None:
    out = tmp_path / "h.txt"
    written = tpch.update_sequence(source, out, kind=kind, epoch=1000, seed=3)
    tables, changes = replay(read(out))
    assert changes == written.changes
    left = {n: len(rows) for n, rows in tables.items()}
    if kind == "insert-delete-all":
        assert set(left.values()) == {0}
    elif kind == "fifo":
        assert left["orders"] == 750
        assert left["customer"] == 150
    elif kind == "insert-only":
        assert left["orders"] == 1500
    else:
        assert 0 < left["orders"] < 1500


def test_fifo_deletes_the_oldest_order_after_its_lineitems(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "h.txt"
    tpch.update_sequence(source, out, kind="fifo", window=0.01)
    lines = [x for x in read(out) if x[1:3] in ("OR", "LI")]
    inserted = [x[3:].split("|")[0] for x in lines if x.startswith("+OR")]
    deleted = [x[3:].split("|")[0] for x in lines if x.startswith("-OR")]
    assert deleted == inserted[: len(deleted)]
    assert len(inserted) - len(deleted) == 15
    order = ""
    for sign, tag, key in ((x[0], x[1:3], x[3:].split("|")[0]) for x in lines):
        if sign == "+":
            order = key if tag == "OR" else order
            assert key == order
    at = {x[:3] + x[3:].split("|")[0]: i for i, x in enumerate(lines)}
    assert all(at["-LI" + k] == at["-OR" + k] - 1 for k in deleted)


def test_random_histories_dangle_move_keys_and_come_back(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "h.txt"
    tpch.update_sequence(source, out, kind="random", seed=1)
    orders: set[str] = set()
    seen: Counter[str] = Counter()
    early = late = moved = again = 0
    for line in read(out):
        key = line[3:].split("|")[0]
        if line[1:3] == "OR":
            (orders.add if line[0] == "+" else orders.discard)(key)
            moved += int(key) > 100_000_000
            again += line[0] == "+" and seen[key] > 0
            seen[key] += line[0] == "+"
        elif line[1:3] == "LI" and key not in orders:
            early += line[0] == "+"
            late += line[0] == "-"
    assert min(early, late, moved, again) > 50


@pytest.mark.parametrize("size", [1, 777, 5000, 10**6])
def test_epochs_end_at_stars(source: Path, tmp_path: Path, size: int) -> None:
    out = tmp_path / "h.txt"
    written = tpch.update_sequence(source, out, kind="fifo", epoch=size)
    pieces = out.read_text().split("*\n")
    counts = [p.count("\n") for p in pieces if p]
    assert len(counts) == written.epochs
    assert counts[:-1] == [size] * (len(counts) - 1)
    assert sum(counts) == written.changes


def test_chunks_do_not_show(source: Path, tmp_path: Path, monkeypatch: Any) -> None:
    whole, pieces = tmp_path / "whole.txt", tmp_path / "pieces.txt"
    for size in (None, 400):
        tpch.update_sequence(source, whole, kind="random", seed=5, epoch=size)
        monkeypatch.setattr(tpch, "CHUNK", 1000)
        tpch.update_sequence(source, pieces, kind="random", seed=5, epoch=size)
        monkeypatch.undo()
        assert whole.read_bytes() == pieces.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_parquet_holds_the_same_changes(source: Path, tmp_path: Path, kind: Kind) -> None:
    text, folder = tmp_path / "h.txt", tmp_path / "h"
    tpch.update_sequence(source, text, kind=kind, epoch=2500)
    written = tpch.update_sequence(source, folder, kind=kind, epoch=2500, format="parquet")
    for number, piece in enumerate(text.read_text().split("*\n")):
        for table in TABLES:
            lines = [x for x in piece.splitlines() if x[1:3] == table.tag]
            file = folder / table.name / f"{number:08d}.parquet"
            assert file.exists() == bool(lines)
            if lines:
                rows = pq.read_table(file)
                assert rows.column_names[0] == "op"
                assert rows.column("op").to_pylist() == [x[0] for x in lines]
                first = [str(v) for v in rows.column(1).to_pylist()]
                assert first == [x[3:].split("|")[0] for x in lines]
    assert written.epochs == number + 1 or not piece


def test_what_cannot_be_done_is_said(source: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"TPCH\.WINDOW"):
        tpch.update_sequence(source, tmp_path / "x", kind="fifo", window=0)
    with pytest.raises(ConfigError, match=r"TPCH\.SOURCE"):
        tpch.update_sequence(tmp_path, tmp_path / "x", kind="fifo")
