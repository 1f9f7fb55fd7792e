"""Values as answers are compared by, and the arithmetic that DuckDB does otherwise than Spark.

| value               | here                                                                      |
|---------------------|---------------------------------------------------------------------------|
| sum of doubles      | the correctly rounded exact sum, whatever the order                       |
| quotient, average   | of decimals: exact, then rounded half up to the type Spark gives it        |
| double in an answer | the text of `float.hex`: one zero, one NaN, equal means bit for bit       |

Not here: which expressions need it (verify/query).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

import duckdb

from everview.schema import Type

TOTAL, QUOTIENT, UPPER, LOWER = "spark_total", "spark_quotient", "spark_upper", "spark_lower"
_WIDE = Context(prec=120, rounding=ROUND_HALF_UP)


def define(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the functions known to a connection."""
    connection.create_function(TOTAL, _total, ["DOUBLE[]"], "VARCHAR")
    connection.create_function(QUOTIENT, _quotient, ["VARCHAR", "VARCHAR", "INTEGER"], "VARCHAR")
    connection.create_function(UPPER, str.upper, ["VARCHAR"], "VARCHAR")
    connection.create_function(LOWER, str.lower, ["VARCHAR"], "VARCHAR")


def double_sum(values: Iterable[float] | None) -> float | None:
    """The correctly rounded exact sum; None for no values."""
    if not (values := list(values or ())):
        return None
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


def _total(values: list[float]) -> str | None:
    """The sum as text: a NaN that a function returns arrives as NULL."""
    return None if (total := double_sum(values)) is None else repr(total)


def _quotient(a: str, b: str, scale: int) -> str | None:
    """a / b as text with so many digits after the point, half up; None for division by zero (the
    engine ends with an error there, so there is no answer to compare)."""
    divisor = Fraction(b)
    return None if not divisor else f"{_scaled(Fraction(a) / divisor, scale):f}"


def rounded(value: Fraction, t: Type) -> Decimal:
    """The value as DECIMAL(p,s), half up (away from zero); overflow is an error."""
    result = _scaled(value, t.exact_scale)
    if abs(result) >= 10 ** ((t.precision or 0) - t.exact_scale):
        raise OverflowError(f"{value} does not fit {t}")
    return result


def _scaled(value: Fraction, scale: int) -> Decimal:
    scaled = abs(value) * 10**scale
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    return Decimal(whole if value >= 0 else -whole).scaleb(-scale, _WIDE)


def canonical(value: Any) -> Any:
    """A value as answers are compared by."""
    if isinstance(value, float):
        return "nan" if value != value else (value + 0.0).hex()
    return value
