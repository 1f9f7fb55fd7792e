"""The functions SQL text may call: name -> how many arguments, and how the call is built.

Each builder coerces its arguments as Spark SQL (ANSI) does and gives an Expr over `expr.FUNCTIONS`;
several names may build the same call. Adding a function: one line in `BUILDERS`.

Not here: operators, CASE, CAST and the like (sql/expression), aggregates (sql/select).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from everview.errors import Position
from everview.expr import Expr, Literal, call
from everview.plan.constant import fold
from everview.schema import BIGINT, BOOLEAN, DATE, DOUBLE, INT, TIMESTAMP, Type
from everview.sql import coerce
from everview.sql.literals import DAYS, MICROS, MONTHS
from everview.sql.subset import refuse

Place = Position | None
Build = Callable[[list[Expr], Place], Expr]


@dataclass(frozen=True, slots=True)
class Builder:
    """`least` to `most` arguments (None: any number)."""

    least: int
    most: int | None
    build: Build


def build(name: str, args: list[Expr], at: Place) -> Expr:
    """The call of a function of `BUILDERS`."""
    builder = BUILDERS[name]
    if len(args) < builder.least or (builder.most is not None and len(args) > builder.most):
        most = "more" if builder.most is None else str(builder.most)
        wanted = str(builder.least) if most == str(builder.least) else f"{builder.least} to {most}"
        raise refuse(
            "ARGUMENTS",
            at,
            f"{name.upper()} takes {wanted} arguments, got {len(args)}",
            "give it what it takes",
        )
    return builder.build(args, at)


def _texts(op: str) -> Build:
    return lambda args, at: call(op, *(coerce.text(a, at) for a in args))


def _part(op: str) -> Build:
    """A part of a date: of a DATE or timestamp as it is, of text as a DATE."""

    def make(args: list[Expr], at: Place) -> Expr:
        value = args[0]
        if value.type.name not in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ"):
            value = coerce.date(value, at)
        return call(op, value)

    return make


def _time(op: str) -> Build:
    """A part of the time of day; a DATE is its midnight."""

    def make(args: list[Expr], at: Place) -> Expr:
        value = args[0]
        if not value.type.name.startswith("TIMESTAMP"):
            value = coerce.cast(value, TIMESTAMP, at)
        return call(op, value)

    return make


def whole(value: Expr, at: Place, what: str) -> Expr:
    """An INT argument; wider integers are refused as Spark does."""
    if value is coerce.NULL or value.type.name in ("TINYINT", "SMALLINT", "INT"):
        return coerce.cast(value, INT, at)
    raise refuse("TYPE.MISMATCH", at, f"{what} must be INT, not {value.type}", "CAST(... AS INT)")


def add_days(args: list[Expr], at: Place) -> Expr:
    return _folded("add_days", coerce.date(args[0], at), whole(args[1], at, "the number of days"))


def sub_days(args: list[Expr], at: Place) -> Expr:
    days = whole(args[1], at, "the number of days")
    return _folded("add_days", coerce.date(args[0], at), _folded("neg", days))


def add_months(args: list[Expr], at: Place) -> Expr:
    months = whole(args[1], at, "the number of months")
    return _folded("add_months", coerce.date(args[0], at), months)


def _folded(op: str, *args: Expr) -> Expr:
    return fold(call(op, *args))


def arithmetic(op: str, left: Expr, right: Expr, at: Place) -> Expr:
    """`left op right`, where a DATE and a whole number are a date some days later or earlier."""
    if op not in "+-" or "DATE" not in (left.type.name, right.type.name):
        return coerce.arithmetic(op, left, right, at)
    if op == "+" and left.type.name != "DATE":
        left, right = right, left
    if left.type.name == "DATE" and right.type.name != "DATE":
        return (add_days if op == "+" else sub_days)([left, right], at)
    raise refuse(
        "UNSUPPORTED.INTERVAL",
        at,
        f"{left.type} {op} {right.type} would be an interval, which is not supported",
        "use DATEDIFF(end, start)",
    )


def shift(op: str, value: Expr, interval: tuple[int, str], at: Place) -> Expr:
    """A date or timestamp plus or minus an interval.

    A day of a TIMESTAMP may have 23 or 25 hours, depending on its zone, so days are for dates.
    """
    count, unit = interval
    count = -count if op == "-" else count
    if value.type.name == "STRING" and isinstance(value, Literal):
        value = coerce.date(value, at)
    temporal = op in "+-" and value.type.name in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ")
    days, months = count * DAYS.get(unit, 0), count * MONTHS.get(unit, 0)
    if temporal and value.type.name == "DATE" and max(abs(days), abs(months)) < 2**31:
        if unit in DAYS:
            return _folded("add_days", value, Literal(days, INT))
        if unit in MONTHS:
            return _folded("add_months", value, Literal(months, INT))
        value = coerce.cast(value, TIMESTAMP, at)
    micros = count * MICROS.get(unit, 0)
    if unit in DAYS and value.type.name == "TIMESTAMP_NTZ":
        micros = days * 24 * MICROS["HOUR"]
    if temporal and unit not in MONTHS and (micros or unit in MICROS) and abs(micros) < 2**62:
        return call("add_micros", value, Literal(micros, BIGINT))
    raise refuse(
        "UNSUPPORTED.INTERVAL",
        at,
        f"{value.type} {op} INTERVAL ... {unit} is not supported",
        "add days, weeks, months or years to a DATE; hours, minutes or seconds to a TIMESTAMP",
    )


def _date_diff(args: list[Expr], at: Place) -> Expr:
    return call("date_diff", coerce.date(args[0], at), coerce.date(args[1], at))


def _substring(args: list[Expr], at: Place) -> Expr:
    value = args[0] if args[0].type.name == "BINARY" else coerce.text(args[0], at)
    return call("substring", value, *(coerce.cast(a, INT, at) for a in args[1:]))


def _left(args: list[Expr], at: Place) -> Expr:
    return _substring([args[0], Literal(1, INT), args[1]], at)


def _length(args: list[Expr], at: Place) -> Expr:
    return call("length", args[0] if args[0].type.name == "BINARY" else coerce.text(args[0], at))


def _coalesce(args: list[Expr], at: Place) -> Expr:
    return call("coalesce", *coerce.same(args, at))


def _nullif(args: list[Expr], at: Place) -> Expr:
    first, second = args
    if first is coerce.NULL:
        return first
    a, b = coerce.comparable([first, second], at)
    if a == first:
        return call("nullif", a, b)
    return call("case", call("=", a, b), Literal(None, first.type), first)


def conditional(args: list[Expr], at: Place) -> Expr:
    """when, then, when, then, ..., [else], with the branches brought to one type."""
    pairs = len(args) // 2
    whens = [boolean(args[2 * i], at) for i in range(pairs)]
    branches = coerce.same([args[2 * i + 1] for i in range(pairs)] + args[2 * pairs :], at)
    flat = [e for when, then in zip(whens, branches, strict=False) for e in (when, then)]
    return call("case", *flat, *branches[pairs:])


def boolean(value: Expr, at: Place) -> Expr:
    """A truth value; numbers are none (as in ANSI), text is cast."""
    if value is coerce.NULL:
        return Literal(None, BOOLEAN)
    if value.type.name not in ("BOOLEAN", "STRING"):
        raise refuse(
            "TYPE.MISMATCH", at, f"{value.type} is not BOOLEAN", "compare it with something"
        )
    return coerce.cast(value, BOOLEAN, at)


def number(value: Expr, at: Place) -> Expr:
    """A numeric argument; text becomes DOUBLE, as Spark does."""
    if value is coerce.NULL or value.type.name == "STRING":
        return coerce.cast(value, DOUBLE, at)
    if not value.type.is_numeric:
        raise refuse(
            "TYPE.MISMATCH", at, f"{value.type} is not a number", "CAST(... AS a numeric type)"
        )
    return value


def negate(value: Expr, at: Place) -> Expr:
    return _folded("neg", number(value, at))


def _abs(args: list[Expr], at: Place) -> Expr:
    return call("abs", number(args[0], at))


def _to(type: Type) -> Build:
    return lambda args, at: coerce.cast(args[0], type, at)


def _mod(args: list[Expr], at: Place) -> Expr:
    return coerce.arithmetic("%", args[0], args[1], at)


_WHOLE_SECONDS = Builder(1, 1, _time("second"))

BUILDERS: Mapping[str, Builder] = {
    "abs": Builder(1, 1, _abs),
    "add_months": Builder(2, 2, add_months),
    "bigint": Builder(1, 1, _to(BIGINT)),
    "char_length": Builder(1, 1, _length),
    "character_length": Builder(1, 1, _length),
    "coalesce": Builder(1, None, _coalesce),
    "concat": Builder(1, None, _texts("concat")),
    "date": Builder(1, 1, _to(DATE)),
    "date_add": Builder(2, 2, add_days),
    "date_diff": Builder(2, 2, _date_diff),
    "date_sub": Builder(2, 2, sub_days),
    "dateadd": Builder(2, 2, add_days),
    "datediff": Builder(2, 2, _date_diff),
    "day": Builder(1, 1, _part("day")),
    "dayofmonth": Builder(1, 1, _part("day")),
    "dayofweek": Builder(1, 1, _part("dayofweek")),
    "dayofyear": Builder(1, 1, _part("dayofyear")),
    "double": Builder(1, 1, _to(DOUBLE)),
    "hour": Builder(1, 1, _time("hour")),
    "if": Builder(3, 3, conditional),
    "ifnull": Builder(2, 2, _coalesce),
    "iff": Builder(3, 3, conditional),
    "int": Builder(1, 1, _to(INT)),
    "lcase": Builder(1, 1, _texts("lower")),
    "left": Builder(2, 2, _left),
    "len": Builder(1, 1, _length),
    "length": Builder(1, 1, _length),
    "lower": Builder(1, 1, _texts("lower")),
    "ltrim": Builder(1, 1, _texts("ltrim")),
    "minute": Builder(1, 1, _time("minute")),
    "mod": Builder(2, 2, _mod),
    "month": Builder(1, 1, _part("month")),
    "negative": Builder(1, 1, lambda args, at: negate(args[0], at)),
    "nullif": Builder(2, 2, _nullif),
    "nvl": Builder(2, 2, _coalesce),
    "quarter": Builder(1, 1, _part("quarter")),
    "rtrim": Builder(1, 1, _texts("rtrim")),
    "second": _WHOLE_SECONDS,
    "substr": Builder(2, 3, _substring),
    "substring": Builder(2, 3, _substring),
    "to_date": Builder(1, 1, _to(DATE)),
    "trim": Builder(1, 1, _texts("trim")),
    "ucase": Builder(1, 1, _texts("upper")),
    "upper": Builder(1, 1, _texts("upper")),
    "year": Builder(1, 1, _part("year")),
}

EXTRACTS: Mapping[str, str] = {
    "YEAR": "year", "YEARS": "year", "Y": "year", "QUARTER": "quarter", "QTR": "quarter",
    "MONTH": "month", "MON": "month", "MONTHS": "month", "DAY": "day", "D": "day", "DAYS": "day",
    "DOW": "dayofweek", "DAYOFWEEK": "dayofweek", "DOY": "dayofyear", "HOUR": "hour",
    "HOURS": "hour", "H": "hour", "MINUTE": "minute", "MINUTES": "minute", "M": "minute",
}  # fmt: skip
