"""Update sequences: what is read, where epochs end, and what is refused."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import random
from collections import defaultdict
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from everview.connect import lines as text
from everview.connect.contract import Offset, RangeSource
from everview.connect.update_sequence import UpdateSequence, default_tags
from everview.errors import InputError
from everview.schema import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Column,
    Relation,
    decimal,
)  # fmt: skip

ORDERS = Relation(
    "orders",
    (
        Column("o_orderkey", BIGINT, False), Column("o_custkey", BIGINT),
        Column("o_totalprice", decimal(15, 2), False), Column("o_orderdate", DATE),
        Column("o_comment", STRING, False),
    ),
    key=("o_orderkey",),
)  # fmt: skip
REGION = Relation(
    "region",
    (Column("r_regionkey", INT, False), Column("r_name", STRING), Column("r_ok", BOOLEAN)),
    key=("r_regionkey",),
)
COLUMNS = {
    "orders": tuple(c.name for c in ORDERS.columns),
    "region": tuple(c.name for c in REGION.columns),
}
Got = dict[str, list[tuple[Any, ...]]]


def read_all(
    source: RangeSource, limits: list[int | None], columns: dict[str, tuple[str, ...]] = COLUMNS
) -> tuple[Got, list[tuple[int, str, str]], list[int]]:
    """Advance by these limits (the last one again and again): changes, rejects, epoch sizes."""
    got: Got = defaultdict(list)
    rejects, sizes = [], []
    offset, turn = source.initial(), 0
    while True:
        limit = limits[min(turn, len(limits) - 1)]
        after = json.loads(json.dumps(source.advance(offset, limit)))
        if after == offset:
            return dict(got), rejects, sizes
        size = 0
        for piece in source.ranges(offset, after):
            last: dict[str, int] = {}
            for changes in source.read(piece, columns):
                assert len(changes.op) == changes.batch.num_rows
                assert changes.segment == piece.segment
                assert changes.start == piece.start
                rows = changes.rows.tolist() if changes.rows is not None else []
                assert rows == sorted(set(rows))
                assert not rows or rows[0] > last.get(changes.relation, -1)
                last[changes.relation] = rows[-1] if rows else last.get(changes.relation, -1)
                values = [column.to_pylist() for column in changes.batch.columns]
                got[changes.relation] += zip(changes.op.tolist(), *values, strict=True)
                rejects += [(r.row, r.reason, r.raw) for r in changes.rejects]
                size += len(changes.op) + len(changes.rejects)
        sizes.append(size)
        offset, turn = after, turn + 1


def order_line(rnd: random.Random, key: int) -> tuple[bytes, tuple[Any, ...]]:
    sign = rnd.choice([1, -1])
    cust = rnd.choice([None, rnd.randrange(10**12)])
    price = Decimal(rnd.randrange(-(10**15) + 1, 10**15)) / 100
    comment = rnd.choice(["", "é ü", "x" * rnd.randrange(40), '"quoted, "', "* star", "a b"])
    day = dt.date(1996, key % 9 + 1, 11)
    line = f"{key}|{'' if cust is None else cust}|{price:.2f}|{day}|{comment}|"
    tag = "+OR" if sign > 0 else "-OR"
    return (tag + line).encode(), (sign, key, cust, price, day, comment)


def history(rnd: random.Random, count: int) -> tuple[list[bytes], Got]:
    lines, want = [], defaultdict(list)
    for key in range(count):
        if rnd.random() < 0.2:
            tag, ok = rnd.choice(["RE", "RI"]), rnd.choice([True, False, None])
            word = "" if ok is None else str(ok).lower()
            lines.append(f"+{tag}{key}|name {key}|{word}|".encode())
            want["region"].append((1, key, f"name {key}", ok))
        else:
            line, row = order_line(rnd, key)
            lines.append(line)
            want["orders"].append(row)
    return lines, dict(want)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("limits", [[None], [1], [7], [3, 50, 1, 1000]])
def test_any_limits_give_the_same_changes(
    tmp_path: Path, limits: list[int | None], end: bytes
) -> None:
    rnd = random.Random(5)
    lines, want = history(rnd, 160)
    path = tmp_path / "updates.txt"
    path.write_bytes(end.join(lines) + end)
    source = UpdateSequence(str(path), (ORDERS, REGION), smallest=500)
    got, rejects, sizes = read_all(source, limits)
    assert got == want
    assert rejects == []
    for i, size in enumerate(sizes):
        limit = limits[min(i, len(limits) - 1)]
        assert limit is None or size <= limit


def test_marks_end_epochs(tmp_path: Path) -> None:
    lines, want = history(random.Random(6), 60)
    marked = [*lines[:10], b"*", *lines[10:11], b"*\r", b"*", *lines[11:], b"*"]
    path = tmp_path / "u.txt"
    path.write_bytes(b"\n".join(marked) + b"\n")
    source = UpdateSequence(str(path), (ORDERS, REGION))
    got, rejects, sizes = read_all(source, [None])
    assert (got, rejects, sizes) == (want, [], [10, 1, 0, 49])
    assert read_all(source, [4])[2][:4] == [4, 4, 2, 1]
    assert read_all(source, [4])[0] == want


def test_every_cut_at_any_byte_loses_nothing(tmp_path: Path) -> None:
    lines, _ = history(random.Random(7), 40)
    data = b"\n".join(lines) + b"\n"
    path = tmp_path / "u.txt"
    path.write_bytes(data)
    for pieces in range(1, 60):
        places = text.cut(str(path), 0, len(data), pieces, 1)
        assert places[0] == 0
        assert places[-1] == len(data)
        assert all(data[p - 1 : p] == b"\n" for p in places[1:])
        assert sorted(set(places)) == places
    for size in (1, 2, 3, 17, 200, 5000):
        blocks = list(text.blocks(str(path), 0, len(data), size))
        assert [b.raw(i) for b in blocks for i in range(len(b))] == lines


def test_a_growing_file_gives_each_line_once_and_whole(tmp_path: Path) -> None:
    rnd = random.Random(8)
    lines, want = history(rnd, 50)
    data = b"\n".join(lines) + b"\n"
    path = tmp_path / "u.txt"
    source = UpdateSequence(str(path), (ORDERS, REGION))
    offset = source.initial()
    assert source.advance(offset, None) == offset  # not there yet
    got: Got = defaultdict(list)
    written = 0
    while written < len(data):
        step = rnd.randrange(1, 120)
        with path.open("ab") as file:
            file.write(data[written : written + step])
        written += step
        after = source.advance(offset, None)
        assert source.ranges(offset, after) == source.ranges(offset, after)
        for piece in source.ranges(offset, after):
            for changes in source.read(piece, COLUMNS):
                assert not changes.rejects
                values = [c.to_pylist() for c in changes.batch.columns]
                got[changes.relation] += zip(changes.op.tolist(), *values, strict=True)
        offset = after
    assert dict(got) == want


def test_files_of_a_folder_in_name_order(tmp_path: Path) -> None:
    lines, want = history(random.Random(9), 90)
    cuts = [0, 20, 20, 55, 90]
    for i, (a, b) in enumerate(pairwise(cuts)):
        end = b"\n" if i == 3 and b > a else b""  # only the newest must end its last line
        (tmp_path / f"u{i}.txt").write_bytes(b"\n".join(lines[a:b]) + end)
    (tmp_path / "_being_written").write_bytes(b"+OR")
    source = UpdateSequence(str(tmp_path), (ORDERS, REGION), smallest=300)
    for limits in ([None], [6], [1]):
        assert read_all(source, list(limits))[:2] == (want, [])
    glob = UpdateSequence(str(tmp_path / "u*.txt"), (ORDERS, REGION))
    assert read_all(glob, [13])[0] == want


def test_only_wanted_relations_and_columns(tmp_path: Path) -> None:
    path = tmp_path / "u.txt"
    path.write_bytes(b"+OR1|x|1.00|1996-01-01|c|\n+RE1|r|true|\n-OR2||2.00||d|\n")
    source = UpdateSequence(str(path), (ORDERS, REGION))
    got, rejects, _ = read_all(source, [None], {"orders": ("o_totalprice", "o_orderkey")})
    assert got == {"orders": [(1, Decimal("1.00"), 1), (-1, Decimal("2.00"), 2)]}
    assert rejects == []  # the fault is in a column that nobody reads
    got, _, _ = read_all(source, [None], {"region": ()})
    assert got == {"region": [(1,)]}


BAD = {
    "sign": ("PARSE", lambda line: b"?" + line[1:]),
    "tag": ("UNKNOWN_RELATION", lambda line: line[:1] + b"ZZ" + line[3:]),
    "no tag": ("PARSE", lambda line: line[:1] + b"9" + line[2:]),
    "short": ("PARSE", lambda line: line[:2]),
    "too few": ("PARSE", lambda line: line.replace(b"|", b"", 1)),
    "too many": ("PARSE", lambda line: line + b"x|"),
    "not closed": ("PARSE", lambda line: line[:-1] + b"|tail"),
    "number": ("PARSE", lambda line: line[:3] + b"1x" + line[3:]),
    "huge": ("PARSE", lambda line: line[:3] + b"99999999999999999999" + line[3:]),
    "digits": ("PARSE", lambda line: line.replace(b"|1996", b"5|1996", 1)),
    "date": ("PARSE", lambda line: line.replace(b"1996-", b"1996-1", 1)),
    "utf8": ("PARSE", lambda line: line[:-1] + b"\xff\xfe|"),
    "return": ("PARSE", lambda line: line.replace(b"|", b"|\r1", 1)),
    "null key": ("NULL_KEY", lambda line: line[:3] + line[line.index(b"|") :]),
    "null": ("NOT_NULL", None),
}


def test_2000_bad_lines_are_refused_and_the_good_ones_kept(tmp_path: Path) -> None:
    rnd = random.Random(2024)
    lines: list[bytes] = []
    want, refused = [], []
    kinds = list(BAD)
    bad_at = set(rnd.sample(range(9000), 2000))
    for i in range(9000):
        line, row = order_line(rnd, i)
        if i in bad_at:
            kind = kinds[i % len(kinds)]
            reason, spoil = BAD[kind]
            if spoil is None:
                line = b"+" + line[1:].replace(line.split(b"|")[2], b"", 1)
            else:
                line = spoil(line)
            refused.append((reason, line.decode("utf-8", "replace")[:200]))
        else:
            want.append(row)
        lines.append(line)
    path = tmp_path / "u.txt"
    path.write_bytes(b"\n".join(lines) + b"\n")
    source = UpdateSequence(str(path), (ORDERS,), smallest=50_000)
    got, rejects, _ = read_all(source, [None])
    assert got["orders"] == want
    assert sorted((r, raw) for _, r, raw in rejects) == sorted(refused)
    assert len(rejects) == 2000
    small, again, _ = read_all(source, [250])
    assert small["orders"] == want
    assert sorted((r, raw) for _, r, raw in again) == sorted(refused)


def test_a_file_of_nothing_but_rubbish(tmp_path: Path) -> None:
    rnd = random.Random(3)
    path = tmp_path / "u.txt"
    lines = [bytes(rnd.choices([c for c in range(1, 256) if c != 10], k=30)) for _ in range(500)]
    path.write_bytes(b"\n".join(lines) + b"\n")
    _, rejects, _ = read_all(UpdateSequence(str(path), (ORDERS, REGION)), [None])
    assert len(rejects) == 500
    assert {reason for _, reason, _ in rejects} <= {"PARSE", "UNKNOWN_RELATION"}


def test_both_ways_of_reading_agree(tmp_path: Path) -> None:
    """Values at the edge of being right: read the same beside a bad line as without one."""
    wide = Relation(
        "wide",
        (Column("i", INT), Column("d", decimal(9, 3)), Column("f", DOUBLE), Column("b", BOOLEAN),
         Column("a", DATE), Column("t", TIMESTAMP), Column("s", STRING)),
    )  # fmt: skip
    numbers = ["1", " 1", "1 ", "\t-2", "+3", "", "0", "-0", "00012", "2147483647", "2147483648",
               "1.5", "1.50", "1.5000", "1.0005", "1e2", "1E-2", ".5", "5.", "-", "999999.999",
               "1000000", "nan", "NaN", "inf", "-Infinity", "1e400", "1_0", "١"]  # fmt: skip
    other = {
        "b": ["true", "TRUE", "True", "tRue", "false", "0", "1", "2", " true", "", "t"],
        "a": ["1996-01-01", " 1996-01-01 ", "1996-1-1", "19960101", "1996-02-30", "0001-01-01", ""],
        "t": ["1996-01-01", "1996-01-01 10:00:00", "1996-01-01T10:00:00.123456Z",
              "1996-01-01 10:00:00+02:00", "1996-01-01 25:00:00", "x", ""],
        "s": ["", " ", '"', "a", "é"],
    }  # fmt: skip
    columns = {"wide": tuple(c.name for c in wide.columns)}
    for k, name in enumerate(columns["wide"]):
        for value in other.get(name, numbers):
            fields = [""] * 7
            fields[k] = value
            line = ("+WI" + "|".join(fields) + "|\n").encode()
            outcomes = []
            for rest in (b"", b"+WIx|||||||\n"):
                path = tmp_path / "u.txt"
                path.write_bytes(line + rest)
                got, rejects, _ = read_all(UpdateSequence(str(path), (wide,)), [None], columns)
                outcomes.append((repr(got.get("wide")), [r for r in rejects if r[0] == 0]))
            assert outcomes[0] == outcomes[1], (name, value)


def test_tags() -> None:
    def relation(name: str, **options: str) -> Relation:
        return Relation(name, (Column("k", INT),), options=options)

    names = ["region", "nation", "part", "partsupp", "supplier", "customer", "orders", "lineitem"]
    tags = default_tags(tuple(relation(n) for n in names))
    assert sorted(tags) == ["CU", "LI", "NA", "OR", "PA", "PS", "RE", "RI", "SU"]
    assert sorted(default_tags((relation("posts", tag="PX,PY"),))) == ["PX", "PY"]
    with pytest.raises(InputError, match=r"posts and polls both have the tag PO(.|\n)*tag = 'PL'"):
        default_tags((relation("posts"), relation("polls")))
    with pytest.raises(InputError, match="two upper-case letters"):
        UpdateSequence("x", (relation("q"),))
    with pytest.raises(InputError, match="two upper-case letters"):
        UpdateSequence("x", {"abc": relation("q")})


def test_the_description_can_be_pickled_and_offsets_are_json(tmp_path: Path) -> None:
    source = UpdateSequence(str(tmp_path), {"OR": ORDERS, "XX": REGION})
    assert pickle.loads(pickle.dumps(source)) == source
    offset: Offset = source.initial()
    assert json.loads(json.dumps(offset)) == offset


def test_a_file_cut_short_stops_with_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "u.txt"
    path.write_bytes(b"+RE1|r|true|\n+RE2|r|true|\n")
    source = UpdateSequence(str(path), (REGION,))
    end = source.advance(source.initial(), None)
    path.write_bytes(b"+RE1|r|true|\n")
    with pytest.raises(InputError, match="has become shorter"):
        source.advance(end, None)
    with pytest.raises(InputError, match="has become shorter"):
        list(source.read(source.ranges(source.initial(), end)[0], COLUMNS))


def test_a_line_must_end_with_its_delimiter(tmp_path: Path) -> None:
    path = tmp_path / "u.txt"
    path.write_bytes(b"+RE1|r|true|tail\n")
    got, rejects, _ = read_all(UpdateSequence(str(path), (REGION,)), [None])
    assert (got["region"], rejects) == ([], [(0, "PARSE", "+RE1|r|true|tail")])
