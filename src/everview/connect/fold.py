"""Folding a changelog: its changes summed up are the answer.

    retract form   +I, +U: the row appears     -U, -D: the row disappears (it must be there)
    upsert form    a row: replaces the row of its key     deleted: the key has no row any more

A changelog that takes back what it never gave is wrong, and folding it says so. Within one epoch
the order of rows says nothing, so takings-back are matched after all rows of the epoch are in.

Not here: reading changelogs (changelog), showing answers (live).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from everview.delta.vector import python
from everview.errors import InputError
from everview.schema import DELETED, EPOCH, KIND

Row = tuple[Any, ...]
WEIGHTS = {"+I": 1, "+U": 1, "-U": -1, "-D": -1}
NAN = "NaN"


def fold(changelog: Iterable[tuple[int, pa.Table]], key: Sequence[str] = ()) -> Counter[Row]:
    """The answer after the whole changelog: rows (without kind and epoch) and how often each.

    A table with a `deleted` column is in upsert form and needs the `key` columns.
    """
    answer: Counter[Row] = Counter()
    rows: dict[Row, Row] = {}
    for epoch, table in changelog:
        if not table.num_columns:
            continue
        if DELETED in table.column_names:
            upsert(rows, table, key, epoch)
        else:
            retract(answer, table, epoch)
    for row in rows.values():
        answer[row] += 1
    return answer


def retract(answer: Counter[Row], table: pa.Table | pa.RecordBatch, epoch: int) -> None:
    """Add one epoch in retract form to an answer."""
    apply(answer, weights_of(table), epoch)


def weights_of(table: pa.Table | pa.RecordBatch) -> Counter[Row]:
    """The rows of a table in retract form with their weights added up."""
    weights: Counter[Row] = Counter()
    for kind, row in rows_of(table):
        weights[row] += WEIGHTS[kind]
    return weights


def apply(answer: Counter[Row], weights: Counter[Row], epoch: int) -> None:
    """Add weights to an answer; InputError if a row would be there less than no time."""
    for row, weight in weights.items():
        count = answer[row] + weight
        if count < 0:
            raise InputError(
                "INPUT.RETRACTION",
                f"epoch {epoch} takes back {-weight} of the row {row!r:.200}, "
                f"of which there are {answer[row]}",
                fix="read the changelog from its first epoch",
            )
        if count:
            answer[row] = count
        else:
            del answer[row]


def upsert(
    rows: dict[Row, Row], table: pa.Table | pa.RecordBatch, key: Sequence[str], epoch: int
) -> None:
    """Apply one epoch in upsert form, in the order of its rows."""
    names = [n for n in table.schema.names if n not in (EPOCH, DELETED)]
    lost = [n for n in key if n not in names]
    if not key or lost:
        raise InputError(
            "INPUT.UPSERT_KEY",
            "a changelog in upsert form can only be folded by its key"
            + (f"; it has no column {lost[0]}" if lost else ""),
            fix=f"name the key columns; there are {', '.join(names)}",
        )
    values = [plain(table.column(n)) for n in names]
    places = [names.index(n) for n in key]
    for deleted, *row in zip(table.column(DELETED).to_pylist(), *values, strict=True):
        at = tuple(row[p] for p in places)
        if not deleted:
            rows[at] = tuple(row)
        elif rows.pop(at, None) is None:
            raise InputError(
                "INPUT.RETRACTION",
                f"epoch {epoch} deletes the key {at!r:.200}, which has no row",
                fix="read the changelog from its first epoch",
            )


def rows_of(table: pa.Table | pa.RecordBatch) -> Iterator[tuple[str, Row]]:
    """Kind and row of each change in retract form."""
    names = [n for n in table.schema.names if n not in (KIND, EPOCH)]
    values = [plain(table.column(n)) for n in names]
    kinds = table.column(KIND).to_pylist()
    for kind, *row in zip(kinds, *values, strict=True):
        if kind not in WEIGHTS:
            raise InputError("INPUT.KIND", f"{kind!r} is no kind of change", fix="+I, -U, +U or -D")
        yield kind, tuple(row)


def plain(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Values that can be compared: every NaN is the same, and 0.0 is -0.0."""
    values = python(column)
    if not pa.types.is_floating(column.type):
        return values
    return [NAN if v is not None and math.isnan(v) else v for v in values]
