"""The independent oracle: what the base tables hold, and what the view's answer over them is.

    Changes ──policies, in plain Python──▶ Base tables ──original SQL, in DuckDB──▶ Counter of rows

Nothing of the engine is used here but its declarations (schema) and the form of its input
(Changes). Where DuckDB types a result otherwise than Spark SQL (AVG and `/` of decimals are DOUBLE
there, double sums depend on order) the answer is computed from exact parts by Spark's rule.

Row values: int, Decimal, str, date, bool, None; doubles as the text of `float.hex` (one zero, one
NaN), so that equal means bit for bit.
"""

from __future__ import annotations

import atexit
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp

from everview.delta.changes import DELETE, INSERT, UPDATE, Changes
from everview.delta.delta import Delta
from everview.delta.vector import arrow_type
from everview.schema import Relation, Schema, Type
from tests import spark_types
from tests.spark_types import Scope, Unsupported

Row = tuple[Any, ...]


class PolicyError(Exception):
    """A change that policy `fail` or `trust` does not allow."""


# ---------------------------------------------------------------------------------- base tables


@dataclass
class Base:
    """The content of one relation. `rows`: by key, or for a relation without key by content."""

    relation: Relation
    rows: dict[Row, Row] = field(default_factory=dict)
    counts: Counter[Row] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        names = [c.name for c in self.relation.columns]
        self._key = [names.index(k) for k in self.relation.key]

    def content(self) -> list[Row]:
        """Every row, as often as it is there."""
        return list(self.rows.values()) if self._key else list(self.counts.elements())

    def apply(self, op: int, row: Row) -> tuple[str | None, list[tuple[int, Row]]]:
        """One change: the reason it is refused (or None), and what it did: weighted rows."""
        if not self._key:
            return self._by_content(op, _canonical_zero(row))
        key = tuple(row[i] for i in self._key)
        if None in key:
            return self._refuse("NULL_KEY")
        old, policy = self.rows.get(key), self.relation.policy
        if op == UPDATE and policy == "trust":
            return self._refuse("NO_OLD_IMAGE")
        if op == INSERT and old is not None and policy != "upsert":
            return self._refuse("DUPLICATE_KEY")
        if old is None and (op == DELETE or (op == UPDATE and policy != "upsert")):
            return self._refuse("MISSING_ROW")
        mine = old is None or _canonical_zero(old) == _canonical_zero(row)
        if policy == "trust" and op == DELETE and not mine:
            raise PolicyError(f"{self.relation.name}: {row} is not the old image {old}")
        done = [] if old is None else [(-1, old)]
        if op == DELETE:
            del self.rows[key]
            return None, done
        self.rows[key] = row
        return None, [*done, (1, row)]

    def _by_content(self, op: int, row: Row) -> tuple[str | None, list[tuple[int, Row]]]:
        if op == UPDATE:
            return self._refuse("NO_OLD_IMAGE")
        if op == DELETE and not self.counts[row]:
            return self._refuse("MISSING_ROW")
        self.counts[row] += op
        return None, [(op, row)]

    def _refuse(self, reason: str) -> tuple[str, list[tuple[int, Row]]]:
        if self.relation.policy in ("fail", "trust"):
            raise PolicyError(f"{self.relation.name}: {reason} under {self.relation.policy}")
        return reason, []


def _canonical_zero(row: Row) -> Row:
    """Rows compared by content: -0.0 is 0.0, and NaN equals itself (it is one object)."""
    return tuple(_NAN if v != v else v + 0.0 if isinstance(v, float) else v for v in row)


_NAN = math.nan


# --------------------------------------------------------------------------------------- oracle


def shared_connection() -> duckdb.DuckDBPyConnection:
    """One DuckDB for all oracles of a process."""
    if not _SHARED:
        connection = duckdb.connect()
        connection.execute("SET threads = 1")
        _SHARED.append(connection)
        atexit.register(_SHARED.clear)  # closed before the interpreter goes
    return _SHARED[0]


_SHARED: list[duckdb.DuckDBPyConnection] = []
_NUMBERS = itertools.count()
_LOADED: dict[int, int] = {}  # connection -> the oracle whose tables it holds


class Oracle:
    """The truth about one view: feed it every epoch's changes, then ask for the answer."""

    def __init__(
        self, schema: Schema, sql: str, connection: duckdb.DuckDBPyConnection | None = None
    ) -> None:
        self.tables = {r.name: Base(r) for r in schema.relations}
        self.effects: list[tuple[str, int, Row]] = []  # what the last epoch did, in order
        self._connection = connection or shared_connection()
        self._changed = set(self.tables)
        self._number = next(_NUMBERS)
        self._load()
        self.query = Query(self._connection, schema, sql)

    def epoch(self, changes: Sequence[Changes]) -> list[tuple[str, str]]:
        """Apply changes in source order; (relation, reason) of every refused one."""
        refused: list[tuple[str, str]] = []
        self.effects = []
        for batch in changes:
            refused += [(r.relation, r.reason) for r in batch.rejects]
            base = self.tables[batch.relation]
            for op, row in zip(batch.op.tolist(), rows_of(batch.batch), strict=True):
                reason, effect = base.apply(op, row)
                self.effects += [(batch.relation, w, r) for w, r in effect]
                if reason:
                    refused.append((batch.relation, reason))
                else:
                    self._changed.add(batch.relation)
        return refused

    def answer(self) -> Counter[Row]:
        """The view's rows over what the tables hold now."""
        self._load()
        return self.query.run()

    def _load(self) -> None:
        if _LOADED.get(id(self._connection)) != self._number:
            self._changed = set(self.tables)
            _LOADED[id(self._connection)] = self._number
        for name in self._changed:
            base = self.tables[name]
            content = table_of(base.relation, base.content())
            self._connection.register("incoming", content)
            self._connection.execute(f'CREATE OR REPLACE TABLE "{name}" AS FROM incoming')
        self._changed = set()


def rows_of(batch: pa.RecordBatch | pa.Table) -> list[Row]:
    """The rows of an Arrow batch as tuples of Python values."""
    if not batch.num_rows:
        return []
    return list(zip(*(c.to_pylist() for c in batch.columns), strict=True))


def table_of(relation: Relation, rows: Sequence[Row]) -> pa.Table:
    """Rows of a relation as an Arrow table of its declared types."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(relation.columns)
    arrays = [
        pa.array(values, arrow_type(c.type))
        for c, values in zip(relation.columns, columns, strict=True)
    ]
    return pa.Table.from_arrays(arrays, names=[c.name for c in relation.columns])


# ------------------------------------------------------------------------- the answer by DuckDB

Compute = Callable[[Row], Any]


class Query:
    """A view's SQL, run by DuckDB over tables that are there; results typed as Spark types them.

    Select items DuckDB computes exactly run as they stand. Items with AVG, `/` or a sum of doubles
    are replaced by their exact parts, from which `_item` computes the value.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, schema: Schema, sql: str) -> None:
        self._connection = connection
        select = sqlglot.parse_one(sql, read="duckdb")
        if not isinstance(select, exp.Select):
            raise Unsupported(f"only a SELECT has an oracle: {sql}")
        self.columns = spark_types.columns_of(select, schema)
        self._scope = spark_types.scope_of(select, schema)
        self._parts: list[exp.Expression] = []
        self._compute: list[Compute] | None = None
        self._sql = sql
        for inner in select.find_all(exp.Select):
            if inner is select:
                continue
            scope = spark_types.scope_of(inner, schema)
            if any(self._inexact(i, scope) for i in inner.expressions):
                raise Unsupported("AVG, decimal `/` or double SUM inside a sub-select")
        if any(self._inexact(i, self._scope) for i in select.expressions):
            self._compute = [self._item(i) for i in select.expressions]
            self._sql = self._rewritten(select)

    def run(self) -> Counter[Row]:
        rows = self._connection.execute(self._sql).fetchall()
        if self._compute is None:
            return Counter(tuple(canonical(v) for v in row) for row in rows)
        return Counter(tuple(canonical(c(row)) for c in self._compute) for row in rows)

    def _rewritten(self, select: exp.Select) -> str:
        """The select with the parts as its list; GROUP BY ordinals and aliases spelled out."""
        named = {i.alias.lower(): i.this for i in select.expressions if isinstance(i, exp.Alias)}
        out = select.copy()
        group = out.args.get("group")
        for key in list(group.expressions) if group else []:
            if isinstance(key, exp.Literal) and not key.is_string:
                key.replace(select.expressions[int(key.this) - 1].unalias().copy())
            elif isinstance(key, exp.Column) and not key.table:
                name = key.name.lower()
                if name in named and name not in self._scope.names:
                    key.replace(named[name].copy())
        out.set("expressions", [p.copy() for p in self._parts])
        return out.sql(dialect="duckdb")

    def _inexact(self, e: exp.Expression, scope: Scope) -> bool:
        """Whether DuckDB's own value of this select item may differ from Spark's."""
        if isinstance(e, exp.Avg):
            return True
        if isinstance(e, exp.Sum):
            return spark_types.type_of(e, scope).is_float or _divides(e, scope)
        if isinstance(e, exp.Div):
            return spark_types.type_of(e, scope).is_decimal
        return any(self._inexact(c, scope) for c in e.iter_expressions())

    def _part(self, e: exp.Expression) -> int:
        """The place of an exact part in the rewritten select list."""
        self._parts.append(e)
        return len(self._parts) - 1

    def _item(self, item: exp.Expression) -> Compute:
        """How to compute a select item from the parts."""
        e: Any = item.unalias()
        if not self._inexact(e, self._scope):
            i = self._part(e)
            return lambda row: row[i]
        if isinstance(e, exp.Paren):
            return self._item(e.this)
        if isinstance(e, exp.Sum | exp.Avg):
            return self._aggregate(e)
        if isinstance(e, exp.Add | exp.Sub | exp.Mul | exp.Div):
            return self._arithmetic(e)
        if isinstance(e, exp.Neg):
            inner = self._item(e.this)
            return lambda row: None if (v := inner(row)) is None else -v
        if isinstance(e, exp.Coalesce):
            branches = [self._item(b) for b in (e.this, *e.expressions)]
            return lambda row: next((v for b in branches if (v := b(row)) is not None), None)
        if isinstance(e, exp.Cast):
            return self._cast(e)
        raise Unsupported(f"{type(e).__name__} over AVG, `/` or a double SUM: {e.sql()}")

    def _aggregate(self, e: exp.Sum | exp.Avg) -> Compute:
        x = e.this
        t = spark_types.type_of(x, self._scope)
        if _divides(x, self._scope):
            raise Unsupported("decimal `/` inside an aggregate")
        average = isinstance(e, exp.Avg)
        if t.is_float:
            not_null = exp.Where(this=exp.Not(this=exp.Is(this=x.copy(), expression=exp.null())))
            values = self._part(
                exp.Filter(this=exp.Anonymous(this="list", expressions=[x.copy()]),
                           expression=not_null)
            )  # fmt: skip
            return lambda row: double_sum(row[values], average=average)
        total = self._part(exp.Sum(this=x.copy()))
        count = self._part(exp.Count(this=x.copy()))
        result = spark_types.avg_type(t)
        if not t.is_decimal:
            return lambda row: None if row[total] is None else float(row[total]) / row[count]
        return lambda row: (
            None if row[total] is None else rounded(Fraction(row[total]) / row[count], result)
        )

    def _arithmetic(self, e: exp.Expression) -> Compute:
        left, right = self._item(e.this), self._item(e.expression)
        t = spark_types.type_of(e, self._scope)
        apply = _OPERATIONS[type(e)]

        def compute(row: Row) -> Any:
            a, b = left(row), right(row)
            if a is None or b is None:
                return None
            if t.is_float:
                return apply(float(a), float(b))
            value = apply(Fraction(a), Fraction(b))
            return rounded(value, t) if t.is_decimal else int(value)

        return compute

    def _cast(self, e: exp.Cast) -> Compute:
        inner, to = self._item(e.this), spark_types.cast_type(e.to)

        def compute(row: Row) -> Any:
            v = inner(row)
            if v is None:
                return None
            if to.is_float:
                return float(v)
            if to.is_decimal and not isinstance(v, float):
                return rounded(Fraction(v), to)
            raise Unsupported(f"cast of {v!r} to {to}")

        return compute


def _divides(e: exp.Expression, scope: Scope) -> bool:
    """Whether a decimal is divided somewhere inside."""
    return any(spark_types.type_of(d, scope).is_decimal for d in e.find_all(exp.Div))


_OPERATIONS: dict[type[exp.Expression], Callable[[Any, Any], Any]] = {
    exp.Add: lambda a, b: a + b,
    exp.Sub: lambda a, b: a - b,
    exp.Mul: lambda a, b: a * b,
    exp.Div: lambda a, b: a / b,
}


# --------------------------------------------------------------------------------------- values


def double_sum(values: Iterable[float] | None, *, average: bool = False) -> float | None:
    """The correctly rounded exact sum (or that, divided by the count); None for no values."""
    if not (values := list(values or ())):
        return None
    total = _exact_sum(values)
    return total / len(values) if average else total


def _exact_sum(values: list[float]) -> float:
    special = {v for v in values if math.isinf(v)}
    if any(math.isnan(v) for v in values) or len(special) == 2:
        return math.nan
    if special:
        return special.pop()
    exact = sum(map(Fraction, values), Fraction(0))
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def rounded(value: Fraction, t: Type) -> Decimal:
    """The value as DECIMAL(p,s), half up (away from zero); overflow is an error."""
    scale, precision = t.scale or 0, t.precision or 0
    scaled = abs(value) * 10**scale
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    if whole >= 10**precision:
        raise OverflowError(f"{value} does not fit {t}")
    return Decimal(whole if value >= 0 else -whole).scaleb(-scale, _WIDE)


_WIDE = Context(prec=80, rounding=ROUND_HALF_UP)


def canonical(value: Any) -> Any:
    """A value as answers are compared by."""
    if isinstance(value, float):
        return "nan" if value != value else (value + 0.0).hex()
    return value


def rows_of_delta(delta: Delta) -> list[tuple[Row, int]]:
    """The rows of an engine's Delta in the same form, each with its weight."""
    weights = delta.weight.tolist()
    if not weights:
        return []
    columns = [[canonical(v) for v in c.to_arrow().to_pylist()] for c in delta.columns.values()]
    return list(zip(zip(*columns, strict=True), weights, strict=True))


def compare(answer: Counter[Row], expected: Counter[Row]) -> str | None:
    """None if equal as multisets, else what is missing and what is too much."""
    if answer == expected:
        return None
    lines = []
    for title, rows in (("missing", expected - answer), ("too much", answer - expected)):
        shown = sorted(rows.items(), key=repr)
        lines += [f"  {title}: {n} x {row}" for row, n in shown[:8]]
        if len(shown) > 8:
            lines.append(f"  {title}: {len(shown) - 8} more")
    negative = [row for row, n in answer.items() if n < 0]
    lines += [f"  negative: {row}" for row in negative[:8]]
    return f"{answer.total()} rows, expected {expected.total()}\n" + "\n".join(lines)
