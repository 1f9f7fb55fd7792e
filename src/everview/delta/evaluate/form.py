"""Values as text, the way Spark's CAST(... AS STRING) writes them.

    1.50  true  2024-01-31  2024-01-31 10:00:00.5  1.0E10  NaN  -Infinity  +12345-01-01

Each distinct value is written once. DOUBLE and FLOAT: the shortest digits that read back as the
same value, laid out as Java does (Java before 19 sometimes writes a digit more than needed).

Not here: reading text (parse).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from everview.delta.evaluate.exact import shown
from everview.delta.evaluate.term import Term
from everview.delta.evaluate.text import mapped
from everview.delta.evaluate.zones import to_local
from everview.delta.vector import Array
from everview.errors import PlanError
from everview.schema import BINARY, STRING


def to_text(a: Term, zone: str) -> Term:
    """The term as STRING; its pool holds each distinct value's text."""
    t = a.type
    if t.name == "STRING":
        return a
    if t.name == "BINARY":
        out = mapped(a, lambda pool: pa.array(map(_decoded, pool.to_pylist()), pa.string()))
        return Term(STRING, out.values, out.valid, out.pool)
    if t.name == "BOOLEAN":
        return Term(STRING, a.values.astype(np.int64), a.valid, pa.array(["false", "true"]))
    if t.is_float:
        bits = a.values.view(np.int64 if t.name == "DOUBLE" else np.int32)
        distinct, codes = np.unique(bits, return_inverse=True)
        texts = [java_float(v) for v in distinct.view(a.values.dtype)]
    else:
        distinct, codes = np.unique(a.values, return_inverse=True)
        if t.is_exact:
            texts = [shown(v, t.exact_scale) for v in distinct.tolist()]
        elif t.name == "DATE":
            texts = _dates(distinct)
        elif t.name in ("TIMESTAMP", "TIMESTAMP_NTZ"):
            texts = _timestamps(to_local(distinct, zone) if t.name == "TIMESTAMP" else distinct)
        else:
            raise PlanError("PLAN.CAST", f"{t} has no text form")
    pool = pa.array(texts or [""], pa.string())
    return Term(STRING, codes.reshape(-1).astype(np.int64), a.valid, pool)


def java_float(value: np.floating) -> str:
    """Java's Double.toString and Float.toString, in the shortest form (Java 19 and later)."""
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if np.signbit(value) else "0.0"
    mantissa, exponent = np.format_float_scientific(value, unique=True, trim="0").split("e")
    if len(mantissa.lstrip("-")) == 3:  # of the two-digit forms Java takes the nearest
        mantissa, exponent = f"{float(value):.1e}".split("e")
    sign, digits, power = "-" if value < 0 else "", mantissa.lstrip("-"), int(exponent)
    whole, fraction = digits.split(".")
    figures = (whole + fraction).rstrip("0") or "0"
    if not -3 <= power < 7:
        return f"{sign}{figures[0]}.{figures[1:] or '0'}E{power}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{figures}"
    figures = figures.ljust(power + 1, "0")
    return f"{sign}{figures[: power + 1]}.{figures[power + 1 :] or '0'}"


def _dates(days: Array) -> list[str]:
    return [_year_sign(s) for s in np.datetime_as_string(days.astype("M8[D]")).tolist()]


def _timestamps(local: Array) -> list[str]:
    """No zeros at the end of the fraction, no point without one."""
    texts = np.datetime_as_string(local.astype("M8[us]")).tolist()
    return [_year_sign(s.replace("T", " ").rstrip("0").removesuffix(".")) for s in texts]


def _year_sign(text: str) -> str:
    """Years have four digits or more; those with more carry a plus, as in Java."""
    negative = text[0] == "-"
    year, rest = text[negative:].split("-", 1)
    sign = "-" if negative else "+" if len(year) > 4 else ""
    return f"{sign}{year.zfill(4)}-{rest}"


def _decoded(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def to_binary(a: Term) -> Term:
    """The UTF-8 bytes of a STRING."""
    assert a.pool is not None
    return Term(BINARY, a.values, a.valid, a.pool.cast(pa.binary()))
