"""`evaluate` against Spark SQL itself: the same expressions over the same rows, values and types.

Each entry of a list is Spark's text and our Expr. All entries of a list run in one Spark job over
rows of edge cases and random values; every result must be equal, bit for bit for floats. What Spark
refuses (overflow, division by zero, malformed casts) must be refused here as well.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from everview.delta.evaluate import evaluate
from everview.delta.vector import Vector
from everview.errors import EverviewError
from everview.expr import FUNCTIONS, Call, Expr, Ref
from tests.spark.expression_constants import ACCEPTED, REFUSED
from tests.spark.expression_pairs import GROUPS
from tests.spark.expression_rows import COLUMNS, rows

pytestmark = pytest.mark.spark


def checked(
    spark: SparkSession, table: pa.Table, path: Path, pairs: list[tuple[str, Expr]], zone: str
) -> None:
    """Every expression gives what Spark gives, in type and value, on every row."""
    pq.write_table(table, path / "rows.parquet")
    frame = spark.read.parquet(str(path / "rows.parquet")).orderBy("id")
    assert frame.schema["tn"].dataType.simpleString() == "timestamp_ntz"
    # Otherwise Spark computes what two expressions share even where AND does not reach it.
    spark.conf.set("spark.sql.subexpressionElimination.skipForShortcutExpr", "true")
    answer = frame.selectExpr(*(f"{sql} as c{k}" for k, (sql, _) in enumerate(pairs))).toArrow()
    columns = {n: Vector.from_arrow(table.column(n), t) for n, t in COLUMNS.items()}
    differences = []
    for k, (sql, expr) in enumerate(pairs):
        theirs = answer.column(k).combine_chunks()
        got = evaluate(expr, columns, table.num_rows, zone=zone)
        assert got.type == expr.type
        ours = got.to_arrow()
        ours.validate(full=True)
        if pa.types.is_timestamp(theirs.type) and theirs.type.tz:
            theirs = theirs.cast(pa.timestamp("us", tz="UTC"))
        if ours.type != theirs.type:
            differences.append(f"{sql}: type {ours.type}, Spark {theirs.type}")
            continue
        for row, (a, b) in enumerate(
            zip(
                ours.cast(_plain(ours.type)).to_pylist(),
                theirs.cast(_plain(theirs.type)).to_pylist(),
                strict=True,
            )
        ):
            if repr(a) != repr(b):
                inputs = {r: table.column(r)[row].as_py() for r in _names(expr)}
                differences.append(f"{sql}: {a!r}, Spark {b!r} for {inputs}")
                break
    assert not differences, "\n".join(differences)


def _plain(t: pa.DataType) -> pa.DataType:
    """Types whose Python values cannot hold all of theirs are compared as integers."""
    if pa.types.is_timestamp(t):
        return pa.int64()
    return pa.int32() if pa.types.is_date(t) else t


def _names(expr: Expr) -> set[str]:
    if isinstance(expr, Ref):
        return {expr.name}
    return {n for a in expr.args for n in _names(a)} if isinstance(expr, Call) else set()


def _operations(expr: Expr) -> set[str]:
    if not isinstance(expr, Call):
        return set()
    return {expr.op}.union(*(_operations(a) for a in expr.args))


def test_the_lists_hold_every_function() -> None:
    held = {op for group in GROUPS.values() for _, expr in group() for op in _operations(expr)}
    assert held == set(FUNCTIONS)


@pytest.mark.parametrize("group", GROUPS)
def test_equal_to_spark(group: str, spark: SparkSession, tmp_path: Path) -> None:
    checked(spark, rows(), tmp_path, GROUPS[group](), "UTC")


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"])
def test_equal_to_spark_in_other_zones(zone: str, spark: SparkSession, tmp_path: Path) -> None:
    zoned = {n for n, t in COLUMNS.items() if t.name in ("TIMESTAMP", "DATE")} | {"stamp"}
    groups = (GROUPS["dates"], GROUPS["casts"], GROUPS["comparisons"])
    pairs = [(sql, e) for group in groups for sql, e in group() if zoned & _names(e)]
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        checked(spark, rows(seed=11), tmp_path, pairs, zone)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_spark_refuses_the_same(spark: SparkSession) -> None:
    frame = spark.range(1).selectExpr(f"int({2**31 - 1}) as x", f"{'9' * 38} as y38")
    for sql, expr, code in REFUSED:
        with pytest.raises(Exception) as theirs:  # noqa: PT011
            frame.selectExpr(sql).collect()
        assert "SQLSTATE: 22" in str(theirs.value), f"{sql}: {theirs.value}"
        with pytest.raises(EverviewError) as ours:
            evaluate(expr, {}, 1)
        assert ours.value.code == code, sql


def test_constants_are_equal_to_spark(spark: SparkSession) -> None:
    answer = (
        spark.range(1).selectExpr(*(f"{s} as c{k}" for k, (s, _) in enumerate(ACCEPTED))).toArrow()
    )
    for k, (sql, expr) in enumerate(ACCEPTED):
        ours = evaluate(expr, {}, 1).to_arrow()
        theirs = answer.column(k).combine_chunks()
        plain = _plain(ours.type)
        assert repr(ours.cast(plain).to_pylist()) == repr(theirs.cast(plain).to_pylist()), sql
