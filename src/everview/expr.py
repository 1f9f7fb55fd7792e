"""The scalar language: a closed set of expression shapes and functions.

    Expr = Ref(name)            a column of the node below, by its output name
         | Literal(value)       None, bool, int, str or float; decimals, dates, timestamps as text
         | Call(op, args)       a function of `FUNCTIONS`; its type was fixed when it was bound

Every Expr carries its Type, so nothing that runs it has to infer. Adding a scalar function means
one entry in `FUNCTIONS` here (its arity and typing rule) and one in `delta/evaluate.py`.

Not here: values, NULL handling, SQL names and coercions of arguments (sql/select).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal as Choice

from everview.errors import PlanError
from everview.schema import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    MAX_PRECISION,
    STRING,
    Type,
    decimal,
)  # fmt: skip

_MOMENTS = ("DATE", "TIMESTAMP_NTZ", "TIMESTAMP")  # each widens to the next

Value = bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Ref:
    """The value of a column of the input, by output name."""

    name: str
    type: Type
    expr: Choice["ref"] = "ref"


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant. DECIMAL, DATE ('2024-01-31'), TIMESTAMP ('2024-01-31 10:00:00.5') as text."""

    value: Value
    type: Type
    expr: Choice["literal"] = "literal"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of `FUNCTIONS` applied to arguments already coerced to what it takes."""

    op: str
    args: tuple[Expr, ...]
    type: Type
    expr: Choice["call"] = "call"


Expr = Ref | Literal | Call
CASTS = ("cast", "try_cast")  # their type is said, not ruled


@dataclass(frozen=True, slots=True)
class Function:
    """`arity`: fewest and most arguments (None: no limit). `typing`: result type of the arguments.
    `takes`: which types each argument may have (the last goes for all behind it; none: any).

    A typing rule may assume coerced arguments; it raises PlanError when they make no sense.
    """

    arity: tuple[int, int | None]
    typing: Callable[[tuple[Type, ...]], Type]
    doc: str
    takes: tuple[frozenset[str], ...] = ()


def call(op: str, *args: Expr, type: Type | None = None) -> Call:
    """A Call whose type follows the typing rule (`cast` takes its type as given)."""
    if op in CASTS:
        if type is None or len(args) != 1:
            raise PlanError("PLAN.CAST", f"{op} takes one argument and a type")
        return Call(op, args, type)
    function = FUNCTIONS.get(op)
    if function is None:
        raise PlanError("PLAN.FUNCTION", f"there is no function {op!r}")
    low, high = function.arity
    if len(args) < low or (high is not None and len(args) > high):
        raise PlanError("PLAN.ARITY", f"{op} takes {low} to {high} arguments, got {len(args)}")
    return Call(op, args, function.typing(tuple(a.type for a in args)))


def refs(expr: Expr) -> Iterator[Ref]:
    """Every column the expression reads, in order of appearance."""
    if isinstance(expr, Ref):
        yield expr
    elif isinstance(expr, Call):
        for a in expr.args:
            yield from refs(a)


def rename(expr: Expr, names: Mapping[str, Expr]) -> Expr:
    """The expression with every Ref whose name is in `names` replaced."""
    if isinstance(expr, Ref):
        return names.get(expr.name, expr)
    if isinstance(expr, Call):
        return Call(expr.op, tuple(rename(a, names) for a in expr.args), expr.type)
    return expr


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """The parts of a conjunction: `a and (b and c)` -> a, b, c."""
    if isinstance(expr, Call) and expr.op == "and":
        return tuple(c for a in expr.args for c in conjuncts(a))
    return (expr,)


def conjunction(parts: tuple[Expr, ...]) -> Expr:
    """One predicate of many; TRUE for none."""
    if not parts:
        return Literal(True, BOOLEAN)
    return parts[0] if len(parts) == 1 else Call("and", parts, BOOLEAN)


# ---------------------------------------------------------------- typing rules (as Spark SQL, ANSI)


def bounded(precision: int, scale: int) -> Type:
    """DECIMAL(precision, scale), cut to 38 digits the way Spark does: the scale gives way, to 6."""
    if precision <= MAX_PRECISION:
        return decimal(max(precision, 1), scale)
    digits = precision - scale
    return decimal(MAX_PRECISION, max(MAX_PRECISION - digits, min(scale, 6)))


def _widest(precision: int, scale: int) -> Type:
    """As `bounded`, where all digits before the point must stay: the scale gives way, to 0."""
    over = max(0, precision - MAX_PRECISION)
    return decimal(min(precision, MAX_PRECISION), max(0, scale - over))


def as_decimal(t: Type) -> Type:
    """The smallest decimal type that holds every value of an exact type."""
    return t if t.is_decimal else decimal(t.digits, 0)


def common(types: tuple[Type, ...]) -> Type:
    """The type all of these widen to without loss (as Spark: exact with float is DOUBLE)."""
    first, *rest = types
    for t in rest:
        if t == first:
            continue
        if first.is_numeric and t.is_numeric:
            if first.is_float or t.is_float:
                first = Type("FLOAT") if {first.name, t.name} == {"FLOAT"} else DOUBLE
            elif first.is_integer and t.is_integer:
                first = first if first.digits >= t.digits else t
            else:
                a, b = as_decimal(first), as_decimal(t)
                scale = max(a.exact_scale, b.exact_scale)
                first = _widest(max(a.digits, b.digits) + scale, scale)
        elif first.name in _MOMENTS and t.name in _MOMENTS:
            first = max(first, t, key=lambda m: _MOMENTS.index(m.name))
        else:
            raise PlanError("PLAN.TYPES", f"{first} and {t} have no common type")
    return first


def _arithmetic(op: str) -> Callable[[tuple[Type, ...]], Type]:
    def typing(types: tuple[Type, ...]) -> Type:
        a, b = types
        if not (a.is_numeric and b.is_numeric):
            raise PlanError("PLAN.TYPES", f"{a} {op} {b}: both sides must be numbers")
        if op == "/" and not (a.is_decimal or b.is_decimal):
            return DOUBLE
        if a.is_float or b.is_float or (a.is_integer and b.is_integer):
            return common(types)
        a, b = as_decimal(a), as_decimal(b)
        (p1, s1), (p2, s2) = (a.precision or 0, a.exact_scale), (b.precision or 0, b.exact_scale)
        if op in "+-":
            scale = max(s1, s2)
            return bounded(max(p1 - s1, p2 - s2) + scale + 1, scale)
        if op == "*":
            return bounded(p1 + p2 + 1, s1 + s2)
        if op == "/":
            scale = max(6, s1 + p2 + 1)
            return bounded(p1 - s1 + s2 + scale, scale)
        scale = max(s1, s2)
        return bounded(min(p1 - s1, p2 - s2) + scale, scale)

    return typing


def _always(t: Type) -> Callable[[tuple[Type, ...]], Type]:
    return lambda _: t


def _same(types: tuple[Type, ...]) -> Type:
    return types[0]


def _case(types: tuple[Type, ...]) -> Type:
    """when, then, when, then, ..., [else]: branches were coerced to one type."""
    return types[1]


_WHOLE = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT"})
_NUMBER = _WHOLE | {"DECIMAL", "FLOAT", "DOUBLE"}
_DAY, _CLOCK = frozenset({"DATE"}), frozenset({"TIMESTAMP", "TIMESTAMP_NTZ"})
_TEXT, _TRUTH = frozenset({"STRING"}), frozenset({"BOOLEAN"})
_BYTES = _TEXT | {"BINARY"}

FUNCTIONS: Mapping[str, Function] = {
    "and": Function((1, None), _always(BOOLEAN), "three-valued AND", (_TRUTH,)),
    "or": Function((1, None), _always(BOOLEAN), "three-valued OR", (_TRUTH,)),
    "not": Function((1, 1), _always(BOOLEAN), "three-valued NOT", (_TRUTH,)),
    "=": Function((2, 2), _always(BOOLEAN), "equal; NULL if either is NULL"),
    "<>": Function((2, 2), _always(BOOLEAN), "not equal"),
    "<": Function((2, 2), _always(BOOLEAN), "less"),
    "<=": Function((2, 2), _always(BOOLEAN), "less or equal"),
    ">": Function((2, 2), _always(BOOLEAN), "greater"),
    ">=": Function((2, 2), _always(BOOLEAN), "greater or equal"),
    "is_null": Function((1, 1), _always(BOOLEAN), "TRUE for NULL, never NULL"),
    "is_distinct": Function((2, 2), _always(BOOLEAN), "not equal, where NULL equals NULL"),
    "in": Function((2, None), _always(BOOLEAN), "first equals one of the others, as SQL IN"),
    "like": Function(
        (2, 3), _always(BOOLEAN), "text, pattern literal, [escape]: % and _", (_TEXT,)
    ),
    "+": Function((2, 2), _arithmetic("+"), "sum"),
    "-": Function((2, 2), _arithmetic("-"), "difference"),
    "*": Function((2, 2), _arithmetic("*"), "product"),
    "/": Function((2, 2), _arithmetic("/"), "quotient; DOUBLE or DECIMAL; error on zero"),
    "%": Function((2, 2), _arithmetic("%"), "remainder, sign of the first"),
    "neg": Function((1, 1), _same, "minus", (_NUMBER,)),
    "abs": Function((1, 1), _same, "absolute value", (_NUMBER,)),
    "case": Function((2, None), _case, "when, then, ..., [else]"),
    "coalesce": Function((1, None), _same, "first that is not NULL"),
    "nullif": Function((2, 2), _same, "NULL if equal, else the first"),
    "cast": Function((1, 1), _same, "to the Call's own type; error when it does not fit"),
    "try_cast": Function((1, 1), _same, "as cast; NULL when it does not fit"),
    "year": Function((1, 1), _always(INT), "of a date or timestamp", (_DAY | _CLOCK,)),
    "quarter": Function((1, 1), _always(INT), "1 to 4", (_DAY | _CLOCK,)),
    "month": Function((1, 1), _always(INT), "1 to 12", (_DAY | _CLOCK,)),
    "day": Function((1, 1), _always(INT), "of the month", (_DAY | _CLOCK,)),
    "dayofweek": Function((1, 1), _always(INT), "1 = Sunday, as Spark", (_DAY | _CLOCK,)),
    "dayofyear": Function((1, 1), _always(INT), "1 to 366", (_DAY | _CLOCK,)),
    "hour": Function((1, 1), _always(INT), "in the session zone", (_CLOCK,)),
    "minute": Function((1, 1), _always(INT), "in the session zone", (_CLOCK,)),
    "second": Function((1, 1), _always(INT), "whole seconds", (_CLOCK,)),
    "add_days": Function((2, 2), _always(DATE), "date and integer days", (_DAY, _WHOLE)),
    "add_months": Function(
        (2, 2), _always(DATE), "date and integer months, cut to month end", (_DAY, _WHOLE)
    ),
    "date_diff": Function((2, 2), _always(INT), "days from the second to the first", (_DAY,)),
    "add_micros": Function((2, 2), _same, "timestamp and integer microseconds", (_CLOCK, _WHOLE)),
    "substring": Function(
        (2, 3), _same, "text, start from 1 (negative: from the end), [length]", (_BYTES, _WHOLE)
    ),
    "concat": Function((1, None), _always(STRING), "texts joined; NULL if any is NULL", (_TEXT,)),
    "upper": Function((1, 1), _always(STRING), "upper case", (_TEXT,)),
    "lower": Function((1, 1), _always(STRING), "lower case", (_TEXT,)),
    "trim": Function((1, 1), _always(STRING), "spaces off both ends", (_TEXT,)),
    "ltrim": Function((1, 1), _always(STRING), "spaces off the left", (_TEXT,)),
    "rtrim": Function((1, 1), _always(STRING), "spaces off the right", (_TEXT,)),
    "length": Function((1, 1), _always(INT), "characters (bytes of BINARY)", (_BYTES,)),
}


def castable(old: Type, new: Type) -> bool:
    """May a value be cast explicitly?"""
    if old == new or (old.is_numeric and new.is_numeric):
        return True
    if "STRING" in (old.name, new.name):
        return True
    if old.name in _MOMENTS and new.name in _MOMENTS:
        return True
    return (old.name == "BOOLEAN" and new.is_numeric) or (new.name == "BOOLEAN" and old.is_numeric)


AggregateName = Choice["sum", "count", "avg"]


def aggregate_type(name: str, argument: Type | None) -> Type:
    """The result type of an aggregate, as Spark: SUM(DECIMAL(p,s)) is DECIMAL(p+10,s)."""
    if name == "count":
        return BIGINT
    if argument is None or not argument.is_numeric:
        raise PlanError("PLAN.TYPES", f"{name.upper()}({argument}) needs a number")
    if argument.is_float:
        return DOUBLE
    if argument.is_decimal:
        p, s = argument.precision or 0, argument.exact_scale
        more, finer = (10, 0) if name == "sum" else (4, 4)
        return decimal(min(p + more, MAX_PRECISION), min(s + finer, MAX_PRECISION))
    return BIGINT if name == "sum" else DOUBLE


# ------------------------------------------------------- expressions that some rows may make fail
#
# Spark evaluates the arguments of CASE, AND, OR, COALESCE and IN only where they decide, so what
# may fail must not be computed on other rows, nor on rows that are not there.

_CHECKED_STEPS = frozenset({"add_days", "add_months", "add_micros"})


def may_fail(expr: Expr) -> bool:
    """Whether some input could make the expression raise instead of giving a value."""
    if not isinstance(expr, Call):
        return False
    return any(may_fail(a) for a in expr.args) or _fails_itself(expr)


def _fails_itself(expr: Call) -> bool:
    if expr.op in ("+", "-", "*", "neg", "abs"):
        return not expr.type.is_float and not _roomy(expr)
    if expr.op in ("/", "%"):
        by = expr.args[1]
        nonzero = isinstance(by, Literal) and by.value is not None and float(by.value) != 0
        return not nonzero or not (expr.type.is_float or _roomy(expr))
    if expr.op == "cast":
        return not _safe_cast(expr.args[0].type, expr.type)
    return expr.op in _CHECKED_STEPS


def _roomy(expr: Call) -> bool:
    """Whether a decimal operation's type holds every result by its digits alone."""
    if not expr.type.is_decimal:
        return False
    if expr.op in ("neg", "abs"):
        return True
    uncut = call(expr.op, *expr.args).type
    p, s = uncut.precision or 0, uncut.exact_scale
    return p < 38 and expr.type.digits >= p - s and expr.type.exact_scale >= s


def _safe_cast(source: Type, target: Type) -> bool:
    if source == target or target.name in ("STRING", "BINARY", "BOOLEAN"):
        return source.name != "STRING" or target.name != "BOOLEAN"
    if target.is_float:
        return source.name != "STRING"
    if source.is_exact and target.is_exact:
        if target.is_integer:
            return source.is_integer and source.digits <= target.digits
        rounding = 1 if source.exact_scale > target.exact_scale else 0
        return target.digits >= source.digits + rounding
    return source.name in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ") and not target.is_exact
