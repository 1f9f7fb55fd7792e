"""The types Spark SQL (ANSI) gives to expressions: written apart from the engine.

    Scope: what each name in a FROM clause is ──▶ type_of(expression, scope) ──▶ Type

Anything whose type is not certain raises Unsupported, so that nothing is compared by guessing.

Not here: computing values (verify/query, verify/exact).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from everview.schema import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGER_BITS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Schema,
    Type,
    decimal,
)  # fmt: skip


class Unsupported(Exception):
    """DuckDB cannot be made to say what Spark would: nothing to compare with."""


Tables = Mapping[str, Mapping[str, Type | None]]


@dataclass
class Scope:
    """Columns by name and by (alias, name), and the tables that a FROM clause may name.

    The type of a column is None where it is not certain.
    """

    tables: Tables
    names: dict[str, Type | None] = field(default_factory=dict)
    qualified: dict[tuple[str, str], Type | None] = field(default_factory=dict)

    def add(self, alias: str, columns: Mapping[str, Type | None]) -> None:
        for name, t in columns.items():
            self.names[name] = t
            self.qualified[alias, name] = t


def tables_of(schema: Schema) -> dict[str, Mapping[str, Type | None]]:
    """The relations of a schema as a FROM clause sees them."""
    return {r.name: {c.name: c.type for c in r.columns} for r in schema.relations}


def scope_of(select: exp.Select, tables: Tables) -> Scope:
    """What the FROM clause and joins of a select offer."""
    clause = select.args.get("with_")
    for cte in clause.expressions if clause else ():
        tables = {**tables, cte.alias.lower(): dict(columns_of(cte.this, tables))}
    scope = Scope(tables)
    start = select.args.get("from_")
    sources = [start.this] if start else []
    sources += [j.this for j in select.args.get("joins") or []]
    while sources:
        source = sources.pop(0)
        sources += [j.this for j in source.args.get("joins") or []]
        if isinstance(source, exp.Table) and source.name.lower() in tables:
            scope.add((source.alias or source.name).lower(), tables[source.name.lower()])
        elif isinstance(source, exp.Subquery):
            scope.add(source.alias.lower(), dict(columns_of(source.this, tables)))
        else:
            raise Unsupported(f"source {source.sql()}")
    return scope


def columns_of(select: exp.Expr, tables: Tables) -> list[tuple[str, Type | None]]:
    """Output names and types of a select."""
    if isinstance(select, exp.Subquery):
        return columns_of(select.this, tables)
    if not isinstance(select, exp.Select):
        raise Unsupported(f"query {select.sql()}")
    scope = scope_of(select, tables)
    out: list[tuple[str, Type | None]] = []
    for item in select.expressions:
        if isinstance(item, exp.Star):
            out += scope.names.items()
        elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
            alias = item.table.lower()
            out += [(n, t) for (a, n), t in scope.qualified.items() if a == alias]
        else:
            out.append((item.alias_or_name.lower(), type_if_known(item, scope)))
    return out


def type_if_known(e: exp.Expr, scope: Scope) -> Type | None:
    try:
        return type_of(e, scope)
    except Unsupported:
        return None


# ------------------------------------------------------------------------------------ decimals


def cut(precision: int, scale: int) -> Type:
    """DECIMAL(precision, scale) brought under 38 digits; refused where that costs digits."""
    if precision <= 38:
        return decimal(max(precision, 1), scale)
    kept = max(38 - (precision - scale), min(scale, 6))
    return decimal(38, kept)


def as_decimal(t: Type, e: exp.Expr | None = None) -> Type:
    """The decimal an exact operand counts as; an integer literal needs only its own digits."""
    if t.is_decimal:
        return t
    while isinstance(e, exp.Paren):
        e = e.this
    if isinstance(e, exp.Literal):
        return decimal(len(e.this.lstrip("0")) or 1, 0)
    return decimal({"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 20}[t.name], 0)


def arithmetic(kind: type[exp.Expr], a: Type, b: Type) -> Type:
    """The type of `a kind b` for operands already turned into decimals where both are exact."""
    if a.is_float or b.is_float:
        floats = kind is not exp.Div and {a.name, b.name} <= {"FLOAT", *INTEGER_BITS}
        return FLOAT if floats else DOUBLE
    if not a.is_decimal and not b.is_decimal:
        return DOUBLE if kind is exp.Div else wider(a, b)
    (p1, s1), (p2, s2) = ((t.precision or 0, t.scale or 0) for t in (a, b))
    if kind in (exp.Add, exp.Sub):
        scale = max(s1, s2)
        return cut(max(p1 - s1, p2 - s2) + scale + 1, scale)
    if kind is exp.Mul:
        t = cut(p1 + p2 + 1, s1 + s2)
        if t.scale != s1 + s2:
            raise Unsupported(f"{a} * {b} loses digits")
        return t
    if kind is exp.Div:
        scale = max(6, s1 + p2 + 1)
        return cut(p1 - s1 + s2 + scale, scale)
    scale = max(s1, s2)
    return cut(min(p1 - s1, p2 - s2) + scale, scale)


def wider(a: Type, b: Type) -> Type:
    """The type both widen to (branches of CASE, sides of COALESCE)."""
    if a == b:
        return a
    if a.is_numeric and b.is_numeric and (a.is_float or b.is_float):
        return FLOAT if {a.name, b.name} <= {"FLOAT", *INTEGER_BITS} else DOUBLE
    if a.is_integer and b.is_integer:
        return max(a, b, key=lambda t: t.digits)
    if a.is_exact and b.is_exact:
        a, b = as_decimal(a), as_decimal(b)
        scale = max(a.exact_scale, b.exact_scale)
        t = cut(max(a.digits, b.digits) + scale, scale)
        if t.scale != scale:
            raise Unsupported(f"{a} and {b} lose digits")
        return t
    raise Unsupported(f"{a} and {b} have no common type")


def sum_type(t: Type) -> Type:
    if t.is_decimal:
        return cut((t.precision or 0) + 10, t.exact_scale)
    return DOUBLE if t.is_float else BIGINT


def avg_type(t: Type) -> Type:
    if t.is_decimal:
        return decimal(min((t.precision or 0) + 4, 38), min(t.exact_scale + 4, 38))
    return DOUBLE


def literal_type(e: exp.Literal) -> Type:
    if e.is_string:
        return STRING
    text = e.this.lower()
    if "e" in text:
        return DOUBLE
    if "." in text:
        whole, part = text.split(".")
        return decimal(max(len((whole + part).lstrip("0")), len(part), 1), len(part))
    return INT if int(text) < 2**31 else BIGINT


_BINARY = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)
_BOOLEAN = (
    exp.Predicate, exp.And, exp.Or, exp.Not, exp.Boolean, exp.Is, exp.In, exp.Between, exp.Like,
)  # fmt: skip
PARTS = (
    exp.Extract, exp.Year, exp.Quarter, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfYear,
    exp.DayOfWeek, exp.Hour, exp.Minute,
)  # fmt: skip
_INTEGER = (*PARTS, exp.Length, exp.DateDiff)
_TEXT = (exp.Substring, exp.Left, exp.Upper, exp.Lower, exp.Trim, exp.Concat, exp.DPipe)
DATES = (exp.TsOrDsAdd, exp.AddMonths, exp.TsOrDsToDate)


def type_of(e: exp.Expr, scope: Scope) -> Type:
    """The Spark type of an expression over the columns of a scope."""
    if isinstance(e, exp.Column):
        t = _column(e, scope)
        if t is None:
            raise Unsupported(f"the type of column {e.sql()}")
        return t
    if isinstance(e, exp.Literal):
        return literal_type(e)
    if isinstance(e, _BINARY):
        return _binary(e, scope)
    if isinstance(e, exp.Alias | exp.Paren | exp.Neg | exp.Abs | exp.Nullif | exp.Min | exp.Max):
        return type_of(e.this, scope)
    if isinstance(e, _BOOLEAN):
        return BOOLEAN
    if isinstance(e, _INTEGER):
        return INT
    if isinstance(e, _TEXT):
        return STRING
    if isinstance(e, DATES):
        return DATE
    if isinstance(e, exp.Count):
        return BIGINT
    if isinstance(e, exp.Sum):
        return sum_type(type_of(e.this, scope))
    if isinstance(e, exp.Avg):
        return avg_type(type_of(e.this, scope))
    if isinstance(e, exp.Case):
        parts = [i.args["true"] for i in e.args["ifs"]]
        return _widest([*parts, e.args.get("default")], scope)
    if isinstance(e, exp.If):
        return _widest([e.args["true"], e.args.get("false")], scope)
    if isinstance(e, exp.Coalesce):
        return _widest([e.this, *e.expressions], scope)
    if isinstance(e, exp.Cast):
        return cast_type(e.to)
    raise Unsupported(f"expression {type(e).__name__}: {e.sql()}")


def _column(e: exp.Column, scope: Scope) -> Type | None:
    if e.table:
        place = (e.table.lower(), e.name.lower())
        if place in scope.qualified:
            return scope.qualified[place]
    elif e.name.lower() in scope.names:
        return scope.names[e.name.lower()]
    raise Unsupported(f"column {e.sql()}, which is in no input")


def _binary(e: exp.Expr, scope: Scope) -> Type:
    if isinstance(e.expression, exp.Interval):
        return _shifted(e, type_of(e.this, scope))
    a, b = type_of(e.this, scope), type_of(e.expression, scope)
    if (a == DATE and b.is_integer) or (b == DATE and a.is_integer):
        return DATE
    if not (a.is_numeric and b.is_numeric):
        raise Unsupported(e.sql())
    if a.is_exact and b.is_exact and (a.is_decimal or b.is_decimal):
        a, b = as_decimal(a, e.this), as_decimal(b, e.expression)
    return arithmetic(type(e), a, b)


def _shifted(e: exp.Expr, t: Type) -> Type:
    """A date or timestamp plus or minus an interval; text is taken as a date."""
    unit = e.expression.text("unit").upper().rstrip("S")
    if t in (DATE, STRING) and unit in ("DAY", "WEEK", "MONTH", "QUARTER", "YEAR"):
        return DATE
    if t in (TIMESTAMP, TIMESTAMP_NTZ):
        return t
    raise Unsupported(e.sql())


def _widest(parts: list[exp.Expr | None], scope: Scope) -> Type:
    types = [type_of(p, scope) for p in parts if p is not None and not isinstance(p, exp.Null)]
    if not types:
        raise Unsupported("only NULLs")
    first = types[0]
    for t in types[1:]:
        first = wider(first, t)
    return first


_CASTS = {
    "BOOLEAN": BOOLEAN, "TINYINT": Type("TINYINT"), "SMALLINT": Type("SMALLINT"), "INT": INT,
    "BIGINT": BIGINT, "FLOAT": FLOAT, "DOUBLE": DOUBLE, "DATE": DATE, "TEXT": STRING,
    "VARCHAR": STRING, "BINARY": BINARY, "TIMESTAMPTZ": TIMESTAMP, "TIMESTAMPNTZ": TIMESTAMP_NTZ,
}  # fmt: skip


def cast_type(to: exp.DataType) -> Type:
    """The Type of a CAST's target."""
    name = to.this.name
    if name == "DECIMAL":
        sizes = [int(x.this.this) for x in to.expressions]
        return decimal(*{0: (10, 0), 1: (*sizes, 0), 2: (*sizes,)}[len(sizes)])
    if name not in _CASTS:
        raise Unsupported(f"cast to {to.sql()}")
    return _CASTS[name]
