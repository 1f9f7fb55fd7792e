"""CAST between types, with Spark's ANSI rules: a value that does not fit is an error, or NULL for
TRY_CAST.

| to        | of exact     | of float      | of text | of BOOLEAN | of DATE  | of TIMESTAMP     |
|-----------|--------------|---------------|---------|------------|----------|------------------|
| integer   | towards zero | towards zero  | parse   | 0, 1       |          | seconds, down    |
| DECIMAL   | HALF_UP      | shortest text | parse   | 0, 1       |          | seconds, HALF_UP |
| float     | nearest      | nearest       | parse   | 0, 1       |          | seconds          |
| BOOLEAN   | not zero     | not zero      | parse   |            |          |                  |
| DATE      |              |               | parse   |            |          | the zone's day   |
| TIMESTAMP | seconds      | seconds       | parse   |            | midnight | by the zone      |

NaN and infinities become NULL as DECIMAL (so Spark). To STRING: `form`. Empty squares are refused;
so are BOOLEAN and numbers to and from TIMESTAMP_NTZ.

Not here: reading text (parse), which casts a query may write (sql).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from everview.delta.evaluate import parse
from everview.delta.evaluate.dates import local_days
from everview.delta.evaluate.exact import (
    Exact,
    exact,
    limits,
    outside,
    rounded,
    scaled,
    shown,
    tight,
    times,
    truncated,
)
from everview.delta.evaluate.faults import bad_cast, first
from everview.delta.evaluate.form import to_binary, to_text
from everview.delta.evaluate.number import floats
from everview.delta.evaluate.term import Frame, Term
from everview.delta.evaluate.text import used
from everview.delta.evaluate.zones import DAY, SECOND, to_local, to_utc
from everview.delta.vector import INT64_MAX, INT64_MIN, Array, narrow, numpy_type
from everview.errors import PlanError
from everview.expr import Call, Ref
from everview.schema import BIGINT, Type, decimal

_CLOCKS = frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_NTZ"})
_SECONDS = decimal(19, 6)  # the type of a timestamp's microseconds, read as seconds


def cast(call: Call, args: list[Term], frame: Frame) -> Term:
    return convert(args[0], call.type, frame, call)


def convert(a: Term, to: Type, frame: Frame, call: Call | None = None) -> Term:
    """The term as another type; `call` is what a message names."""
    if a.type == to:
        return a
    if to.name == "STRING":
        return to_text(a, frame.zone)
    if a.type.name == "STRING" and to.name == "BINARY":
        return to_binary(a)
    job = _Job(a, to, frame.zone, call or Call("cast", (Ref("a value", a.type),), to))
    if a.type.name == "STRING":
        return _from_text(job)
    rule = _RULES.get("integer" if to.is_integer else "float" if to.is_float else to.name)
    out = rule(job) if rule else None
    if out is None:
        raise PlanError("PLAN.CAST", f"{a.type} cannot be cast to {to}")
    return out


@dataclass(frozen=True, slots=True)
class _Job:
    """A cast to be done: `term` as the type `to`."""

    term: Term
    to: Type
    zone: str
    call: Call

    @property
    def source(self) -> Type:
        return self.term.type

    def made(self, values: Array, bad: Array | None = None) -> Term:
        """The result; of rows marked bad (none of them NULL): an error, or NULL if only tried."""
        valid = self.term.valid
        if bad is None or not bad.any():
            return Term(self.to, values, valid)
        if self.call.op != "try_cast":
            raise bad_cast(self.call, _value(self.term, first(bad)), self.source, self.to)
        return Term(self.to, values, ~bad if valid is None else valid & ~bad)


def _integer(job: _Job) -> Term | None:
    a, scale = job.term, job.source.exact_scale if job.source.is_exact else 0
    if job.source.is_float:
        return job.made(*_integers(job, a.values.astype(np.float64), job.to))
    if job.source.name == "TIMESTAMP":
        return _within(job, Exact(a.values // SECOND, INT64_MIN // SECOND, INT64_MAX // SECOND))
    if job.source.is_exact or job.source.name == "BOOLEAN":
        return _within(job, truncated(exact(a), scale))
    return None


def _decimal(job: _Job) -> Term | None:
    if job.source.is_float:
        return _decimal_of_float(job)
    source = _SECONDS if job.source.name == "TIMESTAMP" else job.source
    if not (source.is_exact or source.name == "BOOLEAN"):
        return None
    x, more = exact(job.term), job.to.exact_scale - source.exact_scale
    return _within(job, scaled(x, more) if more >= 0 else rounded(x, -more))


def _float(job: _Job) -> Term | None:
    a, dtype = job.term, np.dtype(numpy_type(job.to))
    if job.source.name == "TIMESTAMP":
        return job.made((a.values / float(SECOND)).astype(dtype))
    if job.source.name == "BOOLEAN":
        return job.made(a.values.astype(dtype))
    if not job.source.is_numeric:
        return None
    with np.errstate(all="ignore"):
        return job.made(floats(a, dtype))


def _boolean(job: _Job) -> Term | None:
    return job.made((job.term.values != 0).astype(np.bool_)) if job.source.is_numeric else None


def _date(job: _Job) -> Term | None:
    return job.made(local_days(job.term, job.zone)) if job.source.name in _CLOCKS else None


def _timestamp(job: _Job) -> Term | None:
    a, scale = job.term, job.source.exact_scale
    if job.source.name == "DATE":
        return job.made(to_utc(_midnights(job).values, job.zone, midnight=True))
    if job.source.name == "TIMESTAMP_NTZ":
        return job.made(to_utc(a.values, job.zone))
    if job.source.is_exact:
        x = exact(a)
        return _within(job, scaled(x, 6 - scale) if scale <= 6 else truncated(x, scale - 6))
    if job.source.is_float:
        with np.errstate(all="ignore"):
            micros = a.values.astype(np.float64) * float(SECOND)
        return job.made(*_integers(job, micros, BIGINT))
    return None


def _timestamp_ntz(job: _Job) -> Term | None:
    if job.source.name == "DATE":
        return _midnights(job)
    if job.source.name == "TIMESTAMP":
        return job.made(to_local(job.term.values, job.zone))
    return None


_RULES: dict[str, Callable[[_Job], Term | None]] = {
    "integer": _integer,
    "DECIMAL": _decimal,
    "float": _float,
    "BOOLEAN": _boolean,
    "DATE": _date,
    "TIMESTAMP": _timestamp,
    "TIMESTAMP_NTZ": _timestamp_ntz,
}


def _midnights(job: _Job) -> Term:
    return _within(job, times(exact(job.term), Exact(np.array([DAY]), DAY, DAY)))


def _within(job: _Job, x: Exact) -> Term:
    """The result; a row that is not NULL must not leave the target's range."""
    kept, bad = outside(x, job.term.valid, job.to if job.to.is_exact else BIGINT)
    made = job.made(kept.values, bad)
    return Term(made.type, made.values, made.valid, None, (kept.low, kept.high))


def _value(a: Term, row: int) -> Any:
    """A value as a message shows it."""
    value = a.values[row if len(a.values) > 1 else 0]
    if a.pool is not None:
        return a.pool[int(value)].as_py()
    if a.type.is_decimal:
        return shown(int(value), a.type.exact_scale)
    return value.item() if isinstance(value, np.generic) else value


def _integers(job: _Job, values: Array, to: Type) -> tuple[Array, Array]:
    """Floats towards zero, and which do not fit. As in Java, 2^63 itself still becomes the greatest
    BIGINT."""
    a = job.term
    least, most = limits(to)
    with np.errstate(invalid="ignore"):
        good = (np.floor(values) <= float(most)) & (np.ceil(values) >= float(least))
    bad = ~good if a.valid is None else ~good & a.valid
    safe = np.where(good, values, 0.0)
    top = safe >= 2.0**63
    return np.where(top, INT64_MAX, np.where(top, 0.0, safe).astype(np.int64)), bad


def _decimal_of_float(job: _Job) -> Term:
    """By way of the shortest text of the DOUBLE, HALF_UP; NULL for NaN and the infinities."""
    a = job.term
    doubles = a.values.astype(np.float64)
    finite = np.isfinite(doubles)
    valid = a.valid if finite.all() else finite if a.valid is None else finite & a.valid
    distinct, codes = np.unique(np.where(finite, doubles, 0.0), return_inverse=True)
    numbers = np.empty(len(distinct), object)
    numbers[:] = [_of_shortest(v, job.to.exact_scale) for v in distinct.tolist()]
    known = _Job(Term(a.type, a.values, valid), job.to, job.zone, job.call)
    return _within(known, tight(Exact(numbers[codes.reshape(-1)], 0, 0)))


def _of_shortest(value: float, scale: int) -> int:
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    out = parse.half_up(int("".join(map(str, digits))), int(exponent) + scale)
    return -out if sign else out


def _from_text(job: _Job) -> Term:
    """Each text in use is read once; a malformed one is an error in a row that is not NULL."""
    a = used(job.term)
    assert a.pool is not None
    texts = a.pool.to_pylist()
    read = [_read(text, job.to, job.zone) for text in texts]
    bad = np.array([v is None for v in read], np.bool_)[a.values]
    if a.valid is not None:
        bad = bad & a.valid
    values = np.empty(len(read), object if job.to.is_decimal else numpy_type(job.to))
    with np.errstate(over="ignore"):  # a DOUBLE beyond FLOAT is infinite
        values[:] = [0 if v is None else v for v in read]
    known = _Job(a, job.to, job.zone, job.call)
    return known.made(narrow(values[a.values]), bad)


def _read(text: str, to: Type, zone: str) -> Any:
    """One text as a stored value; None if it is malformed or out of range."""
    if to.is_exact:
        scale = to.exact_scale
        value = parse.scaled_decimal(text, scale) if to.is_decimal else parse.integer(text)
        least, most = limits(to)
        return value if value is not None and least <= value <= most else None
    if to.is_float:
        return parse.floating(text, single=to.name == "FLOAT")
    if to.name == "BOOLEAN":
        return parse.boolean(text)
    if to.name == "DATE":
        return parse.date(text)
    stamp = parse.timestamp(text)
    if stamp is None or to.name == "TIMESTAMP_NTZ":
        return None if stamp is None else stamp[0]
    local, own_zone = stamp
    return int(to_utc(np.array([local]), own_zone or zone)[0])
