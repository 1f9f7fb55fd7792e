"""The types Spark SQL (ANSI) gives to expressions, for the oracle: written apart from the engine.

    Scope: what each name in a FROM clause is ──▶ type_of(expression, scope) ──▶ Type

Only what the oracle's queries need; anything else raises Unsupported, so that no test passes by
guessing. Values are computed elsewhere (tests/oracle).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from everview.schema import BIGINT, BOOLEAN, DATE, DOUBLE, INT, STRING, Schema, Type, decimal


class Unsupported(Exception):
    """The oracle cannot tell; the query must not be used in tests."""


@dataclass
class Scope:
    """Columns by name and by (alias, name)."""

    names: dict[str, Type] = field(default_factory=dict)
    qualified: dict[tuple[str, str], Type] = field(default_factory=dict)

    def add(self, alias: str, columns: dict[str, Type]) -> None:
        for name, t in columns.items():
            self.names[name] = t
            self.qualified[alias, name] = t


def scope_of(select: exp.Select, schema: Schema) -> Scope:
    """What the FROM clause and joins of a select offer."""
    scope = Scope()
    clause = select.args.get("from_") or select.args.get("from")
    sources = [clause.this] if clause else []
    sources += [j.this for j in select.args.get("joins") or []]
    while sources:
        source = sources.pop(0)
        sources += [j.this for j in source.args.get("joins") or []]
        if isinstance(source, exp.Table):
            relation = schema.relation(source.name)
            columns = {c.name: c.type for c in relation.columns}
            scope.add((source.alias or source.name).lower(), columns)
        elif isinstance(source, exp.Subquery):
            scope.add(source.alias.lower(), dict(columns_of(source.this, schema)))
        else:
            raise Unsupported(f"source {source.sql()}")
    return scope


def columns_of(select: exp.Expression, schema: Schema) -> list[tuple[str, Type]]:
    """Output names and types of a select."""
    if isinstance(select, exp.Subquery):
        return columns_of(select.this, schema)
    if not isinstance(select, exp.Select):
        raise Unsupported(f"query {select.sql()}")
    scope = scope_of(select, schema)
    out: list[tuple[str, Type]] = []
    for item in select.expressions:
        if isinstance(item, exp.Star):
            out += scope.names.items()
        else:
            out.append((item.alias_or_name.lower(), type_of(item, scope)))
    return out


# ------------------------------------------------------------------------------------ decimals


def cut(precision: int, scale: int) -> Type:
    """DECIMAL(precision, scale) brought under 38 digits; refused where that costs digits."""
    if precision <= 38:
        return decimal(max(precision, 1), scale)
    kept = max(38 - (precision - scale), min(scale, 6))
    return decimal(38, kept)


def as_decimal(t: Type, e: exp.Expression | None = None) -> Type:
    """The decimal an exact operand counts as; an integer literal needs only its own digits."""
    if t.is_decimal:
        return t
    while isinstance(e, exp.Paren):
        e = e.this
    if isinstance(e, exp.Literal):
        return decimal(len(e.this.lstrip("0")) or 1, 0)
    return decimal({"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 20}[t.name], 0)


def arithmetic(kind: type[exp.Expression], a: Type, b: Type) -> Type:
    """The type of `a kind b` for operands already turned into decimals where both are exact."""
    if a.is_float or b.is_float:
        return DOUBLE
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
    if a.is_float or b.is_float:
        return DOUBLE
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
_INTEGER = (exp.Extract, exp.Year, exp.Month, exp.Day, exp.Quarter, exp.Length)
_TEXT = (exp.Substring, exp.Upper, exp.Lower, exp.Trim, exp.Concat, exp.DPipe)


def type_of(e: exp.Expression, scope: Scope) -> Type:
    """The Spark type of an expression over the columns of a scope."""
    if isinstance(e, exp.Column):
        if e.table:
            return scope.qualified[e.table.lower(), e.name.lower()]
        return scope.names[e.name.lower()]
    if isinstance(e, exp.Literal):
        return literal_type(e)
    if isinstance(e, _BINARY):
        return _binary(e, scope)
    if isinstance(e, exp.Alias | exp.Paren | exp.Neg | exp.Abs | exp.Nullif):
        return type_of(e.this, scope)
    if isinstance(e, _BOOLEAN):
        return BOOLEAN
    if isinstance(e, _INTEGER):
        return INT
    if isinstance(e, _TEXT):
        return STRING
    if isinstance(e, exp.Count):
        return BIGINT
    if isinstance(e, exp.Sum):
        return sum_type(type_of(e.this, scope))
    if isinstance(e, exp.Avg):
        return avg_type(type_of(e.this, scope))
    if isinstance(e, exp.Case):
        parts = [i.args["true"] for i in e.args["ifs"]]
        return _widest([*parts, e.args.get("default")], scope)
    if isinstance(e, exp.Coalesce):
        return _widest([e.this, *e.expressions], scope)
    if isinstance(e, exp.Cast):
        return cast_type(e.to)
    raise Unsupported(f"expression {type(e).__name__}: {e.sql()}")


def _binary(e: exp.Expression, scope: Scope) -> Type:
    a, b = type_of(e.this, scope), type_of(e.expression, scope)
    if a.name == "DATE" or b.name == "DATE":
        return DATE
    if not (a.is_numeric and b.is_numeric):
        raise Unsupported(e.sql())
    if a.is_exact and b.is_exact and (a.is_decimal or b.is_decimal):
        a, b = as_decimal(a, e.this), as_decimal(b, e.expression)
    return arithmetic(type(e), a, b)


def _widest(parts: list[exp.Expression | None], scope: Scope) -> Type:
    types = [type_of(p, scope) for p in parts if p is not None and not isinstance(p, exp.Null)]
    first = types[0]
    for t in types[1:]:
        first = wider(first, t)
    return first


def cast_type(to: exp.DataType) -> Type:
    """The Type of a CAST's target."""
    name = to.this.name
    if name == "DECIMAL":
        p, s = (int(x.this.this) for x in to.expressions)
        return decimal(p, s)
    types = {
        "INT": INT, "BIGINT": BIGINT, "DOUBLE": DOUBLE, "DATE": DATE, "BOOLEAN": BOOLEAN,
        "TEXT": STRING, "VARCHAR": STRING, "SMALLINT": Type("SMALLINT"),
    }  # fmt: skip
    if name not in types:
        raise Unsupported(f"cast to {to.sql()}")
    return types[name]
