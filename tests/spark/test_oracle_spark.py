"""The oracle against Spark's own batch answers: the same rows and the same types.

Doubles are compared to nine digits: Spark adds them up in some order, the oracle exactly.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from pyspark.sql import SparkSession

from everview.schema import Relation, Type
from tests.histories import case_of
from tests.oracle import Oracle, Row, canonical, compare, table_of

SEEDS = range(300_000, 300_025)


def spark_type(t: Type) -> str:
    names = {"STRING": "string", "DATE": "date", "DOUBLE": "double", "BOOLEAN": "boolean"}
    return names.get(t.name, str(t).lower())


def register(spark: SparkSession, relation: Relation, rows: list[Row]) -> None:
    spark.createDataFrame(table_of(relation, rows)).createOrReplaceTempView(relation.name)


def fullest(seed: int) -> tuple[Oracle, Counter[Row], dict[str, list[Row]]]:
    """The largest answer of a case, and the tables then."""
    case = case_of(seed)
    oracle = Oracle(case.schema, case.sql)
    best, tables = oracle.answer(), {n: b.content() for n, b in oracle.tables.items()}
    for epoch in case.batches():
        oracle.epoch(epoch)
        answer = oracle.answer()
        if answer.total() >= best.total():
            best, tables = answer, {n: b.content() for n, b in oracle.tables.items()}
    return oracle, best, tables


def blurred(answer: Counter[Row]) -> Counter[Row]:
    out: Counter[Row] = Counter()
    for row, n in answer.items():
        out[tuple(_blurred(v) for v in row)] += n
    return out


def _blurred(value: Any) -> Any:
    if isinstance(value, str) and "0x" in value[:3] and "p" in value:
        return f"{float.fromhex(value):.9g}"
    return value


def test_oracle_and_spark_agree(spark: SparkSession) -> None:
    rows = 0
    for seed in SEEDS:
        case = case_of(seed)
        oracle, expected, tables = fullest(seed)
        for relation in case.schema.relations:
            register(spark, relation, tables[relation.name])
        frame = spark.sql(case.sql)
        types = [f.dataType.simpleString() for f in frame.schema.fields]
        assert types == [spark_type(t) for _, t in oracle.query.columns if t], (
            f"seed {seed}: {case.sql}"
        )
        answer = Counter(tuple(canonical(v) for v in row) for row in frame.collect())
        wrong = compare(blurred(answer), blurred(expected))
        if wrong and not _overflowing(expected):
            pytest.fail(f"seed {seed}: {wrong}\n{case.sql}")
        rows += answer.total()
    assert rows > len(SEEDS)


def _overflowing(answer: Counter[Row]) -> bool:
    """Sums near the largest double: Spark's own may pass through infinity."""
    return any(isinstance(v, str) and "p+102" in v for row in answer for v in row)
