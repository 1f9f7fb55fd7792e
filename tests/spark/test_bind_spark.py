"""SQL expressions bound by us against Spark SQL itself: the same text, type and values.

`bound_texts.txt` holds expressions, an empty line, and expressions that have no type.

What `sql` makes of a text (types, coercions, constants) is evaluated and compared with what Spark
makes of it, row by row; what Spark refuses to type must be refused here as well.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from everview.errors import EverviewError
from everview.expr import Expr, Ref, rename
from everview.plan.node import Project
from everview.plan.rules.simplify import simplified
from everview.schema import BIGINT, Column, Relation, Schema
from everview.sql.script import read_view
from tests.spark.expression_rows import COLUMNS, rows
from tests.spark.test_evaluate_spark import checked

pytestmark = pytest.mark.spark

SCHEMA = Schema(
    (
        Relation(
            "rows",
            (Column("id", BIGINT), *(Column(n, t) for n, t in COLUMNS.items())),
        ),
    )
)

FILE = Path(__file__).parent / "bound_texts.txt"
BOUND, REFUSED = (part.split("\n") for part in FILE.read_text().rstrip("\n").split("\n\n"))


def bound(text: str) -> Expr:
    """The expression over plain column names, constants folded as in any plan."""
    plan = read_view("v", f"SELECT {text} AS x FROM rows", SCHEMA)
    assert isinstance(plan.root, Project)
    plain = {f"rows.{c.name}": Ref(c.name, c.type) for c in SCHEMA.relations[0].columns}
    return simplified(rename(plan.root.columns[0].value, plain))


def test_bound_texts_are_what_spark_makes_of_them(spark: SparkSession, tmp_path: Path) -> None:
    pairs = [(text, bound(text)) for text in BOUND]
    assert len(pairs) > 200
    checked(spark, rows(), tmp_path, pairs, "UTC")


@pytest.mark.parametrize("text", REFUSED)
def test_spark_refuses_the_same_texts(text: str, spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(EverviewError):
        bound(text)
    pq.write_table(rows(1), tmp_path / "rows.parquet")
    frame = spark.read.parquet(str(tmp_path / "rows.parquet"))
    with pytest.raises(Exception, match="SQLSTATE: 42"):
        frame.selectExpr(f"{text} as x").schema  # noqa: B018
