"""Implicit and explicit casts, as Spark SQL with ANSI on: every Call gets arguments it takes.

    l_quantity < 24          ->  24 becomes DECIMAL(15,2) 24.00
    o_orderdate < '1995-1-1' ->  the text becomes DATE '1995-01-01'
    i / 2                    ->  cast(i as DOUBLE) / 2.0

Casts of literals are done here, exactly; casts of columns stay as `cast` calls.

Not here: which function takes what (sql/functions), values (delta/evaluate).
"""

from __future__ import annotations

from everview.errors import PlanError, Position, SqlError
from everview.expr import Call, Expr, Literal, as_decimal, call, castable, common
from everview.plan.constant import convert
from everview.schema import BIGINT, DATE, DOUBLE, STRING, Type, decimal
from everview.sql.subset import refuse

NULL = Literal(None, STRING)
"""The NULL that has no type yet; told apart by identity."""

_LITERAL_HELP = {
    "DATE": "write it as 'yyyy-mm-dd'",
    "TIMESTAMP": "write it as 'yyyy-mm-dd hh:mm:ss', without a zone",
    "TIMESTAMP_NTZ": "write it as 'yyyy-mm-dd hh:mm:ss', without a zone",
    "BOOLEAN": "write TRUE or FALSE",
}


def cast(value: Expr, type: Type, position: Position | None) -> Expr:
    """The value as another type: a constant where it is certain, else a `cast` call."""
    if value is NULL:
        return Literal(None, type)
    if value.type == type:
        return value
    if not castable(value.type, type):
        raise refuse(
            "TYPE.MISMATCH", position, f"{value.type} cannot become {type}", "compare like types"
        )
    if isinstance(value, Literal):
        constant = convert(value, type)
        if constant is not None:
            return constant
        if value.type.name == "STRING" and (type.name in _LITERAL_HELP or type.is_numeric):
            shown = repr(value.value)[:60]
            raise refuse(
                "TYPE.LITERAL",
                position,
                f"{shown} is not a {type}",
                _LITERAL_HELP.get(type.name, "write a number that fits"),
            )
    return Call("cast", (value,), type)


def try_cast(value: Expr, type: Type, position: Position | None) -> Expr:
    """The value as another type, NULL where it does not fit."""
    try:
        tried = cast(value, type, position)
    except SqlError as e:
        if e.code == "TYPE.LITERAL":
            return Literal(None, type)
        raise
    certain = tried is value or not isinstance(tried, Call)
    return tried if certain else Call("try_cast", (value,), type)


def widest(values: list[Expr], position: Position | None, *, compared: bool = False) -> Type:
    """The type all values take in a comparison, CASE or COALESCE; text gives way, as in ANSI."""
    types = tuple(v.type for v in values if v is not NULL)
    others = tuple(t for t in types if t.name != "STRING")
    try:
        if not others:
            return STRING
        type = common(others)
    except PlanError as e:
        raise refuse(
            "TYPE.MISMATCH", position, e.message, "cast one side: CAST(... AS type)"
        ) from None
    texts = [v for v in values if v is not NULL and v.type.name == "STRING"]
    return _with_text(type, texts, compared=compared) if texts else type


def _with_text(type: Type, texts: list[Expr], *, compared: bool) -> Type:
    """As Spark: text becomes BIGINT beside integers, DOUBLE beside fractions, else the type.

    Exactly written literals compared with decimals are decimals: that compares the same, exactly.
    """
    if type.is_integer:
        return BIGINT
    if type.is_decimal and compared:
        found = [literal_decimal(str(t.value)) if isinstance(t, Literal) else None for t in texts]
        exact = [t for t in found if t is not None]
        return common((type, *exact)) if len(exact) == len(texts) else DOUBLE
    return DOUBLE if type.is_float or type.is_decimal else type


def literal_decimal(text: str) -> Type | None:
    """The smallest decimal type of a number written in digits: 0.05 is DECIMAL(2,2)."""
    digits = text.strip().lstrip("+-")
    whole, _, fraction = digits.partition(".")
    if not (whole + fraction).isascii() or not (whole + fraction).isdigit():
        return None
    whole = whole.lstrip("0")
    precision = max(1, len(whole) + len(fraction))
    return decimal(precision, len(fraction)) if precision <= 38 else None


def same(values: list[Expr], position: Position | None, *, compared: bool = False) -> list[Expr]:
    """The values, each as the type all of them take."""
    type = widest(values, position, compared=compared)
    return [cast(v, type, position) for v in values]


def comparable(values: list[Expr], position: Position | None) -> list[Expr]:
    """As `same`, for comparisons: beside decimals an integer literal takes its fewest digits."""
    if any(v.type.is_decimal for v in values if v is not NULL):
        values = [_as_decimal(v, position) if _is_whole(v) else v for v in values]
    return same(values, position, compared=True)


def _is_whole(value: Expr) -> bool:
    return isinstance(value, Literal) and value.type.is_integer


def arithmetic(op: str, a: Expr, b: Expr, position: Position | None) -> Expr:
    """`a op b` with operands that the typing rule of the function takes."""
    a, b = (_number(v, other, position) for v, other in ((a, b), (b, a)))
    for v in (a, b):
        if not v.type.is_numeric:
            raise refuse(
                "TYPE.MISMATCH",
                position,
                f"{a.type} {op} {b.type}: both sides must be numbers",
                "cast the side that is not: CAST(... AS type)",
            )
    if a.type.is_decimal or b.type.is_decimal:
        if a.type.is_float or b.type.is_float:
            return call(op, cast(a, DOUBLE, position), cast(b, DOUBLE, position))
        return call(op, _as_decimal(a, position), _as_decimal(b, position))
    type = DOUBLE if op == "/" else common((a.type, b.type))
    return call(op, cast(a, type, position), cast(b, type, position))


def _number(value: Expr, other: Expr, position: Position | None) -> Expr:
    """Text and NULL in arithmetic take the kind of the other side, as in ANSI."""
    if value is NULL:
        return Literal(None, other.type if other.type.is_numeric else DOUBLE)
    if value.type.name == "STRING":
        return cast(value, BIGINT if other.type.is_integer else DOUBLE, position)
    return value


def _as_decimal(value: Expr, position: Position | None) -> Expr:
    """An exact number as a decimal; integer literals take their fewest digits, as in Spark."""
    if value.type.is_decimal:
        return value
    if isinstance(value, Literal) and value.value is not None:
        return cast(value, decimal(len(str(abs(int(value.value)))), 0), position)
    return cast(value, as_decimal(value.type), position)


def text(value: Expr, position: Position | None) -> Expr:
    return cast(value, STRING, position)


def date(value: Expr, position: Position | None) -> Expr:
    return cast(value, DATE, position)
