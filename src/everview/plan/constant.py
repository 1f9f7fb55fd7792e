"""Constants: what an expression over literals is, computed exactly or not at all.

    fold(1.00 - 0.10 : DECIMAL)  ->  0.90        fold(1 / 0)  ->  unchanged: the error is kept
    convert('1994-01-01', DATE)  ->  DATE '1994-01-01'

`None` from `convert` means "not certain here": the cast stays and is decided where values are.

Not here: expressions over columns (delta/evaluate), which rule folds when (plan/rules/simplify).
"""

from __future__ import annotations

import calendar
import datetime
import decimal
import re
from collections.abc import Callable, Mapping

from everview.expr import CASTS, Call, Expr, Literal, Value
from everview.schema import BOOLEAN, INTEGER_BITS, Type

_EXACT = decimal.Context(prec=120, rounding=decimal.ROUND_HALF_UP)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_TIME = re.compile(r"(.+?)(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?)?")
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
_MAX_EXACT_FLOAT = 2**53


def convert(literal: Literal, type: Type) -> Literal | None:
    """The literal as a constant of another type, where its value is certain; else None."""
    if literal.type == type or literal.value is None:
        return Literal(literal.value, type)
    value = _convert(literal.value, literal.type, type)
    return None if value is None else Literal(value, type)


def _convert(value: Value, old: Type, new: Type) -> Value:
    if isinstance(value, str) and old.name == "STRING":
        return _from_text(value.strip(), new)
    if isinstance(value, bool | float):
        return None
    if old.is_exact and new.is_numeric:
        return _from_number(decimal.Decimal(str(value)), new)
    if old.name == "DATE" and new.name in ("TIMESTAMP", "TIMESTAMP_NTZ"):
        return f"{value} 00:00:00"
    if new.name == "STRING" and (old.is_integer or old.name == "DATE"):
        return str(value)
    return None


def _from_number(number: decimal.Decimal, type: Type) -> Value:
    """An exact number as a value of a numeric type; None if it does not fit."""
    if type.is_integer:
        whole = int(number)
        limit = 1 << (INTEGER_BITS[type.name] - 1)
        return whole if -limit <= whole < limit else None
    if type.is_decimal:
        return decimal_text(number, type)
    if type.name == "DOUBLE":
        return float(number)
    whole_float = number == int(number) and abs(number) < 2**24
    return float(number) if whole_float else None


def decimal_text(number: decimal.Decimal, type: Type) -> str | None:
    """The text of a number as DECIMAL(p,s), rounded half up; None if it does not fit."""
    scale, precision = type.exact_scale, type.precision or 0
    rounded = number.quantize(decimal.Decimal(1).scaleb(-scale), context=_EXACT)
    if abs(rounded) >= decimal.Decimal(10) ** (precision - scale):
        return None
    return format(rounded if rounded else abs(rounded), "f")


def _from_text(text: str, type: Type) -> Value:
    if type.name == "DATE":
        return date_text(text)
    if type.name in ("TIMESTAMP", "TIMESTAMP_NTZ"):
        return timestamp_text(text)
    if type.name == "BOOLEAN":
        return {"true": True, "false": False}.get(text.lower())
    if len(text) > 100:
        return None
    if type.is_integer and _INTEGER.fullmatch(text):
        return _from_number(decimal.Decimal(text), type)
    if (type.is_decimal or type.name == "DOUBLE") and _NUMBER.fullmatch(text):
        return _from_number(decimal.Decimal(text), type)
    return None


def date_text(text: str) -> str | None:
    """A date as `yyyy-mm-dd`, from `yyyy[-[m]m[-[d]d]]`; None if there is no such day."""
    match = _DATE.fullmatch(text)
    if not match:
        return None
    try:
        day = datetime.date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
    except ValueError:
        return None
    return day.isoformat()


def timestamp_text(text: str) -> str | None:
    """A timestamp as `yyyy-mm-dd hh:mm:ss[.f]`, from a date and optionally a time of day."""
    match = _TIME.fullmatch(text)
    day = date_text(match[1]) if match else None
    if match is None or day is None:
        return None
    hour, minute, second = int(match[2] or 0), int(match[3] or 0), int(match[4] or 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    fraction = (match[5] or "").rstrip("0")
    return f"{day} {hour:02}:{minute:02}:{second:02}" + (f".{fraction}" if fraction else "")


# ------------------------------------------------------------------------------------- functions


def fold(call: Call) -> Expr:
    """The call, or the constant it surely is; its arguments were folded before."""
    if call.op in CASTS:
        only = call.args[0]
        if isinstance(only, Literal) and (converted := convert(only, call.type)) is not None:
            return converted
        return call
    literals = [a for a in call.args if isinstance(a, Literal)]
    if len(literals) != len(call.args) or any(a.value is None for a in literals):
        return call
    rule = _FOLDS.get(call.op)
    value = rule(literals, call.type) if rule else None
    return call if value is None else Literal(value, call.type)


def _numbers(args: list[Literal]) -> list[decimal.Decimal] | None:
    if not all(a.type.is_exact for a in args):
        return None
    return [decimal.Decimal(str(a.value)) for a in args]


def _arithmetic(
    op: Callable[[decimal.Decimal, decimal.Decimal], decimal.Decimal],
) -> Callable[[list[Literal], Type], Value]:
    def rule(args: list[Literal], type: Type) -> Value:
        numbers = _numbers(args)
        return None if numbers is None else _from_number(op(*numbers), type)

    return rule


def _neg(args: list[Literal], type: Type) -> Value:
    value = args[0].value
    if type.is_float and isinstance(value, float):
        return -value
    numbers = _numbers(args)
    return None if numbers is None else _from_number(_EXACT.minus(numbers[0]), type)


def _compare(op: str) -> Callable[[list[Literal], Type], Value]:
    def rule(args: list[Literal], _: Type) -> Value:
        numbers = _numbers(args)
        if numbers is not None:
            a, b = numbers
            return {"=": a == b, "<>": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[
                op
            ]
        if {a.type.name for a in args} == {"STRING"} and op in ("=", "<>"):
            return (args[0].value == args[1].value) == (op == "=")
        return None

    return rule


def add_days(day: str, days: int) -> str | None:
    try:
        return (datetime.date.fromisoformat(day) + datetime.timedelta(days=days)).isoformat()
    except (ValueError, OverflowError):
        return None


def add_months(day: str, months: int) -> str | None:
    """The same day of another month, or that month's last day if it is shorter."""
    start = datetime.date.fromisoformat(day)
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        return None
    last = calendar.monthrange(year, month + 1)[1]
    return datetime.date(year, month + 1, min(start.day, last)).isoformat()


def _shift(shift: Callable[[str, int], str | None]) -> Callable[[list[Literal], Type], Value]:
    def rule(args: list[Literal], _: Type) -> Value:
        day, count = args[0].value, args[1].value
        if args[0].type.name != "DATE" or not isinstance(day, str) or not isinstance(count, int):
            return None
        return shift(day, count)

    return rule


_FOLDS: Mapping[str, Callable[[list[Literal], Type], Value]] = {
    "+": _arithmetic(_EXACT.add),
    "-": _arithmetic(_EXACT.subtract),
    "*": _arithmetic(_EXACT.multiply),
    "neg": _neg,
    **{op: _compare(op) for op in ("=", "<>", "<", "<=", ">", ">=")},
    "add_days": _shift(add_days),
    "add_months": _shift(add_months),
}

TRUE, FALSE = Literal(True, BOOLEAN), Literal(False, BOOLEAN)
