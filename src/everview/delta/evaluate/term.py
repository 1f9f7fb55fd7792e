"""What formulas are computed on: a Term is a Vector with bounds, a Frame is the rows at hand.

A constant is a Term of length 1, which numpy spreads over the rows of a column by itself; a column
has as many values as its Frame has rows. Bounds are a range that surely holds every stored value of
an exact type (those under NULL too); they are found at most once and carried through arithmetic,
so that most operations need no pass over the data to rule out overflow.

Not here: the functions themselves (number, text, dates, ...), the walk over the expression (walk).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from everview.delta.vector import Array, Vector, arrow_type, numpy_type
from everview.schema import BOOLEAN, Type


@dataclass(slots=True)
class Term(Vector):
    """A Vector of the rows of a Frame, or of length 1 for a constant."""

    bounds: tuple[int, int] | None = None


@dataclass(slots=True)
class Frame:
    """The rows an expression is evaluated on: all of `source`, or those at positions `index`."""

    source: Mapping[str, Vector]
    rows: int
    zone: str
    index: Array | None = None
    seen: dict[str, Term] = field(default_factory=dict)

    def column(self, name: str) -> Term:
        """The column's rows of this frame; the same Term each time, so its bounds are kept."""
        if name not in self.seen:
            v = self.source[name]
            if self.index is not None:
                v = v.take(self.index)
            self.seen[name] = Term(v.type, v.values, v.valid, v.pool)
        return self.seen[name]

    def only(self, rows: Array) -> Frame:
        """The rows at these positions of this frame."""
        index = rows if self.index is None else self.index[rows]
        return Frame(self.source, len(rows), self.zone, index)


def bounds(term: Term) -> tuple[int, int]:
    """A range that holds every stored value; of no values: (0, 0)."""
    if term.bounds is None:
        term.bounds = extremes(term.values)
    return term.bounds


def extremes(values: Array) -> tuple[int, int]:
    """Least and greatest value of an integer array."""
    if not len(values):
        return 0, 0
    return int(values.min()), int(values.max())


def both(*terms: Vector) -> Array | None:
    """Where none of the terms is NULL; None: everywhere."""
    valid: Array | None = None
    for t in terms:
        if t.valid is not None:
            valid = t.valid if valid is None else valid & t.valid
    return valid


def null(t: Type) -> Term:
    """The constant NULL of a type."""
    no = np.zeros(1, np.bool_)
    if t.is_text:
        return Term(t, np.zeros(1, np.int64), no, pa.array(["" if t.name == "STRING" else b""]))
    return Term(t, np.zeros(1, numpy_type(t)), no)


def text(value: str | bytes, t: Type) -> Term:
    """A constant STRING or BINARY."""
    return Term(t, np.zeros(1, np.int64), None, pa.array([value], arrow_type(t)))


def truth(values: Array, valid: Array | None = None) -> Term:
    """A BOOLEAN term."""
    return Term(BOOLEAN, values, valid)


def is_true(term: Term) -> Array:
    """Where a BOOLEAN term is TRUE (NULL is not)."""
    return term.values if term.valid is None else term.values & term.valid


def spread(array: Array, rows: int) -> Array:
    """The array with `rows` values: a constant's one value repeated (read-only)."""
    return array if len(array) == rows else np.broadcast_to(array, (rows,))


def scatter(term: Term, index: Array, rows: int) -> Term:
    """The term's rows put at the positions `index` of `rows` rows; NULL elsewhere."""
    values = np.zeros(rows, term.values.dtype)
    values[index] = term.values
    valid = np.zeros(rows, np.bool_)
    valid[index] = True if term.valid is None else term.valid
    return Term(term.type, values, valid, term.pool)


def choose(branches: list[tuple[Array, Term]], otherwise: Term) -> Term:
    """For each row the first branch whose mask (no NULLs) holds, else `otherwise`; one type."""
    terms = _one_pool([*(t for _, t in branches), otherwise])
    out = terms.pop()
    values, valid = out.values, out.valid
    for (mask, _), term in zip(reversed(branches), reversed(terms), strict=True):
        values = np.where(mask, term.values, values)
        if term.valid is not None or valid is not None:
            left = True if term.valid is None else term.valid
            valid = np.where(mask, left, True if valid is None else valid)
    if valid is not None and len(valid) != len(values):
        valid = spread(valid, len(values)).copy()
    return Term(out.type, values, valid, out.pool)


def _one_pool(terms: list[Term]) -> list[Term]:
    """The terms with their texts in one pool; terms that are not texts as they are."""
    if terms[0].pool is None:
        return terms
    bases: dict[int, int] = {}
    pools: list[pa.Array] = []
    base, moved = 0, []
    for t in terms:
        assert t.pool is not None
        if id(t.pool) not in bases:
            bases[id(t.pool)] = base
            base += len(t.pool)
            pools.append(t.pool)
        moved.append((t, bases[id(t.pool)]))
    pool = pools[0] if len(pools) == 1 else pa.concat_arrays(pools)
    return [Term(t.type, t.values + at if at else t.values, t.valid, pool) for t, at in moved]
