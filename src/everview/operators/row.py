"""Row by row: filters and projections over columns. Linear, so they keep no state.

Not here: filters and projections of one relation before it is routed (dataflow/pack uses these
too).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow.compute as pc

from everview.delta.delta import Delta, merge
from everview.delta.evaluate import evaluate, matches
from everview.delta.vector import Array, Vector
from everview.expr import Expr
from everview.plan.step import Keep, Make, Step


def apply(steps: tuple[Step, ...], delta: Delta, zone: str) -> Delta:
    """The delta after the steps; `zone` is the session's, for timestamps."""
    for step in steps:
        if isinstance(step, Keep):
            passes = matches(step.predicate, delta.columns, len(delta), zone=zone)
            if not passes.all():
                delta = delta.take(passes)
        else:
            columns = made(step, delta.columns, len(delta), zone)
            delta = Delta(columns, delta.weight, delta.instant)
    return delta


def made(step: Make, columns: Mapping[str, Vector], rows: int, zone: str) -> dict[str, Vector]:
    return {n.name: evaluate(n.value, columns, rows, zone=zone) for n in step.columns}


def difference(
    steps: tuple[Step, ...],
    zone: str,
    old: dict[str, Vector], was: Array, new: dict[str, Vector], now: Array,
) -> Delta:  # fmt: skip
    """Aligned old and new rows -> their change after the steps; nothing where they are equal."""
    columns, there = [old, new], [was, now]
    for step in steps:
        for side in (0, 1):
            if isinstance(step, Keep):
                there[side] = _matching(step.predicate, columns[side], there[side], zone)
            else:
                columns[side] = _made_where(step, columns[side], there[side], zone)
    changed = there[0] | there[1]
    both = there[0] & there[1]
    if both.any():
        same = both.copy()
        for name, v in columns[0].items():
            same &= _equal(v, columns[1][name])
        changed &= ~same
    gone, come = np.flatnonzero(there[0] & changed), np.flatnonzero(there[1] & changed)
    left = Delta({n: v.take(gone) for n, v in columns[0].items()}, np.full(len(gone), -1))
    entered = Delta({n: v.take(come) for n, v in columns[1].items()}, np.ones(len(come), np.int64))
    return merge([left, entered])


def _matching(predicate: Expr, columns: dict[str, Vector], there: Array, zone: str) -> Array:
    """The rows that pass, of those that are there: the others hold no meaning, and could fail."""
    rows = np.flatnonzero(there)
    out = np.zeros(len(there), np.bool_)
    taken = {n: v.take(rows) for n, v in columns.items()}
    out[rows] = matches(predicate, taken, len(rows), zone=zone)
    return out


def _made_where(
    step: Make, columns: dict[str, Vector], there: Array, zone: str
) -> dict[str, Vector]:
    """Other columns, computed only of rows that are there."""
    if there.all():
        return made(step, columns, len(there), zone)
    taken = {n: v.take(there) for n, v in columns.items()}
    out = made(step, taken, int(there.sum()), zone)
    return {n: v.spread(there) for n, v in out.items()}


def _equal(a: Vector, b: Vector) -> Array:
    """Equal row by row; NULL equals NULL, NaN equals NaN."""
    if a is b:
        return np.ones(len(a), np.bool_)
    if a.type.is_text:
        same = np.asarray(pc.fill_null(pc.equal(a.to_arrow(), b.to_arrow()), False))
    else:
        same = a.values == b.values
        if a.type.is_float:
            same = same | (np.isnan(a.values) & np.isnan(b.values))
    ones = np.ones(len(a), np.bool_)
    left = ones if a.valid is None else a.valid
    right = ones if b.valid is None else b.valid
    return np.asarray((left & right & same) | (~left & ~right), np.bool_)
