"""A view's own SQL, as DuckDB is to run it so that it says what Spark says.

    avg(price)  ──sqlglot──▶ tree ──node by node──▶  spark_quotient(sum(price), count(price))

Node kinds in `_SAME` mean the same to both; those in `_RULES` are rewritten, some by types; any
other kind is Unsupported. Nothing of the engine's own reading of SQL is used.

Not here: the types (verify/spark_types), the functions called (verify/exact), what the tables hold
(verify/content).
"""

from __future__ import annotations

import atexit
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark

from everview.delta.vector import python
from everview.schema import Schema, Type
from everview.verify import exact, spark_types
from everview.verify.exact import canonical
from everview.verify.spark_types import DATES, PARTS, Scope, Tables, Unsupported, type_of

Row = tuple[Any, ...]


# It takes one side of a relation joined with itself for another: DuckDB 2.0.0 then finds rows that
# are not there (see test_a_chain_of_self_joins).
_WRONG = "common_subplan"


class _Spark4(Spark):
    """Spark SQL as Spark 4 reads it: 'it''s' is one text, not two that are joined."""

    class Tokenizer(Spark.Tokenizer):
        STRING_ESCAPES: ClassVar[Any] = ["'", '"', "\\"]


def connect(zone: str = "UTC") -> duckdb.DuckDBPyConnection:
    """A DuckDB that knows the functions a rewritten query calls. Close it, or the end does."""
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    if connection.execute(f"SELECT 1 FROM duckdb_optimizers() WHERE name = '{_WRONG}'").fetchone():
        connection.execute(f"SET disabled_optimizers = '{_WRONG}'")
    connection.execute(f"SET TimeZone = '{zone}'")
    exact.define(connection)
    atexit.register(connection.close)  # with functions of ours still in it, it complains
    return connection


def disconnect(connection: duckdb.DuckDBPyConnection) -> None:
    atexit.unregister(connection.close)
    connection.close()


class Query:
    """A view's SQL, run by DuckDB over tables that are there. `columns`: its names and types."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        schema: Schema,
        sql: str,
        views: Mapping[str, str] | None = None,
    ) -> None:
        """`views`: the SQL of the views that it may read, each after those it reads itself."""
        self._connection = connection
        tables = spark_types.tables_of(schema)
        above = []
        for name, text in (views or {}).items():
            tree = sqlglot.parse_one(text, read=_Spark4)
            tables[name] = dict(spark_types.columns_of(tree, tables))
            above.append(f'"{name}" AS ({_duck(tree, tables)})')
        tree = sqlglot.parse_one(sql, read=_Spark4)
        self.columns = spark_types.columns_of(tree, tables)
        self.sql = _duck(tree, tables)
        if above:
            self.sql = f"WITH {', '.join(above)} SELECT * FROM ({self.sql})"

    def run(self) -> Counter[Row]:
        """The answer, its values as answers are compared by."""
        rows = self._connection.sql(self.sql).to_arrow_table()
        columns = [map(canonical, python(_in_utc(c))) for c in rows.columns]
        return Counter(zip(*columns, strict=True))


def _in_utc(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Moments of a zone in UTC: Python takes the two of an hour that comes twice for equal."""
    zoned = pa.types.is_timestamp(column.type) and column.type.tz is not None
    return column.cast(pa.timestamp("us", "UTC")) if zoned else column


def _duck(tree: exp.Expr, tables: Tables) -> str:
    if not isinstance(tree, exp.Select):
        raise Unsupported(f"the query {tree.sql()}")
    try:
        return str(_rewritten(tree, Scope(tables)).sql(dialect="duckdb", identify=True))
    except RecursionError:
        raise Unsupported("a query of so many levels") from None


# ------------------------------------------------------------------------------ node by node

_SAME: tuple[type[exp.Expr], ...] = (
    exp.Select, exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.With, exp.CTE,
    exp.Subquery, exp.Table, exp.TableAlias, exp.Alias, exp.Identifier, exp.Star, exp.Var,
    exp.Column, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.DataType, exp.DataTypeParam,
    exp.And, exp.Or, exp.Not, exp.Is, exp.NullSafeEQ, exp.In, exp.Between, exp.Case, exp.If,
    exp.Coalesce, exp.Nullif, exp.Neg, exp.Abs, exp.Interval, exp.Trim, exp.DateDiff,
    exp.Count, exp.Min, exp.Max,
)  # fmt: skip
Rule = Callable[[Any, Any, Scope], exp.Expr]


def _rewritten(node: exp.Expr, scope: Scope) -> exp.Expr:
    """The node for DuckDB; `scope` is that of the SELECT it stands in."""
    if isinstance(node, exp.Select):
        scope = spark_types.scope_of(node, scope.tables)
    rule = _RULES.get(type(node))
    if rule is None and type(node) not in _SAME:
        raise Unsupported(f"{type(node).__name__}: {node.sql(dialect='spark')}")
    made = node.__class__(**{name: _below(v, scope) for name, v in node.args.items()})
    return made if rule is None else rule(node, made, scope)


def _below(value: Any, scope: Scope) -> Any:
    if isinstance(value, list):
        return [_below(v, scope) for v in value]
    return _rewritten(value, scope) if isinstance(value, exp.Expr) else value


def _sum(node: exp.Sum, made: exp.Sum, scope: Scope) -> exp.Expr:
    if not type_of(node.this, scope).is_float:
        return made
    values = exp.Anonymous(this="list", expressions=[_cast(made.this, "DOUBLE")])
    there = exp.Where(this=exp.Not(this=exp.Is(this=made.this.copy(), expression=exp.null())))
    return _cast(_call(exact.TOTAL, exp.Filter(this=values, expression=there)), "DOUBLE")


def _avg(node: exp.Avg, made: exp.Avg, scope: Scope) -> exp.Expr:
    count = exp.Count(this=made.this.copy())
    total = _sum(exp.Sum(this=node.this.copy()), exp.Sum(this=made.this), scope)
    t = type_of(node.this, scope)
    if t.is_decimal:
        return _quotient(total, count, spark_types.avg_type(t))
    whole = total if t.is_float else _cast(_cast(total, "TEXT"), "DOUBLE")
    return _over(whole, _cast(count, "DOUBLE"))


def _div(node: exp.Div, made: exp.Div, scope: Scope) -> exp.Expr:
    t = type_of(node, scope)
    if t.is_decimal:
        return _quotient(made.this, made.expression, t)
    operands = ((node.this, made.this), (node.expression, made.expression))
    a, b = (_double(m, type_of(n, scope)) for n, m in operands)
    return _over(a, exp.Nullif(this=b, expression=exp.Literal.number(0)))


def _over(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.Div(this=exp.Paren(this=a), expression=exp.Paren(this=b)))


def _quotient(a: exp.Expr, b: exp.Expr, t: Type) -> exp.Expr:
    scale = exp.Literal.number(t.exact_scale)
    return _cast(_call(exact.QUOTIENT, _cast(a, "TEXT"), _cast(b, "TEXT"), scale), str(t))


def _call(name: str, *args: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(args))


def _cast(value: exp.Expr, to: str) -> exp.Expr:
    return exp.Cast(this=exp.Paren(this=value), to=exp.DataType.build(to, dialect="duckdb"))


def _double(made: exp.Expr, t: Type) -> exp.Expr:
    """As DOUBLE, correctly rounded: DuckDB's own cast rounds twice where digits are many."""
    many = t.is_decimal and (t.precision or 0) > 15
    return _cast(_cast(made, "TEXT") if many else made, "DOUBLE")


def _sum_or_difference(node: Any, made: Any, scope: Scope) -> exp.Expr:
    if type_of(node, scope).name == "DATE":
        return _cast(made, "DATE")  # DuckDB makes a TIMESTAMP of a date and an interval
    if isinstance(node.expression, exp.Interval):
        return exp.Paren(this=made)
    return _alike(node, made, scope)


def _alike(node: Any, made: Any, scope: Scope) -> exp.Expr:
    """Operands of two kinds of number, brought to DOUBLE as Spark does."""
    a, b = (spark_types.type_if_known(n, scope) for n in (node.this, node.expression))
    if a is None or b is None:
        return exp.Paren(this=made)
    if a.is_numeric != b.is_numeric and "STRING" in (a.name, b.name):
        raise Unsupported(f"text and number in {node.sql(dialect='spark')}")
    if (a.is_float and b.is_decimal) or (a.is_decimal and b.is_float):
        made.set("this", _double(made.this, a))
        made.set("expression", _double(made.expression, b))
    elif isinstance(node, exp.Add | exp.Sub | exp.Mul) and (a.is_decimal or b.is_decimal):
        t = type_of(node, scope)
        if t.exact_scale < max(a.exact_scale, b.exact_scale):  # more than 38 digits: rounded
            return _cast(made, str(t))
    return exp.Paren(this=made)


def _casts(node: exp.Cast, made: exp.Cast, scope: Scope) -> exp.Expr:
    start, to = type_of(node.this, scope), spark_types.cast_type(node.to)
    value = made.this
    if start.is_float and to.is_decimal:
        value = _cast(value, "TEXT")
    elif start.is_decimal and to.is_float:
        value = _double(value, start)
    elif (start.is_float or start.is_decimal) and to.is_integer:
        value = exp.Anonymous(this="trunc", expressions=[value])
    elif to.name == "STRING" and (start.is_float or start.name in ("TIMESTAMP", "BINARY")):
        raise Unsupported(f"{start} as text: {node.sql(dialect='spark')}")
    name = {"TIMESTAMP": "TIMESTAMPTZ", "TIMESTAMP_NTZ": "TIMESTAMP", "BINARY": "BLOB",
            "STRING": "TEXT"}.get(to.name, str(to))  # fmt: skip
    target = exp.DataType.build(name, dialect="duckdb")
    return exp.TryCast(this=exp.Paren(this=value), to=target)


def _dates(_node: Any, made: Any, _scope: Scope) -> exp.Expr:
    return made if isinstance(made, exp.TsOrDsToDate) else _cast(made, "DATE")


def _part(node: Any, made: exp.Expr, _scope: Scope) -> exp.Expr:
    unit = type(node).__name__.upper()
    if isinstance(node, exp.Extract):
        unit = node.name.upper()
        known = ("YEAR", "QUARTER", "MONTH", "DAY", "DOW", "DAYOFWEEK", "DOY", "HOUR", "MINUTE")
        if unit not in known:
            raise Unsupported(f"EXTRACT({unit} ...)")
    if unit in ("DOW", "DAYOFWEEK"):  # Sunday is 1 in Spark, 0 in DuckDB
        return exp.Paren(this=exp.Add(this=made, expression=exp.Literal.number(1)))
    return made


def _text(name: str) -> Rule:
    return lambda _node, made, _scope: _call(name, made.this)


def _like(node: exp.Like, made: exp.Like, _scope: Scope) -> exp.Expr:
    pattern = node.expression
    if not isinstance(pattern, exp.Literal):
        raise Unsupported(f"LIKE {pattern.sql(dialect='spark')}")
    if "\\" not in pattern.name:
        return made
    return exp.Escape(this=made, expression=exp.Literal.string("\\"))


def _escape(_node: exp.Escape, made: exp.Escape, _scope: Scope) -> exp.Expr:
    if isinstance(made.this, exp.Escape):  # by `_like`, for a backslash that means nothing here
        made.set("this", made.this.this)
    return made


def _substring(node: Any, made: exp.Expr, _scope: Scope) -> exp.Expr:
    """From 1 on; Spark counts 0 as 1, and reads negative places in its own way."""
    start = node.args.get("start") or node.args.get("expression")
    if not isinstance(start, exp.Literal) or start.is_string:
        raise Unsupported(node.sql(dialect="spark"))
    if isinstance(node, exp.Substring) and start.name == "0":
        made.set("start", exp.Literal.number(1))
    length = made.args.get("length")
    if length is not None and not isinstance(length, exp.Literal):  # DuckDB goes back by it
        negative = exp.If(this=exp.LT(this=length.copy(), expression=exp.Literal.number(0)),
                          true=exp.Literal.number(0))  # fmt: skip
        made.set("length", exp.Case(ifs=[negative], default=length))
    return made


def _joined(node: Any, made: Any, scope: Scope) -> exp.Expr:
    """Text put together; values of other types only where both engines write them alike."""
    parts = node.expressions if isinstance(node, exp.Concat) else (node.this, node.expression)
    for part in parts:
        if type_of(part, scope).name not in ("STRING", "DATE", "INT", "BIGINT", "DECIMAL"):
            raise Unsupported(node.sql(dialect="spark"))
    return exp.Paren(this=made)


def _length(node: exp.Length, made: exp.Length, scope: Scope) -> exp.Expr:
    if type_of(node.this, scope).name == "BINARY":
        raise Unsupported(node.sql(dialect="spark"))
    return made


_ALIKE = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Mul, exp.Mod)
_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.Sum: _sum, exp.Avg: _avg, exp.Div: _div, exp.Add: _sum_or_difference,
    exp.Sub: _sum_or_difference, exp.Cast: _casts, exp.TryCast: _casts, exp.Like: _like,
    exp.Escape: _escape, exp.Substring: _substring, exp.Left: _substring, exp.Length: _length,
    exp.Upper: _text(exact.UPPER), exp.Lower: _text(exact.LOWER), exp.Concat: _joined,
    exp.DPipe: _joined,
    **dict.fromkeys(_ALIKE, _alike), **dict.fromkeys(DATES, _dates),
    **dict.fromkeys(PARTS, _part),
}  # fmt: skip
