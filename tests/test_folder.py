"""Change folders: formats, names, change columns, exact values, refusals."""

from __future__ import annotations

import base64
import datetime as dt
import itertools
import json
import random
from decimal import Context, Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everview.connect.accept import ops_of
from everview.connect.contract import Offset
from everview.connect.files import Names
from everview.connect.folder import ChangeFolder, Format
from everview.connect.open import open_source, open_sources
from everview.connect.together import Together
from everview.connect.update_sequence import UpdateSequence
from everview.delta.vector import arrow_type
from everview.errors import ConfigError, InputError
from everview.schema import (
    BIGINT,
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
from tests.test_update_sequence import ORDERS, REGION, history, read_all

WIDE = Relation(
    "wide",
    (
        Column("id", BIGINT, False), Column("amount", decimal(38, 10)),
        Column("small", Type("TINYINT")), Column("day", DATE), Column("at", TIMESTAMP),
        Column("local", TIMESTAMP_NTZ),
        Column("f", DOUBLE), Column("g", FLOAT), Column("ok", BOOLEAN), Column("name", STRING),
        Column("raw", BINARY),
    ),
    key=("id",),
)  # fmt: skip
NAMES = [c.name for c in WIDE.columns]
ALL = {"wide": tuple(NAMES)}
FORMATS: list[Format] = ["csv", "json", "parquet"]


def random_rows(rnd: random.Random, count: int, *, newlines: bool = False) -> list[dict[str, Any]]:
    words = ["", "a", 'say "hi"', "a,b", "é\u2028ü😀", " spaced ", "'", "null", "x\ty"]
    if newlines:
        words += ["two\nlines", 'in\n"quotes"\r\nagain']
    rows = []
    for i in range(count):
        row: dict[str, Any] = {
            "id": i,
            "amount": Decimal(rnd.randrange(-(10**38) + 1, 10**38)).scaleb(-10, CONTEXT),
            "small": rnd.randrange(-128, 128),
            "day": dt.date.fromordinal(rnd.randrange(1, 3652059)),
            "at": EPOCH + dt.timedelta(microseconds=rnd.randrange(-(10**16), 10**16)),
            "local": EPOCH.replace(tzinfo=None) + dt.timedelta(microseconds=rnd.randrange(10**16)),
            "f": rnd.choice([rnd.random() * 10 ** rnd.randrange(-300, 300), -0.0, 1e22]),
            "g": rnd.choice([0.5, -1.25, 3.0]),
            "ok": rnd.random() < 0.5,
            "name": rnd.choice(words),
            "raw": rnd.randbytes(rnd.randrange(6)),
        }
        rows.append({n: None if n != "id" and rnd.random() < 0.1 else v for n, v in row.items()})
    return rows


EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
CONTEXT = Context(prec=60)


def field(value: Any, form: str) -> Any:
    """A value as it stands in a text file."""
    if value is None:
        return "" if form == "csv" else None
    if isinstance(value, bool):
        return str(value).lower() if form == "csv" else value
    if isinstance(value, bytes):
        return field(base64.b64encode(value).decode(), form)
    if isinstance(value, (dt.date, dt.datetime)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, (int, float)):
        return repr(value) if form == "csv" else value
    return '"' + value.replace('"', '""') + '"' if form == "csv" else value


def write(path: Path, rows: list[dict[str, Any]], form: Format, *, header: bool = True) -> None:
    hidden = path.with_name("." + path.name)
    names = list(rows[0]) if rows else NAMES
    if form == "csv":
        lines = [",".join(names)] if header else []
        lines += [",".join(field(r[n], form) for n in names) for r in rows]
        hidden.write_bytes("".join(line + "\n" for line in lines).encode())
    elif form == "json":
        lines = [json.dumps({n: field(v, form) for n, v in r.items()}) for r in rows]
        hidden.write_bytes("".join(line + "\n" for line in lines).encode())
    else:
        types = {c.name: arrow_type(c.type) for c in WIDE.columns}
        table = pa.table({n: pa.array([r[n] for r in rows], types.get(n)) for n in names})
        pq.write_table(table, hidden, row_group_size=40)
    hidden.rename(path)


def tuples(rows: list[dict[str, Any]], op: int = 1) -> list[tuple[Any, ...]]:
    return [(op, *(r[n] for n in NAMES)) for r in rows]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("limits", [[None], [1, 90, 33], [13]])
def test_every_value_exactly_for_any_limits(
    tmp_path: Path, form: Format, limits: list[int | None]
) -> None:
    rows = random_rows(random.Random(1), 230)
    for i, (a, b) in enumerate([(0, 100), (100, 100), (100, 230)]):
        write(tmp_path / f"part-{i}.{form}", rows[a:b], form)
    source = ChangeFolder(str(tmp_path), WIDE, form, smallest=600)
    got, rejects, sizes = read_all(source, limits, ALL)
    assert rejects == []
    assert got["wide"] == tuples(rows)
    assert limits != [13] or max(sizes) == 13


def test_csv_with_line_ends_in_quotes(tmp_path: Path) -> None:
    rows = random_rows(random.Random(2), 120, newlines=True)
    write(tmp_path / "1.csv", rows[:60], "csv")
    write(tmp_path / "2.csv", rows[60:], "csv")
    source = ChangeFolder(str(tmp_path), WIDE, "csv", newlines=True)
    got, rejects, sizes = read_all(source, [10], ALL)
    assert (got["wide"], rejects, sizes) == (tuples(rows), [], [60, 60])
    bad = (tmp_path / "1.csv").read_bytes() + b'zz,"a\nb",1\n'
    (tmp_path / "1.csv").write_bytes(bad)
    got, rejects, _ = read_all(source, [None], ALL)
    assert got["wide"] == tuples(rows)
    assert [(r, raw) for _, r, raw in rejects] == [("PARSE", 'zz,"a\nb",1')]


def test_csv_without_header_and_with_other_delimiter(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b'1;"x;""y";true;-\r\n\r\n2;;;+\r\n')
    source = ChangeFolder(str(tmp_path), REGION, "csv", "op", ";", header=False)
    got, rejects, _ = read_all(source, [None])
    assert (got["region"], rejects) == ([(-1, 1, 'x;"y', True), (1, 2, None, None)], [])


@pytest.mark.parametrize("form", FORMATS)
def test_columns_by_name_others_ignored_missing_null(tmp_path: Path, form: Format) -> None:
    rows = [{"extra": "e", "R_NAME": "n", "r_regionkey": 7, "CHANGE": "insert"}]
    if form == "parquet":
        pq.write_table(pa.table({n: [r[n] for r in rows] for n in rows[0]}), tmp_path / "a.parquet")
    else:
        write(tmp_path / f"a.{form}", rows, form)
    source = ChangeFolder(str(tmp_path), REGION, form, "change")
    got, rejects, _ = read_all(source, [None])
    assert (got["region"], rejects) == ([(1, 7, "n", None)], [])
    got, _, _ = read_all(source, [None], {"region": ("r_ok",)})
    assert got["region"] == [(1, None)]
    lacking = ChangeFolder(str(tmp_path), REGION, form, "change_type")
    assert [r[1] for r in read_all(lacking, [None])[1]] == ["UNKNOWN_CHANGE"]


@pytest.mark.parametrize("form", FORMATS)
def test_change_words(tmp_path: Path, form: Format) -> None:
    words = {"+": 1, "-": -1, "I": 1, "U": 2, "D": -1, "insert": 1, "update": 2, "delete": -1,
             "c": 1, "u": 2, "d": -1, "r": 1, "update_preimage": -1, "update_postimage": 1,
             "+1": 1, "-1": -1, "+I": 1, "-U": -1, "+U": 1, "-D": -1, "INSERT": 1}  # fmt: skip
    rows = [{"r_regionkey": i, "_change_type": w} for i, w in enumerate([*words, "x", None, ""])]
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    else:
        write(tmp_path / f"a.{form}", rows, form)
    source = ChangeFolder(str(tmp_path), REGION, form, "_change_type")
    got, rejects, _ = read_all(source, [None], {"region": ("r_regionkey",)})
    assert [op for op, _ in got["region"]] == list(words.values())
    assert [reason for _, reason, _ in rejects] == ["UNKNOWN_CHANGE"] * 3


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_numbers_as_changes(tmp_path: Path, form: Format) -> None:
    rows = [{"r_regionkey": i, "w": w} for i, w in enumerate([1, -1, 1, 3])]
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    else:
        write(tmp_path / "a.json", rows, "json")
    source = ChangeFolder(str(tmp_path), REGION, form, "w")
    got, rejects, _ = read_all(source, [None], {"region": ("r_regionkey",)})
    assert got["region"] == [(1, 0), (-1, 1), (1, 2)]
    assert [r[1] for r in rejects] == ["UNKNOWN_CHANGE"]


def test_an_update_by_key_needs_a_key() -> None:
    keyless = Relation("log", REGION.columns)
    op, unknown = ops_of(pa.array(["U", "I"]).dictionary_encode(), keyless)
    assert op.tolist() == [0, 1]
    assert unknown is not None
    assert unknown.tolist() == [True, False]


def test_a_deletion_needs_its_key_only(tmp_path: Path) -> None:
    strict = Relation("region", (*REGION.columns[:1], Column("r_name", STRING, False)), REGION.key)
    (tmp_path / "a.csv").write_bytes(b"r_regionkey,r_name,op\n1,,D\n,x,D\n2,,I\n3,n,U\n4,,U\n")
    for relation, kept, reasons in (
        (strict, [(-1, 1, None), (2, 3, "n")], ["NULL_KEY", "NOT_NULL", "NOT_NULL"]),
        (Relation("region", strict.columns), [], ["NOT_NULL"] * 3 + ["UNKNOWN_CHANGE"] * 2),
    ):
        source = ChangeFolder(str(tmp_path), relation, "csv", "op")
        got, rejects, _ = read_all(source, [None], {"region": ("r_regionkey", "r_name")})
        assert got["region"] == kept
        assert sorted(r[1] for r in rejects) == sorted(reasons)


# ------------------------------------------------------------------------------------------- names


def test_files_come_in_name_order_and_late_ones_are_not_lost(tmp_path: Path) -> None:
    source = ChangeFolder(str(tmp_path), REGION, "csv")
    wanted = {"region": ("r_regionkey",)}

    def put(name: str, *keys: int) -> None:
        (tmp_path / name).write_text("r_regionkey\n" + "".join(f"{k}\n" for k in keys))

    def epoch(offset: Offset, limit: int | None = None) -> tuple[Offset, list[int]]:
        after = json.loads(json.dumps(source.advance(offset, limit)))
        put(f"z{len(list(tmp_path.iterdir())):03d}.csv", 999)  # comes too late for this epoch
        pieces = source.ranges(offset, after)
        assert [p.segment for p in pieces] == sorted(p.segment for p in pieces)
        (tmp_path / f"z{len(list(tmp_path.iterdir())) - 1:03d}.csv").unlink()
        keys = [c.batch.column(0).to_pylist() for p in pieces for c in source.read(p, wanted)]
        return after, list(itertools.chain(*keys))

    put("b10.csv", 10, 11)
    put("b09.csv", 9)
    put("_hidden.csv", 1)
    put(".hidden.csv", 2)
    put("x.tmp", 3)
    put(".b09.csv.crc", 4)
    at, keys = epoch(source.initial(), 2)
    assert keys == [9, 10]
    put("a.csv", 0, 1)
    put("b095.csv", 95)
    at, keys = epoch(at, 3)
    assert keys == [0, 1, 95]
    at, keys = epoch(at)
    assert keys == [11]
    put("b01.csv", 5)
    put("c.csv", 6)
    at, keys = epoch(at)
    assert keys == [5, 6]
    (tmp_path / "b09.csv").unlink()
    at, keys = epoch(at)
    assert keys == []
    assert source.advance(at, None) == at


def test_file_names_as_a_set() -> None:
    rnd = random.Random(4)
    pool = (
        [f"a-{i:03d}.csv" for i in range(60)] + [f"u{i}" for i in range(40)] + ["x", "y.z", "007"]
    )
    for _ in range(50):
        first = set(rnd.sample(pool, rnd.randrange(len(pool))))
        second = first | set(rnd.sample(pool, rnd.randrange(len(pool))))
        sets = []
        for chosen in (first, second):
            names = Names()
            for name in rnd.sample(sorted(chosen), len(chosen)):
                names.add(name)
            sets.append(Names.from_json(json.loads(json.dumps(names.to_json()))))
        assert [n for n in pool if n in sets[0]] == [n for n in pool if n in first]
        assert sorted(sets[1].minus(sets[0])) == sorted(second - first)
    many = Names()
    for i in range(5000):
        many.add(f"part-{i:05d}.parquet")
    assert len(json.dumps(many.to_json())) < 60


def test_one_file_and_globs(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("in/a.csv", "in/b.csv", "in/c.txt"):
        (tmp_path / name).write_text("r_regionkey\n1\n")
    wanted = {"region": ("r_regionkey",)}
    for path, count in (("in/a.csv", 1), ("in/*.csv", 2), ("*/*", 3), ("in", 3), ("none", 0)):
        source = ChangeFolder(str(tmp_path / path), REGION, "csv")
        got, _, _ = read_all(source, [1], wanted)
        assert len(got.get("region", [])) == count, path


# ------------------------------------------------------------------------------------------ values


def test_json_digits_do_not_pass_through_floats(tmp_path: Path) -> None:
    digits = "1234567890123456789012345678.0123456789"
    lines = [
        f'{{"id": 9007199254740993, "amount": {digits}}}',
        f'{{"id": "9007199254740993", "amount": "{digits}"}}',  # as text: the slow way
        f'{{"id": 3, "amount": -{digits}, "unknown": {{"a": [1, 2]}}}}',
    ]
    for chosen in (lines, lines[:1], lines[2:]):
        (tmp_path / "a.json").write_text("\n".join(chosen))
        got, rejects, _ = read_all(ChangeFolder(str(tmp_path), WIDE, "json"), [None], ALL)
        assert rejects == []
        assert all(row[2].copy_abs() == Decimal(digits) for row in got["wide"])
        assert got["wide"][0][1] in (9007199254740993, 3)
    assert len(got["wide"]) == 1


def test_json_faults_are_refused_one_by_one(tmp_path: Path) -> None:
    bad = [
        b'{"id": 1', b"[1]", b"7", b'{"id": 1.5}', b'{"id": true}', b'{"id": 1, "id": 2}',
        b'{"id": 1, "name": 5}', b'{"id": 1, "name": {"a": 1}}', b'{"id": 1, "name": "\xff"}',
        b'{"id": 1, "ok": "true"}', b'{"id": 1, "small": 128}', b'{"id": 1, "day": "1996-02-30"}',
        b'{"id": 1, "amount": 0.12345678901}', b'{"id": 1, "amount": 1e29}', b'{"id": 1} {"id": 2}',
        b'{"id": 1, "at": "noon"}', b'{"id": 1, "local": "1996-01-01T00:00:00Z"}',
        b'{"id": 1, "raw": "***"}', b'{"id": 1, "name": "\\ud83d"}', b'{"id": 9223372036854775808}',
    ]  # fmt: skip
    good = [json.dumps({"id": i, "name": f"n{i}"}).encode() for i in range(600)]
    lines = list(good)
    for i, line in enumerate(bad):
        lines.insert(i * 31, line)
    (tmp_path / "a.json").write_bytes(b"\n".join([*lines[:50], b"", *lines[50:]]))
    got, rejects, _ = read_all(ChangeFolder(str(tmp_path), WIDE, "json"), [None], ALL)
    assert [row[1] for row in got["wide"]] == list(range(600))
    assert [r[1] for r in rejects] == ["PARSE"] * len(bad)
    assert [r[2] for r in rejects] == [b.decode("utf-8", "replace") for b in bad]
    for line in bad:  # each alone as well
        (tmp_path / "a.json").write_bytes(line + b"\n")
        got, rejects, _ = read_all(ChangeFolder(str(tmp_path), WIDE, "json"), [None], ALL)
        assert (got.get("wide", []), len(rejects)) == ([], 1), line


def test_2000_bad_csv_lines_are_refused_and_the_good_ones_kept(tmp_path: Path) -> None:
    rnd = random.Random(7)
    rows = random_rows(rnd, 6000)
    for row in rows:
        row["amount"], row["f"] = Decimal(row["id"]) / 4, 0.5
    write(tmp_path / "a.csv", rows, "csv")
    header, *lines = (tmp_path / "a.csv").read_bytes().split(b"\n")[:-1]
    spoil = [
        lambda s: s + b",", lambda s: s.replace(b",", b"", 1), lambda s: b"x" + s,
        lambda s: s + b'"', lambda s: b'"' + s.replace(b'"', b""), lambda s: s[:-1] + b"\xff,",
        lambda s: s.replace(b",", b",1e99", 1), lambda s: s.replace(b",", b",\r", 1),
    ]  # fmt: skip
    reasons, want = 0, []
    chosen = set(rnd.sample(range(6000), 2000))
    for i in range(6000):
        if i in chosen:
            lines[i] = spoil[i % len(spoil)](lines[i])
            reasons += 1
        else:
            want.append(rows[i]["id"])
    (tmp_path / "a.csv").write_bytes(b"\n".join([header, *lines]))
    source = ChangeFolder(str(tmp_path), WIDE, "csv", smallest=40_000)
    for limits in ([None], [700]):
        got, rejects, _ = read_all(source, list(limits), ALL)
        assert [r[1] for r in got["wide"]] == want
        assert {r[1] for r in rejects} == {"PARSE"}
        assert [r[2] for r in rejects] == [
            lines[i].decode("utf-8", "replace")[:200] for i in sorted(chosen)
        ]


def test_quoted_fields_read_the_same_both_ways(tmp_path: Path) -> None:
    rnd = random.Random(8)
    three = Relation("t", tuple(Column(n, STRING) for n in "abc"))
    columns = {"t": ("a", "b", "c")}
    for _ in range(400):
        line = "".join(rnd.choices('",,ab ', k=rnd.randrange(1, 12))).encode() + b"\n"
        outcomes = []
        for rest in (b"", b"x\n"):
            (tmp_path / "a.csv").write_bytes(line + rest)
            source = ChangeFolder(str(tmp_path), three, "csv", header=False)
            got, rejects, _ = read_all(source, [None], columns)
            outcomes.append((got.get("t", []), [r for r in rejects if r[0] == 0]))
        assert outcomes[0] == outcomes[1], line


def parquet_column(tmp_path: Path, array: pa.Array, column: Column) -> tuple[list[Any], list[str]]:
    relation = Relation("t", (column,))
    pq.write_table(pa.table({column.name: array}), tmp_path / "a.parquet")
    source = ChangeFolder(str(tmp_path), relation, "parquet", zone="Europe/Berlin")
    got, rejects, _ = read_all(source, [None], {"t": (column.name,)})
    return [row[1] for row in got.get("t", [])], [r[1] for r in rejects]


def test_parquet_columns_become_the_declared_types_exactly(tmp_path: Path) -> None:
    def t(array: pa.Array, type: Type) -> tuple[list[Any], int]:
        got, rejects = parquet_column(tmp_path, array, Column("c", type))
        assert set(rejects) <= {"PARSE"}
        return got, len(rejects)

    money = decimal(15, 2)
    assert t(pa.array([0.1, 1e20, 2.675, None]), money) == ([Decimal("0.10"), None], 2)
    assert t(pa.array([0.1], pa.float32()), money) == ([Decimal("0.10")], 0)
    assert t(pa.array([2**62, 7]), money) == ([Decimal(7)], 1)
    assert t(pa.array([10**38 - 1], pa.decimal128(38, 0)), decimal(38, 0)) == ([10**38 - 1], 0)
    assert t(pa.array([Decimal("1.250")], pa.decimal128(9, 3)), money) == ([Decimal("1.25")], 0)
    assert t(pa.array([Decimal("1.255")], pa.decimal128(9, 3)), money) == ([], 1)
    assert t(pa.array([1, 300]), Type("TINYINT")) == ([1], 1)
    assert t(pa.array([2**63], pa.uint64()), BIGINT) == ([], 1)
    assert t(pa.array([2.0, 2.5]), INT) == ([2], 1)
    assert t(pa.array([2**53, 2**53 + 1]), DOUBLE) == ([2.0**53], 1)
    assert t(pa.array([b"a", b"\xff"]), STRING) == (["a"], 1)
    assert t(pa.array(["a"] * 3).dictionary_encode(), STRING) == (["a"] * 3, 0)
    assert t(pa.array(["1.50", "x"]), money) == ([Decimal("1.50")], 1)
    noon = dt.datetime(2024, 7, 1, 12)
    assert t(pa.array([noon]), TIMESTAMP_NTZ) == ([noon], 0)
    assert t(pa.array([noon]), TIMESTAMP) == ([dt.datetime(2024, 7, 1, 10, tzinfo=dt.UTC)], 0)
    assert t(pa.array([1_500], pa.timestamp("ns")), TIMESTAMP_NTZ) == ([], 1)
    gap = dt.datetime(2024, 3, 31, 2, 30)  # does not exist in Berlin
    assert t(pa.array([gap, noon]), TIMESTAMP)[1] == 1
    assert t(pa.array([noon, dt.datetime(2024, 7, 2)]), DATE) == ([dt.date(2024, 7, 2)], 1)
    assert t(pa.nulls(2), money) == ([None, None], 0)
    with pytest.raises(InputError, match="column c is double in the file and declared FLOAT"):
        t(pa.array([0.1]), FLOAT)
    with pytest.raises(InputError, match="column c is int64 in the file and declared DATE"):
        t(pa.array([1]), DATE)


def test_parquet_ranges_read_every_row_once(tmp_path: Path) -> None:
    ids = list(range(1000))
    pq.write_table(pa.table({"r_regionkey": ids}), tmp_path / "a.parquet", row_group_size=130)
    source = ChangeFolder(str(tmp_path), REGION, "parquet", smallest=160, tasks=7)
    at = source.advance(source.initial(), 450)
    pieces = source.ranges(source.initial(), at)
    assert len(pieces) == 7
    for limits in ([None], [1, 2, 3, 400], [77]):
        got, _, sizes = read_all(source, list(limits), {"region": ("r_regionkey",)})
        assert [k for _, k in got["region"]] == ids
        assert sum(sizes) == 1000
    assert len(read_all(source, [77], {"region": ("r_name",)})[0]["region"]) == 1000


def test_what_is_no_parquet_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 not really")
    source = ChangeFolder(str(tmp_path), REGION, "parquet")
    with pytest.raises(InputError, match=r"a\.parquet is not a whole Parquet file"):
        source.advance(source.initial(), None)


def test_an_admitted_file_that_is_gone_is_named(tmp_path: Path) -> None:
    for form in FORMATS:
        path = tmp_path / f"a.{form}"
        write(path, random_rows(random.Random(1), 3), form)
        source = ChangeFolder(str(tmp_path / "*"), WIDE, form)
        end = source.advance(source.initial(), None)
        pieces = source.ranges(source.initial(), end)
        path.unlink()
        with pytest.raises(InputError, match="is not there any more"):
            list(source.read(pieces[0], ALL))


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_that_goes_half_read_is_not_passed_over(tmp_path: Path, form: Format) -> None:
    write(tmp_path / "a", random_rows(random.Random(1), 9), form)
    source = ChangeFolder(str(tmp_path), WIDE, form)
    half = source.advance(source.initial(), 4)
    (tmp_path / "a").unlink()
    with pytest.raises(InputError, match="is not there any more"):
        source.advance(half, None)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_byte_order_mark_is_no_data(tmp_path: Path, form: Format) -> None:
    rows = random_rows(random.Random(5), 5)
    write(tmp_path / "a", rows, form)
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "a").read_bytes())
    for newlines in (False, True):
        source = ChangeFolder(str(tmp_path), WIDE, form, newlines=newlines)
        got, rejects, _ = read_all(source, [None], ALL)
        assert (got["wide"], rejects) == (tuples(rows), [])


def test_the_change_column_is_no_column_of_the_relation(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="r_name is both the change column and a column"):
        ChangeFolder(str(tmp_path), REGION, "csv", "r_name")


# --------------------------------------------------------------------------------- several sources


def test_together_is_the_sum_of_its_sources_and_starves_none(tmp_path: Path) -> None:
    lines, want = history(random.Random(11), 200)
    (tmp_path / "u.txt").write_bytes(b"\n".join([*lines[:90], b"*", *lines[90:]]) + b"\n")
    rows = random_rows(random.Random(12), 40)
    for i in range(4):
        (tmp_path / "wide").mkdir(exist_ok=True)
        write(tmp_path / "wide" / f"{i}.json", rows[10 * i : 10 * i + 10], "json")
    mixed = UpdateSequence(str(tmp_path / "u.txt"), (ORDERS, REGION))
    wide = ChangeFolder(str(tmp_path / "wide"), WIDE, "json")
    source = Together((mixed, wide))
    columns = {**ALL, "orders": tuple(c.name for c in ORDERS.columns),
               "region": tuple(c.name for c in REGION.columns)}  # fmt: skip
    for limits, first in (([None], [130, 110]), ([60], [60, 60, 10, 60, 50]), ([3], [3, 3])):
        got, rejects, sizes = read_all(source, list(limits), columns)
        assert rejects == []
        assert got == {**want, "wide": tuples(rows)}
        assert sizes[: len(first)] == first
    pieces = source.ranges(source.initial(), source.advance(source.initial(), 20))
    assert [(p.segment, p.relation) for p in pieces] == [
        ("0000/u.txt", ""), ("0001/0.json", "wide"),
    ]  # fmt: skip


# -------------------------------------------------------------------------------------- the options


def test_sources_from_options(tmp_path: Path) -> None:
    def relation(**options: str) -> Relation:
        return Relation("region", REGION.columns, REGION.key, options=options)

    source = open_source(
        relation(connector="csv", path="in", change_column="op", delimiter="\\t", header="FALSE"),
        tmp_path,
    )
    assert isinstance(source, ChangeFolder)
    assert (source.path, source.delimiter, source.header) == (str(tmp_path / "in"), "\t", False)
    source = open_source(relation(connector="update-sequence", path="u.txt", tag="XX"), tmp_path)
    assert isinstance(source, UpdateSequence)
    assert list(source.tags()) == ["XX"]
    both = open_sources(
        [relation(connector="update-sequence", path="u"),
         Relation("orders", ORDERS.columns, options={"connector": "update-sequence", "path": "u"}),
         Relation("x", REGION.columns, options={"connector": "hand", "path": "x"})],
        tmp_path,
    )  # fmt: skip
    assert len(both.sources) == 2
    refused = {
        "names no connector": {},
        "no connector 'parket'(.|\n)*did you mean 'parquet'": {"connector": "parket"},
        "has no option 'delimeter'(.|\n)*did you mean 'delimiter'": {
            "connector": "csv", "delimeter": ";"},
        "names no path": {"connector": "json"},
        "header = 'maybe' makes no sense": {"connector": "csv", "path": "p", "header": "maybe"},
        "tasks = '0' makes no sense": {"connector": "json", "path": "p", "tasks": "0"},
        "delimiter = ',,' makes no sense": {"connector": "csv", "path": "p", "delimiter": ",,"},
        "zone = 'Mars/X' makes no sense": {"connector": "json", "path": "p", "zone": "Mars/X"},
    }  # fmt: skip
    for message, options in refused.items():
        with pytest.raises(ConfigError, match=message):
            open_source(relation(**options), tmp_path)


def test_faults_that_make_up_for_each_other_are_seen(tmp_path: Path) -> None:
    """Two lines that a stray quote joins, one that a carriage return cuts: three rows for three."""
    two = Relation("t", (Column("a", STRING), Column("b", STRING)))
    lines = [b'a,"x', b'y"', b"1,2\r3,4"]
    (tmp_path / "a.csv").write_bytes(b"\n".join(lines) + b"\n")
    source = ChangeFolder(str(tmp_path), two, "csv", header=False)
    got, rejects, _ = read_all(source, [None], {"t": ("a", "b")})
    assert got["t"] == []
    assert [raw for _, _, raw in rejects] == [line.decode() for line in lines]


def test_what_an_epoch_reads_is_settled_when_it_is_planned(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for i in range(6):
            (tmp_path / name / f"{i}.csv").write_text("r_regionkey\n1\n2\n")
    (tmp_path / "a" / "5.csv").unlink()
    source = Together(
        tuple(ChangeFolder(str(tmp_path / name), REGION, "csv") for name in ("a", "b"))
    )
    start = source.initial()
    end = source.advance(start, 21)  # in several rounds: `a` has 10 rows, `b` gives the other 11
    pieces = source.ranges(start, end)
    for path in tmp_path.glob("*/*.csv"):
        with path.open("a") as file:
            file.write("3\n")
    assert source.ranges(start, end) == pieces
    keys = [k for p in pieces for c in source.read(p, {"region": ("r_regionkey",)})
            for k in c.batch.column(0).to_pylist()]  # fmt: skip
    assert keys == [1, 2] * 10 + [1]


@pytest.mark.parametrize("slow", [False, True])
def test_json_names_are_read_in_any_case_object_by_object(tmp_path: Path, slow: bool) -> None:
    """A writer that leaves NULLs out names a field only where it has a value."""
    rows = [
        {"R_RegionKey": 1}, {"R_RegionKey": 2, "r_NAME": "b"}, {"r_regionkey": 3, "R_NAME": None},
        {"r_regionkey": 4, "r_name": "d", "R_NAME": None, "Op": "-"}, {"r_regionkey": 5, "OP": "u"},
    ]  # fmt: skip
    lines = [json.dumps(r) for r in rows]
    if slow:
        lines.append('{"r_regionkey": 6, "r_name": "x", "R_NAME": "y"}')  # which one?
    (tmp_path / "a.json").write_text("\n".join(lines))
    source = ChangeFolder(str(tmp_path), REGION, "json", "op")
    got, rejects, _ = read_all(source, [None], {"region": ("r_regionkey", "r_name")})
    assert got["region"] == [(-1, 4, "d"), (2, 5, None)]
    assert [r[1] for r in rejects] == ["UNKNOWN_CHANGE"] * 3 + ["PARSE"] * slow
    plain = ChangeFolder(str(tmp_path), REGION, "json")
    got, rejects, _ = read_all(plain, [None], {"region": ("r_regionkey", "r_name")})
    assert got["region"] == [(1, 1, None), (1, 2, "b"), (1, 3, None), (1, 4, "d"), (1, 5, None)]
    assert len(rejects) == slow


def test_files_that_are_none_of_the_relation_are_named(tmp_path: Path) -> None:
    """Read as they are, they would be nothing but NULLs, or nothing at all."""
    keyless = Relation("visit", (Column("page", STRING), Column("at", INT)))
    lines = "page,at,other\na,1,x\n"
    for name, text, form, code in (
        ("a.csv", lines.replace(",", ";"), "csv", "INPUT.COLUMN"),
        ("b.csv", lines.replace("\n", "\r"), "csv", "INPUT.LINE_ENDS"),
        ("c.csv.gz", lines, "csv", "INPUT.COMPRESSED"),
        ("d.json.zst", '{"page": "a"}', "json", "INPUT.COMPRESSED"),
    ):
        (tmp_path / name).write_text(text)
        source = ChangeFolder(str(tmp_path / name), keyless, form)
        with pytest.raises(InputError) as refused:
            read_all(source, [None], {"visit": ("page",)})
        assert (refused.value.code, name in refused.value.message) == (code, True)
    pq.write_table(pa.table({"other": ["x"]}), tmp_path / "e.parquet")
    source = ChangeFolder(str(tmp_path / "e.parquet"), keyless, "parquet")
    with pytest.raises(InputError, match=r"INPUT\.COLUMN"):
        read_all(source, [None], {"visit": ()})
    pq.write_table(pa.table({"PAGE": ["x"]}), tmp_path / "f.parquet")
    source = ChangeFolder(str(tmp_path / "f.parquet"), keyless, "parquet")
    assert read_all(source, [None], {"visit": ("at",)})[0]["visit"] == [(1, None)]


def test_a_change_column_without_words_refuses_its_rows(tmp_path: Path) -> None:
    pq.write_table(pa.table({"r_regionkey": [1, 2], "op": [["+"], []]}), tmp_path / "a.parquet")
    source = ChangeFolder(str(tmp_path), REGION, "parquet", "op")
    _, rejects, _ = read_all(source, [None])
    assert [r[1] for r in rejects] == ["UNKNOWN_CHANGE"] * 2
