"""Rows by hand: checked values, whole files, several writers."""

from __future__ import annotations

import datetime as dt
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from everview.connect.hand import HandFolder, append, to_table
from everview.delta.changes import DELETE, INSERT, UPDATE
from everview.errors import InputError
from everview.schema import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Column,
    Relation,
    Type,
    decimal,
)  # fmt: skip
from tests.test_update_sequence import REGION, read_all

MONEY = decimal(38, 2)


def test_rows_come_back_as_they_went_in(tmp_path: Path) -> None:
    folder = str(tmp_path / "by" / "hand")
    append(folder, REGION, INSERT, [{"r_regionkey": 1, "r_name": "a"}, (2, "b", False)])
    append(folder, REGION, UPDATE, [{"r_regionkey": 1, "r_name": "", "r_ok": True}])
    append(folder, REGION, DELETE, [{"r_regionkey": 2}])
    assert append(folder, REGION, INSERT, []) is None
    source = HandFolder(folder, REGION)
    want = [(1, 1, "a", None), (1, 2, "b", False), (2, 1, "", True), (-1, 2, None, None)]
    for limits in ([None], [1]):
        got, rejects, _ = read_all(source, list(limits))
        assert (got["region"], rejects) == (want, [])
    files = sorted(Path(folder).glob("*.parquet"))
    assert [f.name for f in files] == [f"{i:012d}.parquet" for i in (1, 2, 3)]


def test_a_number_is_never_used_again(tmp_path: Path) -> None:
    """A source passes over names that it has read: files that are removed must not come back."""
    folder = str(tmp_path)
    assert append(folder, REGION, INSERT, [(1, "a", True)]) == "000000000001.parquet"
    assert append(folder, REGION, INSERT, [(2, "b", True)]) == "000000000002.parquet"
    for file in tmp_path.glob("*.parquet"):
        file.unlink()
    assert append(folder, REGION, INSERT, [(3, "c", True)]) == "000000000003.parquet"


def test_a_moment_without_zone_is_of_the_session(tmp_path: Path) -> None:
    columns = (Column("k", INT), Column("at", TIMESTAMP))
    berlin = Relation("visit", columns, ("k",), options={"zone": "Europe/Berlin"})
    summer, winter = dt.datetime(2024, 7, 1, 12), "2024-01-01 12:00:00"
    told = dt.datetime(2024, 7, 1, 12, tzinfo=UTC)
    table = to_table(berlin, INSERT, [(1, summer), (2, winter), (3, told), (4, None)])
    hours = [v and v.astimezone(UTC).hour for v in table.column("at").to_pylist()]
    assert hours == [10, 11, 12, None]


UTC = dt.UTC
NOON = dt.datetime(2024, 7, 1, 12)
GOOD: list[tuple[Type, Any, Any]] = [
    (INT, 2**31 - 1, 2**31 - 1), (INT, "-7", -7), (INT, Decimal("5.0"), 5),
    (MONEY, 5, Decimal(5)), (MONEY, "1e3", Decimal(1000)),
    (MONEY, Decimal("-0.10"), Decimal("-0.1")),
    (MONEY, Decimal("999999999999999999999999999999999999.99"),
     Decimal("999999999999999999999999999999999999.99")),
    (DOUBLE, 0.1, 0.1), (DOUBLE, 3, 3.0), (FLOAT, 0.5, 0.5), (BOOLEAN, True, True),
    (STRING, "é😀", "é😀"), (STRING, "", ""), (BINARY, b"\0\xff", b"\0\xff"),
    (DATE, dt.date(2024, 2, 29), dt.date(2024, 2, 29)), (DATE, "2024-02-29", dt.date(2024, 2, 29)),
    (TIMESTAMP, NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=2))),
     dt.datetime(2024, 7, 1, 10, tzinfo=UTC)),
    (TIMESTAMP, NOON, NOON.replace(tzinfo=UTC)),
    (TIMESTAMP, "2024-07-01 12:00:00+00:00", NOON.replace(tzinfo=UTC)),
    (TIMESTAMP_NTZ, NOON, NOON), (TIMESTAMP_NTZ, "2024-07-01 12:00", NOON), (INT, None, None),
]  # fmt: skip
BAD: list[tuple[Type, Any]] = [
    (INT, 2**31), (INT, True), (INT, 1.0), (INT, "x"), (INT, "1.5"), (INT, Decimal("NaN")),
    (Type("TINYINT"), -129), (INT, Decimal("1e400000")), (MONEY, 0.1), (MONEY, "0.125"),
    (MONEY, Decimal("1e36")), (MONEY, Decimal("inf")), (MONEY, "1e999999999"), (MONEY, False),
    (MONEY, Decimal("1e-999999")), (DOUBLE, "1.0"), (DOUBLE, 2**53 + 1), (DOUBLE, Decimal(1)),
    (BOOLEAN, 1), (BOOLEAN, "true"), (STRING, 5), (STRING, b"x"), (STRING, "\ud83d"),
    (BINARY, "x"), (DATE, NOON), (DATE, "2024-02-30"), (DATE, 5), (TIMESTAMP, dt.date(2024, 1, 1)),
    (TIMESTAMP, "noon"), (TIMESTAMP_NTZ, NOON.replace(tzinfo=UTC)), (INT, [1]),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "value", "want"), GOOD)
def test_values_that_fit(tmp_path: Path, type_: Type, value: Any, want: Any) -> None:
    relation = Relation("t", (Column("c", type_),))
    append(str(tmp_path), relation, INSERT, [(value,)])
    got, rejects, _ = read_all(HandFolder(str(tmp_path), relation), [None], {"t": ("c",)})
    assert (got["t"], rejects) == ([(1, want)], [])


@pytest.mark.parametrize(("type_", "value"), BAD)
def test_values_that_do_not_fit_are_named(tmp_path: Path, type_: Type, value: Any) -> None:
    relation = Relation("t", (Column("k", INT), Column("c", type_)))
    with pytest.raises(InputError, match=r"row 1: column c cannot hold (.|\n)*: it is") as error:
        append(str(tmp_path), relation, INSERT, [(1, None), (2, value)])
    assert str(type_) in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_rows_that_make_no_sense(tmp_path: Path) -> None:
    keyless = Relation("log", REGION.columns)
    folder = str(tmp_path)
    cases: list[tuple[str, Relation, int, Any]] = [
        ("no column r_nam", REGION, INSERT, {"r_regionkey": 1, "r_nam": "x"}),
        ("r_regionkey of region must not be NULL", REGION, INSERT, {"r_name": "x"}),
        ("r_regionkey of region must not be NULL", REGION, DELETE, {"r_regionkey": None}),
        ("is not a row of 3 values", REGION, INSERT, (1, "x")),
        ("is not a row of 3 values", REGION, INSERT, "abc"),
        ("has no primary key", keyless, UPDATE, {"r_regionkey": 1}),
        ("3 is no op", REGION, 3, {"r_regionkey": 1}),
    ]
    for message, relation, op, row in cases:
        with pytest.raises(InputError, match=message):
            append(folder, relation, op, [row])
    assert list(tmp_path.iterdir()) == []


def test_several_writers_lose_nothing_and_keep_their_order(tmp_path: Path) -> None:
    writers, each = 6, 8

    def write(writer: int) -> None:
        for i in range(each):
            append(str(tmp_path), REGION, INSERT, [(writer * 100 + i, "x", None)])

    threads = [threading.Thread(target=write, args=(w,)) for w in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    got, _, _ = read_all(HandFolder(str(tmp_path), REGION), [5], {"region": ("r_regionkey",)})
    keys = [k for _, k in got["region"]]
    assert sorted(keys) == [w * 100 + i for w in range(writers) for i in range(each)]
    for w in range(writers):
        mine = [k for k in keys if k // 100 == w]
        assert mine == sorted(mine)
    names = sorted(p.name for p in tmp_path.glob("*.parquet"))
    assert names == [f"{i:012d}.parquet" for i in range(1, writers * each + 1)]
