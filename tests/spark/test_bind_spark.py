"""SQL expressions bound by us against Spark SQL itself: the same text, the same type and values.

What `sql` makes of a text (types, coercions, constants) is evaluated and compared with what Spark
makes of it, row by row; what Spark refuses to type must be refused here as well.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from everview.errors import EverviewError
from everview.expr import Expr, rename
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

TEXTS = """
1 | 2147483648 | 9223372036854775808 | 0.05 | 00.050 | .5 | 5. | 1e3 | 1L | 1.5BD | 1.5D | -9223372036854775808
'it''s' | 'a' 'b' | 'a\\tb' | date '2020-1-1' | date '2020' | timestamp_ntz '2020-01-01 1:02:03.500' | true
j + 1 | t + t | t + 1 | i + big | d + 1 | d * 100 | 100 * d | i * d | d / 2 | d / j | j / 2 | d % 7 | d % 7.25
1 - d | d + e | d * e | d - g | f + j | f + f | f / 2 | g / 2 | 1 - d * (1 + e) | -d | - j | +j | -(-j)
e * (1 - d) * (1 + d) | mod(j, 3) | abs(j) | abs(d) | t % j | 2 + 3 * 4 | 0.06 - 0.01 | 1 / 3.0
j = 5 | d < 24 | d >= 0.5 | d = e | d < g | e between 1 and 2.5 | j in (1, 2) | d in (1, 2.555) | s in ('a', 'b')
t = 1 | t < 300 | j = 2147483648 | i < 5.5 | i <> big | not i <> big | w > d | 7 < j | 7.5 > d | 0 = d | d > 1e1
dt < date '1995-01-01' | dt < '1995-01-01' | '1995-1-1' < dt | dt = du | dt < ts | tn > dt | ts = tn
dt between '1990-01-01' and '2020-01-01' | j = '5' | d = '0.5' | s = 'a' | s < u | s is null | s is not null
s is distinct from u | j is not distinct from 3 | d <=> e | p | not p | p and q | p or q and not p | p = true | p is true
p is not true | q is false | (j > 0) is not false | s like 'a%' | s not like '%a_%' | s like 'a\\\\%b' | s like 'a/%b' escape '/'
case when p then 1 else 2 end | case when p then d else 0 end | case when p then j end | case j when 1 then 'x' when 2 then 'y' else s end
case when p then j else 2147483648 end | case when p then 1 else 2.5 end | case when p then dt else ts end | case when p then null else j end
coalesce(j, 0) | coalesce(d, 0) | coalesce(null, j) | coalesce(dt, '2020-01-01') | coalesce(s, 'none') | coalesce(w, z) | coalesce(z, w)
ifnull(d, 0) | nvl(s, u) | nullif(j, 1) | nullif(d, 0) | nullif(j, 1.5) | if(p, 1, 2.5) | if(p, d, e) | nullif(s, 'a')
cast(t as int) | cast(i as bigint) | cast(t as string) | cast(dt as string) | cast(d as double) | cast(d as decimal(20,5)) | cast(d as string)
cast('12' as int) | cast(' 7 ' as int) | cast('1.25' as decimal(5,1)) | cast('2020-02-30' as string) | cast(null as int) | cast(1.005 as decimal(3,2)) | cast(2.5 as int) | cast(-2.5 as int)
j::string | d::double | '2020-01-02'::date | cast(true as int) | cast(p as string) | cast(date '2020-01-02' as timestamp_ntz) | cast('x' as string)
year(dt) | month(dt) | day(dt) | quarter(dt) | dayofweek(dt) | dayofyear(dt) | year(ts) | hour(ts) | minute(ts) | second(ts) | hour(dt) | year('2020-01-01')
extract(year from dt) | extract(month from ts) | extract(day from dt) | extract(dow from ts) | extract(doy from dt) | extract(quarter from dt) | extract(hour from tn) | extract(minute from tn)
date_add(dt, 3) | date_sub(dt, 3) | datediff(dt, du) | datediff('2020-01-03', '2020-01-01') | add_months(dt, 1) | dt + 1 | 1 + dt | dt - 1 | dt + t | date_add('2020-01-30', 3)
dt + interval '1' day | dt - interval 2 weeks | dt + interval '3' month | dt - interval '1' year | interval '1' month + dt | dt + interval '-1' day | date '2020-01-31' + interval '1' month | date '1998-12-01' - interval '90' day
tn + interval '1' hour | tn - interval '90' minute | ts + interval '5' second | tn + interval '2' day | dt + interval '1' hour
substring(s, 1, 2) | substring(s from 2 for 3) | substring(s, -2) | substr(s, 2) | substring(j, 1, 1) | substring(b, 1, 2) | left(s, 2)
upper(s) | lower(s) | ucase(s) | trim(s) | ltrim(s) | rtrim(s) | trim(leading from s) | trim(both from s) | length(s) | char_length(s) | length(j) | length(b)
s || u | s || j | concat(s, '-', j) | concat(s) | upper(j) | j like '1%' | concat(d, s)
""".replace("\n", " | ")

REFUSED = """
p + 1 | p = 1 | 1 and p | dt + big | date_add(dt, big) | 2 * dt | j < dt | dt + 1.5 | cast(dt as int) | cast(p as date) | -p
upper(s, u) | year() | year(j) | abs(p) | if(1, 2, 3) | case when 1 then 2 end | not j | j in (dt) | coalesce(j, p)
""".replace("\n", " | ")


def texts(joined: str) -> list[str]:
    return [t.strip() for t in joined.split(" | ") if t.strip()]


def bound(text: str) -> Expr:
    """The expression over plain column names, constants folded as in any plan."""
    plan = read_view("v", f"SELECT {text} AS x FROM rows", SCHEMA)
    assert isinstance(plan.root, Project)
    scan = {f"rows.{c.name}": c for c in SCHEMA.relations[0].columns}
    from everview.expr import Ref

    plain = {name: Ref(c.name, c.type) for name, c in scan.items()}
    return simplified(rename(plan.root.columns[0].value, plain))


def test_bound_texts_are_what_spark_makes_of_them(spark: SparkSession, tmp_path: Path) -> None:
    pairs = [(text, bound(text)) for text in texts(TEXTS)]
    assert len(pairs) > 200
    checked(spark, rows(), tmp_path, pairs, "UTC")


@pytest.mark.parametrize("text", texts(REFUSED))
def test_spark_refuses_the_same_texts(text: str, spark: SparkSession, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    with pytest.raises(EverviewError):
        bound(text)
    pq.write_table(rows(1), tmp_path / "rows.parquet")
    frame = spark.read.parquet(str(tmp_path / "rows.parquet"))
    with pytest.raises(Exception, match="SQLSTATE: 42"):
        frame.selectExpr(f"{text} as x").schema  # noqa: B018
