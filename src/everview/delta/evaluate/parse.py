"""Text as values: what Spark's CAST(text AS ...) accepts. None: malformed.

| type      | accepted, with spaces around it                                             |
|-----------|-----------------------------------------------------------------------------|
| integers  | [+-]digits                                                                  |
| DECIMAL   | also .5  5.  1.5e-3; rounded HALF_UP to the scale                            |
| DOUBLE    | also 1d  2f  0x1p3  NaN  Infinity  inf                                       |
| DATE      | yyyy  yyyy-m  yyyy-m-d, the last followed by a space or T and anything       |
| TIMESTAMP | a date, then [space or T] h[:m[:s[.fraction][zone]]]; zone: Z +05:30 or a name |
| BOOLEAN   | t true y yes 1, f false n no 0, in any case                                  |

A time without a date is refused (Spark takes today's, which is not a function of the input).

Not here: which rows fail (cast), writing (form).
"""

from __future__ import annotations

import re
from fractions import Fraction

from everview.delta.evaluate.number import nearest
from everview.delta.evaluate.zones import known
from everview.delta.vector import INT64_MAX, INT64_MIN
from everview.schema import MAX_PRECISION

_BLANK = "".join(map(chr, range(33)))  # what Java's trim takes off
_BLANKS = _BLANK + "\x7f"  # what Spark's trimAll takes off
_TRUE, _FALSE = frozenset({"t", "true", "y", "yes", "1"}), frozenset({"f", "false", "n", "no", "0"})
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"([+-]?)(?:([0-9]+)\.?([0-9]*)|\.([0-9]+))(?:[eE]([+-]?[0-9]+))?")
_HEX = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")
_NAMED = {
    "nan": "nan", "inf": "inf", "+inf": "inf", "infinity": "inf", "+infinity": "inf",
    "-inf": "-inf", "-infinity": "-inf",
}  # fmt: skip
_DATE = re.compile(r"([+-]?)([0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_TIMESTAMP = re.compile(
    r"([+-]?)([0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
    r"(?:[ T]([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?([^0-9].*)?)?)?)?)?)?",
    re.DOTALL,
)
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SHORT_HOUR = re.compile(r"([+-])([0-9])(?=:)")
_SHORT_MINUTE = re.compile(r"([+-][0-9]{2}):([0-9])$")


def integer(text: str) -> int | None:
    text = text.strip(_BLANKS)
    return int(text) if _INTEGER.fullmatch(text) else None


def scaled_decimal(text: str, scale: int) -> int | None:
    """The number times 10^scale, HALF_UP; None too for more than 38 digits before the point."""
    match = _NUMBER.fullmatch(text.strip(_BLANK))
    if match is None:
        return None
    sign, whole, fraction, only_fraction, exponent = match.groups()
    after = only_fraction or fraction or ""
    digits = ((whole or "") + after).lstrip("0") or "0"
    power = int(exponent or 0) - len(after)  # the number is digits * 10^power
    if digits == "0" or len(digits) + power < -scale:
        return 0
    if len(digits) + power > MAX_PRECISION:
        return None
    shift = power + scale
    out = half_up(int(digits), shift)
    return -out if sign == "-" else out


def half_up(value: int, shift: int) -> int:
    """value * 10^shift for value >= 0, ties up."""
    if shift >= 0:
        return value * int(10**shift)
    power = int(10**-shift)
    return (value + power // 2) // power


def floating(text: str, *, single: bool = False) -> float | None:
    """The nearest DOUBLE (FLOAT if `single`)."""
    text = text.strip(_BLANK)
    named = _NAMED.get(text.lower()) or {"+NaN": "nan", "-NaN": "nan"}.get(text)
    if named:
        return float(named)
    body = text[:-1] if text[-1:] in "fFdD" else text
    if _HEX.fullmatch(body):
        return float.fromhex(body)
    if not _NUMBER.fullmatch(body):
        return None
    value = float(body)
    if single and abs(value) < 1e39 and value:
        return float(nearest(Fraction(body.rstrip("."))))
    return value


def boolean(text: str) -> bool | None:
    word = text.strip(_BLANKS).lower()
    return True if word in _TRUE else False if word in _FALSE else None


def date(text: str) -> int | None:
    """Days since 1970-01-01."""
    match = _DATE.fullmatch(text.strip(_BLANKS))
    if match is None:
        return None
    sign, year, month, day = match.groups()
    return days_of(int(sign + year), int(month or 1), int(day or 1))


def timestamp(text: str) -> tuple[int, str] | None:
    """Microseconds on the clock of a zone, and that zone's name ('' where none is given)."""
    match = _TIMESTAMP.fullmatch(text.strip(_BLANKS))
    if match is None:
        return None
    sign, year, month, day, hour, minute, second, fraction, zone = match.groups()
    days = days_of(int(sign + year), int(month or 1), int(day or 1))
    h, m, s = int(hour or 0), int(minute or 0), int(second or 0)
    if days is None or h > 23 or m > 59 or s > 59:
        return None
    micros = (days * 86_400 + h * 3600 + m * 60 + s) * 1_000_000
    micros += int((fraction or "0")[:6].ljust(6, "0"))
    name = _zone_name(zone or "")
    if name and not known(name):
        return None
    return (micros, name) if INT64_MIN <= micros <= INT64_MAX else None


def _zone_name(zone: str) -> str:
    """With two digits for hour and minute: '+5:30' -> '+05:30'."""
    return _SHORT_MINUTE.sub(r"\1:0\2", _SHORT_HOUR.sub(r"\g<1>0\2", zone.strip()))


def days_of(year: int, month: int, day: int) -> int | None:
    """Days since 1970-01-01 of a proleptic Gregorian date; None if there is no such day."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12:
        return None
    if not 1 <= day <= (29 if month == 2 and leap else _LENGTHS[month - 1]):
        return None
    y = year - (month <= 2)  # years from March on, so that the leap day is the last of its year
    since_march = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return y * 365 + y // 4 - y // 100 + y // 400 + since_march - 719_468
