"""Changelog folders: exact values, whole epochs only, and their sum."""

from __future__ import annotations

import datetime as dt
import json
import math
import random
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from everview.connect.changelog import (
    Format,
    PartFile,
    commit_epoch,
    epochs,
    read_changelog,
    sweep,
    write_part,
)  # fmt: skip
from everview.connect.fold import fold, plain
from everview.errors import InputError
from tests.test_folder import random_rows

FORMATS: list[Format] = ["parquet", "json", "csv"]
SCHEMA = pa.schema(
    [
        ("kind", pa.string()), ("epoch", pa.int64()), ("id", pa.int64()),
        ("amount", pa.decimal128(38, 10)), ("small", pa.int8()), ("day", pa.date32()),
        ("at", pa.timestamp("us", "UTC")), ("local", pa.timestamp("us")), ("f", pa.float64()),
        ("g", pa.float32()), ("ok", pa.bool_()), ("name", pa.string()), ("raw", pa.binary()),
    ]
)  # fmt: skip


def batch(rows: list[dict[str, Any]], epoch: int, kinds: list[str]) -> pa.RecordBatch:
    full = [{**r, "epoch": epoch, "kind": k} for r, k in zip(rows, kinds, strict=True)]
    arrays = [pa.array([r[f.name] for r in full], f.type) for f in SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


@pytest.mark.parametrize("form", FORMATS)
def test_every_value_comes_back(tmp_path: Path, form: Format) -> None:
    rows = random_rows(random.Random(3), 300, newlines=True)
    for row, f in zip(rows, [math.nan, math.inf, -math.inf, 5e-324, -0.0, 0.1], strict=False):
        row["f"], row["g"] = f, f if f != 0.1 else 0.5
    for epoch in range(3):
        part = rows[100 * epoch : 100 * epoch + 100]
        batches = [batch(part[:30], epoch, ["+I"] * 30), batch(part[30:60], epoch, ["+I"] * 30)]
        parts = [
            write_part(str(tmp_path), epoch, 0, batches, form),
            write_part(str(tmp_path), epoch, 1, [batch(part[60:], epoch, ["+I"] * 40)], form),
            write_part(str(tmp_path), epoch, 2, [], form),
        ]
        assert [p.rows for p in parts] == [60, 40, 0]
        assert commit_epoch(str(tmp_path), epoch, parts)
    back = list(read_changelog(str(tmp_path)))
    assert [e for e, _ in back] == [0, 1, 2]
    whole = pa.concat_tables([t for _, t in back])
    assert whole.schema == SCHEMA
    for name in SCHEMA.names[2:]:
        assert plain(whole.column(name)) == plain(
            pa.array([r[name] for r in rows], SCHEMA.field(name).type)
        ), name


def test_text_forms(tmp_path: Path) -> None:
    row = {
        "id": 1, "amount": Decimal("0.0000000001"), "small": None, "day": dt.date(1, 2, 3),
        "at": dt.datetime(2024, 1, 2, 3, 4, 5, 6, dt.UTC), "local": dt.datetime(2024, 1, 2),
        "f": math.nan, "g": 0.1, "ok": True, "name": "", "raw": b"\xff\0",
    }  # fmt: skip
    part = write_part(str(tmp_path), 7, 0, [batch([row], 7, ["+I"])], "csv")
    assert (tmp_path / part.name).read_text() == (
        "kind,epoch,id,amount,small,day,at,local,f,g,ok,name,raw\n"
        "+I,7,1,0.0000000001,,0001-02-03,2024-01-02T03:04:05.000006+00:00,"
        '2024-01-02T00:00:00,NaN,0.1,true,"",/wA=\n'
    )
    part = write_part(str(tmp_path), 7, 0, [batch([row], 7, ["-D"])], "json")
    assert json.loads((tmp_path / part.name).read_text()) == {
        "kind": "-D", "epoch": 7, "id": 1, "amount": "0.0000000001", "small": None,
        "day": "0001-02-03", "at": "2024-01-02T03:04:05.000006+00:00",
        "local": "2024-01-02T00:00:00", "f": "NaN", "g": 0.1, "ok": True, "name": "",
        "raw": "/wA=",
    }  # fmt: skip


def small(epoch: int, *changes: tuple[str, int, str]) -> pa.RecordBatch:
    kinds, keys, names = zip(*changes, strict=True)
    return pa.RecordBatch.from_pydict(
        {"kind": list(kinds), "epoch": [epoch] * len(keys), "k": list(keys), "v": list(names)}
    )


@pytest.mark.parametrize("form", FORMATS)
def test_only_committed_epochs_are_read_and_the_first_commit_stays(
    tmp_path: Path, form: Format
) -> None:
    folder = str(tmp_path)
    assert list(read_changelog(folder)) == []
    first = write_part(folder, 4, 0, [small(4, ("+I", 1, "a"))], form)
    assert list(read_changelog(folder)) == []
    assert commit_epoch(folder, 4, [first]) is True
    again = write_part(folder, 4, 0, [small(4, ("+I", 1, "a"))], form)
    assert again.name != first.name
    assert commit_epoch(folder, 4, [again]) is False
    assert not (tmp_path / again.name).exists()
    assert (tmp_path / first.name).exists()
    assert commit_epoch(folder, 4, [first]) is False  # the same parts once more: nothing happens
    assert (tmp_path / first.name).exists()
    assert commit_epoch(folder, 5, [])
    failed = write_part(folder, 6, 0, [small(6, ("+I", 2, "b"))], form)
    assert epochs(folder) == [4, 5]
    assert [(e, t.num_rows) for e, t in read_changelog(folder)] == [(4, 1), (5, 0)]
    assert sweep(folder, 6) == []
    assert sweep(folder, 7) == [failed.name]


def test_a_task_that_fails_leaves_no_part(tmp_path: Path) -> None:
    def batches() -> Any:
        yield small(1, ("+I", 1, "a"))
        raise RuntimeError("lost")

    for form in FORMATS:
        with pytest.raises(RuntimeError, match="lost"):
            write_part(str(tmp_path), 1, 0, batches(), form)
    assert list(tmp_path.iterdir()) == []


def test_an_edited_part_is_noticed(tmp_path: Path) -> None:
    folder = str(tmp_path)
    part = write_part(folder, 1, 0, [small(1, ("+I", 1, "a"))], "csv")
    commit_epoch(folder, 1, [part])
    (tmp_path / part.name).write_text("kind,epoch,k,v\n+I,1,one,a\n")
    with pytest.raises(InputError, match="is not what was written there"):
        list(read_changelog(folder))


def test_types_a_changelog_cannot_hold(tmp_path: Path) -> None:
    nested = pa.RecordBatch.from_pydict({"kind": ["+I"], "v": [[1, 2]]})
    with pytest.raises(InputError, match="cannot hold columns of type list"):
        write_part(str(tmp_path), 1, 0, [nested], "json")
    assert write_part(str(tmp_path), 1, 0, [], "json") == PartFile(
        next(p.name for p in tmp_path.iterdir()), 0, 0
    )


# ------------------------------------------------------------------------------------------- folds


def folding_table(epoch: int, first: tuple[str, pa.DataType], rows: list[Any]) -> pa.Table:
    fields = [first, ("k", pa.int64()), ("v", pa.string()), ("f", pa.float64())]
    arrays = {n: pa.array([row[i] for row in rows], t) for i, (n, t) in enumerate(fields)}
    return pa.table({**arrays, "epoch": pa.array([epoch] * len(rows), pa.int64())})


def random_changelog(
    rnd: random.Random, count: int
) -> tuple[list[tuple[int, pa.Table]], list[tuple[int, pa.Table]], Counter[tuple[Any, ...]]]:
    """A history of keyed rows in both forms, and the answer it leaves."""
    rows: dict[int, tuple[Any, ...]] = {}
    retract, upsert = [], []
    for epoch in range(count):
        before = dict(rows)
        for _ in range(rnd.randrange(6)):
            key = rnd.randrange(8)
            if rnd.random() < 0.4:
                rows.pop(key, None)
            else:
                rows[key] = (key, rnd.choice([None, "a", "b"]), rnd.choice([0.5, math.nan, None]))
        changes, upserts = [], []
        for key in range(8):
            old, new = before.get(key), rows.get(key)
            if repr(old) == repr(new):
                continue
            if old is not None:
                changes.append(("-D" if new is None else "-U", *old))
            if new is not None:
                changes.append(("+I" if old is None else "+U", *new))
            upserts.append((new is None, *(new or (key, None, None))))
        rnd.shuffle(changes)
        retract.append((epoch, folding_table(epoch, ("kind", pa.string()), changes)))
        upsert.append((epoch, folding_table(epoch, ("deleted", pa.bool_()), upserts)))
    answer: Counter[tuple[Any, ...]] = Counter()
    for k, v, f in rows.values():
        answer[(k, v, "NaN" if f is not None and math.isnan(f) else f)] += 1
    return retract, upsert, answer


def test_both_forms_fold_to_the_answer() -> None:
    rnd = random.Random(12)
    for _ in range(60):
        retract, upsert, answer = random_changelog(rnd, 12)
        assert fold(retract) == answer
        assert fold(upsert, key=["k"]) == answer


def test_what_was_never_given_cannot_be_taken_back() -> None:
    def table(epoch: int, *changes: tuple[str, int, str]) -> tuple[int, pa.Table]:
        return epoch, pa.Table.from_batches([small(epoch, *changes)])

    good = [table(1, ("-U", 1, "b"), ("+I", 1, "a"), ("+U", 1, "b"))]  # one epoch has no order
    assert fold(good) == {(1, "a"): 1}
    with pytest.raises(InputError, match=r"epoch 2 takes back 1 of the row \(1, 'b'\)"):
        fold([*good, table(2, ("-D", 1, "b"))])
    with pytest.raises(InputError, match="takes back 1 of the row"):
        fold([table(1, ("+I", 1, "a"), ("-D", 1, "a"), ("-D", 1, "a"))])
    with pytest.raises(InputError, match="no kind of change"):
        fold([table(1, ("I", 1, "a"))])
    gone = pa.table({"k": [1], "v": ["x"], "deleted": [True]})
    with pytest.raises(InputError, match=r"deletes the key \(1,\)"):
        fold([(1, gone)], key=["k"])
    with pytest.raises(InputError, match="by its key; it has no column z"):
        fold([(1, gone)], key=["z"])


@pytest.mark.parametrize("form", FORMATS)
def test_years_that_python_has_not(tmp_path: Path, form: Format) -> None:
    """They are written, read back and summed; in an answer they are text."""
    micros = pa.array([253_402_300_800_000_000, -62_200_000_000_000_000, None], pa.int64())
    batch = pa.RecordBatch.from_pydict(
        {"kind": pa.array(["+I"] * 3), "epoch": pa.array([0] * 3),
         "day": pa.array([2_932_897, -719_500, None], pa.int32()).cast(pa.date32()),
         "at": micros.cast(pa.timestamp("us", "UTC")), "local": micros.cast(pa.timestamp("us"))}
    )  # fmt: skip
    folder = str(tmp_path)
    commit_epoch(folder, 0, [write_part(folder, 0, 0, [batch], form)])
    ((_, table),) = read_changelog(folder)
    assert table.combine_chunks().to_batches()[0].equals(batch)
    answer = fold(read_changelog(folder))
    far = ("+10000-01-01", "+10000-01-01 00:00:00.000000Z", "+10000-01-01 00:00:00.000000")
    assert answer[far] == 1
    assert answer.total() == 3
