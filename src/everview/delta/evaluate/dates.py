"""Fields and steps of dates and timestamps, in the proleptic Gregorian calendar.

A DATE is days since 1970-01-01, a timestamp microseconds; fields of a TIMESTAMP are what the clocks
of the session zone show. Fields of dates are looked up in a table of the days between the first
and the last, when those are fewer than the rows.

Not here: text forms (form, parse), offsets of zones (zones).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from everview.delta.evaluate.exact import Exact, exact, minus, plus
from everview.delta.evaluate.number import integers
from everview.delta.evaluate.term import Frame, Term, both, extremes
from everview.delta.evaluate.zones import DAY, to_local
from everview.delta.vector import INT64_MAX, INT64_MIN, Array
from everview.expr import Call

DATE_LIMIT = 2**31  # dates are 32 bits wide outside
_MONTHS_LIMIT = 12 * 6_000_000


def _year(days: Array) -> Array:
    return days.astype("M8[D]").astype("M8[Y]").astype(np.int64) + 1970


def _month(days: Array) -> Array:
    return days.astype("M8[D]").astype("M8[M]").astype(np.int64) % 12 + 1


def _quarter(days: Array) -> Array:
    return (_month(days) + 2) // 3


def _day(days: Array) -> Array:
    return days - _since(days, "M") + 1


def _dayofyear(days: Array) -> Array:
    return days - _since(days, "Y") + 1


def _dayofweek(days: Array) -> Array:
    return (days + 4) % 7 + 1  # 1970-01-01 was a Thursday


def _since(days: Array, unit: str) -> Array:
    """The first day of each day's month or year."""
    return days.astype("M8[D]").astype(f"M8[{unit}]").astype("M8[D]").astype(np.int64)


_OF_DAY: dict[str, Callable[[Array], Array]] = {
    "year": _year, "quarter": _quarter, "month": _month, "day": _day,
    "dayofweek": _dayofweek, "dayofyear": _dayofyear,
}  # fmt: skip
_OF_TIME = {"hour": (3_600_000_000, 24), "minute": (60_000_000, 60), "second": (1_000_000, 60)}


def field(call: Call, args: list[Term], frame: Frame) -> Term:
    """year to second: a whole number."""
    (a,) = args
    if call.op in _OF_TIME:
        if a.type.name == "DATE":
            return Term(call.type, np.zeros(len(a), np.int64), a.valid)
        unit, many = _OF_TIME[call.op]
        return Term(call.type, local_micros(a, frame.zone) // unit % many, a.valid)
    return Term(call.type, _by_day(local_days(a, frame.zone), _OF_DAY[call.op]), a.valid)


def local_micros(a: Term, zone: str) -> Array:
    """What the clocks show, in microseconds."""
    return to_local(a.values, zone) if a.type.name == "TIMESTAMP" else a.values


def local_days(a: Term, zone: str) -> Array:
    """The calendar day, in days since 1970-01-01."""
    return a.values if a.type.name == "DATE" else local_micros(a, zone) // DAY


def _by_day(days: Array, function: Callable[[Array], Array]) -> Array:
    low, high = extremes(days)
    if high - low < len(days) // 2:
        found: Array = function(np.arange(low, high + 1))[days - low]
        return found
    return function(days)


def add_days(call: Call, a: Term, n: Term) -> Term:
    return _in_days(call, plus(exact(a), exact(n)), both(a, n))


def date_diff(call: Call, a: Term, b: Term) -> Term:
    x = minus(exact(a), exact(b))
    return Term(call.type, x.values, both(a, b), None, (x.low, x.high))


def add_months(call: Call, a: Term, n: Term) -> Term:
    """The same day of another month, or that month's last day if it is shorter."""
    months = a.values.astype("M8[D]").astype("M8[M]").astype(np.int64)
    target = plus(Exact(months, -_MONTHS_LIMIT, _MONTHS_LIMIT), exact(n))
    valid = both(a, n)
    moved = Term(call.type, target.values, valid, None, (target.low, target.high))
    month = integers(call, moved, -_MONTHS_LIMIT, _MONTHS_LIMIT).astype("M8[M]")
    first = month.astype("M8[D]").astype(np.int64)
    length = (month + 1).astype("M8[D]").astype(np.int64) - first
    days = first + np.minimum(_day(a.values), length) - 1
    return _in_days(call, Exact(days, *extremes(days)), valid)


def add_micros(call: Call, a: Term, n: Term) -> Term:
    valid = both(a, n)
    x = plus(exact(a), exact(n))
    moved = Term(call.type, x.values, valid, None, (x.low, x.high))
    return Term(call.type, integers(call, moved, INT64_MIN, INT64_MAX), valid)


def _in_days(call: Call, x: Exact, valid: Array | None) -> Term:
    moved = Term(call.type, x.values, valid, None, (x.low, x.high))
    return Term(call.type, integers(call, moved, -DATE_LIMIT, DATE_LIMIT - 1), valid)
