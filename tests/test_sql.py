"""SQL text to schema and plans: tables, views, names, grouping, positions, speed of the import."""

from __future__ import annotations

import subprocess
import sys

import pytest

from everview.errors import EverviewError, SqlError
from everview.expr import Expr
from everview.plan.explain import render, text
from everview.plan.node import Filter, Group, Node, Plan, Project, columns, key
from everview.plan.rules import optimize
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
    ForeignKey,
    Schema,
    Type,
    decimal,
)
from everview.sql.script import read_script, read_view
from everview.workloads import tpch

TABLES = """
CREATE TABLE t (k BIGINT PRIMARY KEY, i INT NOT NULL, d DECIMAL(15,2), s STRING, day DATE,
                at TIMESTAMP, wall TIMESTAMP_NTZ, f DOUBLE, p BOOLEAN);
CREATE TABLE u (k BIGINT PRIMARY KEY, t_k BIGINT REFERENCES t, name STRING);
"""


def schema() -> Schema:
    return read_script(TABLES).schema


def view(sql: str) -> Plan:
    return read_view("v", sql, schema())


def value(expression: str) -> Expr:
    root = view(f"SELECT {expression} AS x FROM t").root
    assert isinstance(root, Project)
    return root.columns[0].value


def names(plan: Plan) -> list[str]:
    return [c.name for c in columns(plan.root)]


def lines(node: Node) -> list[str]:
    return [line.strip() for line in render(node).split("\n")]


# ------------------------------------------------------------------------------------ CREATE TABLE


@pytest.mark.parametrize(
    ("written", "type"),
    [
        ("BOOLEAN", BOOLEAN),
        ("TINYINT", Type("TINYINT")),
        ("BYTE", Type("TINYINT")),
        ("SMALLINT", Type("SMALLINT")),
        ("INT", INT),
        ("INTEGER", INT),
        ("BIGINT", BIGINT),
        ("LONG", BIGINT),
        ("DECIMAL(15,2)", decimal(15, 2)),
        ("DECIMAL", decimal(10, 0)),
        ("NUMERIC(7)", decimal(7, 0)),
        ("FLOAT", FLOAT),
        ("REAL", FLOAT),
        ("DOUBLE", DOUBLE),
        ("DOUBLE PRECISION", DOUBLE),
        ("STRING", STRING),
        ("VARCHAR(25)", STRING),
        ("CHAR(1)", STRING),
        ("TEXT", STRING),
        ("BINARY", BINARY),
        ("BYTES", BINARY),
        ("DATE", DATE),
        ("TIMESTAMP", TIMESTAMP),
        ("TIMESTAMP WITH TIME ZONE", TIMESTAMP),
        ("TIMESTAMP_LTZ", TIMESTAMP),
        ("TIMESTAMP_NTZ", TIMESTAMP_NTZ),
        ("TIMESTAMP WITHOUT TIME ZONE", TIMESTAMP_NTZ),
    ],
)
def test_types(written: str, type: Type) -> None:
    relation = read_script(f"create table x (a {written})").schema.relation("x")
    assert relation.columns[0].type == type
    if type != BINARY:
        cast = read_view("v", f"select cast(s as {written}) as x from t", schema())
        assert columns(cast.root)[0].type == type


def test_keys_options_and_forward_references() -> None:
    declared = read_script(
        """
        CREATE TABLE Line (
          "ignored" INT
        );
        """.replace('"ignored"', "Order_Id")
        + """
        CREATE EXTERNAL TABLE IF NOT EXISTS item (
          order_id BIGINT REFERENCES orders NOT NULL,
          no INT COMMENT 'within the order',
          `Mixed Case` STRING NULL,
          CONSTRAINT pk PRIMARY KEY (order_id, no) NOT ENFORCED,
          FOREIGN KEY (order_id) REFERENCES orders (id)
        ) COMMENT 'lines' WITH (policy = 'Upsert', rows = 1_000, placement = partitioned,
                path = '/in', 'header' = true, depth = -1, kafka.topic = 'x');
        CREATE TABLE orders (id BIGINT PRIMARY KEY)
        """
    ).schema
    item = declared.relation("ITEM")
    assert item.key == ("order_id", "no")
    assert [(c.name, c.nullable) for c in item.columns] == [
        ("order_id", False),
        ("no", False),
        ("Mixed Case", True),
    ]
    assert item.foreign_keys == (ForeignKey(("order_id",), "orders", ("id",)),) * 2
    assert (item.policy, item.rows, item.placement) == ("upsert", 1000, "partitioned")
    assert item.options == {"path": "/in", "header": "true", "depth": "-1", "kafka.topic": "x"}
    assert declared.relation("line").key == ()


def test_tables_add_to_a_schema() -> None:
    more = read_script("create table w (k bigint primary key references t)", schema()).schema
    assert [r.name for r in more.relations] == ["t", "u", "w"]
    assert read_script("create table if not exists t (z int)", schema()).schema == schema()


# ------------------------------------------------------------------------------------------- views


def test_scripts() -> None:
    script = read_script(
        TABLES
        + """
        CREATE VIEW a AS SELECT k, i FROM t;   -- a comment; with a semicolon
        CREATE MATERIALIZED VIEW IF NOT EXISTS b (x, y) AS SELECT k, i + 1 FROM a;
        CREATE OR REPLACE VIEW a AS SELECT i AS only FROM t;
        CREATE VIEW IF NOT EXISTS a AS SELECT s FROM t;
        SELECT only FROM a
        """
    )
    assert list(script.views) == ["b", "a", "answer"]
    assert names(script.views["b"]) == ["x", "y"]
    assert names(script.views["answer"]) == ["only"]
    assert script.views["a"].sql == "SELECT i AS only FROM t"
    assert script.views["answer"].sql == "SELECT only FROM a"
    assert script.views["b"].sql == "SELECT k, i + 1 FROM a"


def test_views_given_are_readable_and_not_listed_again() -> None:
    first = read_script("create view a as select k from t", schema())
    second = read_script("create view b as select k from a where k > 1", schema(), first.views)
    assert list(second.views) == ["b"]
    assert read_view("C", "select k from a", schema(), first.views).name == "c"
    with pytest.raises(SqlError, match=r"NAME\.DUPLICATE"):
        read_script("create view a as select k from t", schema(), first.views)


def test_output_names() -> None:
    assert names(
        view("select * from t, u where t.k = t_k and 1 = 1".replace("*", "t.*, u.name"))
    ) == [
        *(c.name for c in schema().relation("t").columns),
        "name",
    ]
    assert names(view("select sum(i), sum(d), count(*), i + 1, s from t group by s, i + 1")) == [
        "sum",
        "sum_2",
        "count",
        "column4",
        "s",
    ]
    assert names(view("select K, `I` as `I` from t".replace("`I` as", "i as"))) == ["k", "I"]


def test_using_is_one_column() -> None:
    plan = view("select * from (select k, i from t) a join (select k, name from u) b using (k)")
    assert names(plan) == ["k", "i", "name"]
    assert names(view("select k, b.k as other from t a join u b using (k)")) == ["k", "other"]


@pytest.mark.parametrize(
    "sql",
    [
        "select name from t, u where t.k = t_k",
        "select name from t join u on t.k = t_k",
        "select name from t inner join u on t.k = u.t_k",
        "select name from t cross join u where u.t_k = t.k",
        "select name from (u join t on t.k = t_k)",
        "select b.name from t as a, u b where a.k = b.t_k",
        "with x as (select * from u), y as (select k i from t) select name from x, y where i = t_k",
        "with x (a, b, n) as (select k, t_k, name from u) select n as name from x, t where k = b",
        "select name from (select name, t_k from (select * from u) as q) as p, t where k = t_k",
        "(select name from u, t where t.k = t_k)",
        "((select name from u, t where t.k = t_k))",
        "select name from ((select k from t) a join u on a.k = t_k)",
        "select name from ((select * from t)) a join (u) on a.k = t_k",
    ],
)
def test_every_way_to_say_the_same_join(sql: str) -> None:
    shown = render(optimize(view(sql)).root)
    assert "-> " in shown
    assert shown.count("scan ") == 2
    assert columns(optimize(view(sql)).root)[0].name == "name"


def test_nested_ctes_shadow_and_see_only_what_is_before() -> None:
    plan = view(
        "with t as (select k as a from t) select a from t where a > 1".replace(
            "from t where", "from t where"
        )
    )
    assert names(plan) == ["a"]
    with pytest.raises(SqlError, match=r"UNKNOWN\.TABLE|RECURSIVE"):
        view("with x as (select * from y), y as (select * from x) select * from y")


# ---------------------------------------------------------------------------------------- grouping


def test_group_by_column_alias_position_and_formula() -> None:
    expected = render(view("select year(day) as y, sum(d) as s from t group by year(day)").root)
    for by in ("y", "1", "year(day)", "(year(day))"):
        assert (
            render(view(f"select year(day) as y, sum(d) as s from t group by {by}").root)
            == expected
        )


def test_a_column_is_preferred_to_an_alias() -> None:
    plan = view("select i + 1 as k, count(*) as n from t group by i + 1")
    assert "k := t.i + 1" in render(plan.root)
    with pytest.raises(SqlError, match=r"GROUP\.NOT_GROUPED"):
        view("select i + 1 as k, count(*) as n from t group by k")


def test_an_aggregate_used_twice_is_computed_once() -> None:
    plan = view("select 100 * sum(i) / sum(i) as x, sum(i) as y from t having sum(i) > 3 and y < 9")
    root = plan.root
    assert isinstance(root, Project)
    assert isinstance(root.input, Filter)
    assert isinstance(root.input.input, Group)
    assert len(root.input.input.aggregates) == 1
    assert text(root.input.predicate) == "(y > 3) and (y < 9)"


def test_count_of_a_constant_counts_rows() -> None:
    shown = render(
        view("select count(*) as a, count(1) as b, count(i) as c, count(null) as d from t").root
    )
    assert shown.count("count(*)") == 1
    assert "count(t.i)" in shown
    assert "count(NULL" in shown


def test_filter_of_an_aggregate() -> None:
    shown = render(
        view("select sum(i) filter (where p) as a, count(*) filter (where p) as b from t").root
    )
    assert "sum(case when t.p then t.i end)" in shown
    assert "count(case when t.p then 1 end)" in shown


def test_key_of_a_view() -> None:
    assert key(optimize(view("select i, sum(d) as x from t group by i")).root) == ("i",)
    assert key(optimize(view("select k, i from t")).root) == ("k",)
    assert key(optimize(view("select i from t")).root) == ()
    assert key(optimize(view("select u.k, s from t, u where t.k = t_k")).root) == ("k",)


# ------------------------------------------------------------------------------ single expressions


@pytest.mark.parametrize(
    ("written", "bound"),
    [
        ("d < 24", "t.d < 24.00"),
        ("day < '1995-3-5'", "t.day < DATE '1995-03-05'"),
        ("i / 2", "cast(t.i as DOUBLE) / 2.0D"),
        ("i + k", "cast(t.i as BIGINT) + t.k"),
        ("1 - d", "1 - t.d"),
        ("d in (1, 2.5)", "t.d in (1.00, 2.50)"),
        ("i between 1 and 3", "(t.i >= 1) and (t.i <= 3)"),
        ("s not like 'a%'", "not (t.s like 'a%')"),
        ("s is not null", "not (t.s is null)"),
        ("day + interval '3' month", "add_months(t.day, 3)"),
        ("day - interval 2 days", "add_days(t.day, -2)"),
        ("date '1994-01-31' + interval '1' month", "DATE '1994-02-28'"),
        ("case i when 1 then 'a' end", "case when t.i = 1 then 'a' end"),
        ("coalesce(null, i)", "coalesce(NULL INT, t.i)"),
        ("p and (p and not p)", "t.p and t.p and (not t.p)"),
        ("s || i", "concat(t.s, cast(t.i as STRING))"),
        ("substring(s from 2 for 3)", "substring(t.s, 2, 3)"),
        ("extract(year from day)", "year(t.day)"),
        ("- 9223372036854775808", "-9223372036854775808"),
        ("wall + interval '2' day", "add_micros(t.wall, 172800000000)"),
    ],
)
def test_bound_expressions(written: str, bound: str) -> None:
    assert text(value(written)) == bound


def test_every_tpch_query_binds_and_optimizes() -> None:
    for name in tpch.QUERIES:
        plan = optimize(read_view(name, tpch.query(name), tpch.schema()))
        assert [c.name for c in columns(plan.root)], name
    with pytest.raises(EverviewError):
        tpch.query("q2")


def test_tpch_schema() -> None:
    declared = tpch.schema()
    assert len(declared.relations) == 8
    assert declared.relation("partsupp").key == ("ps_partkey", "ps_suppkey")
    assert declared.relation("nation").rows == 25
    assert declared.relation("supplier").placement == "replicated"
    assert all(not c.nullable for r in declared.relations for c in r.columns)


def test_the_front_door_loads_nothing_heavy() -> None:
    code = (
        "import sys, everview.sql.script, everview.plan.rules, everview.plan.wire\n"
        "print([m for m in ('numpy', 'pyarrow', 'pyspark', 'pydantic', 'numba', 'pandas')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
