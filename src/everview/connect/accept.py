"""From parsed columns to `Changes`: which rows are refused, and why.

The first of these that holds is the reason: PARSE, UNKNOWN_CHANGE, NULL_KEY, NOT_NULL. A deletion
from a keyed relation needs its key columns only, so NULLs elsewhere are no fault there. Only the
columns that are wanted are looked at: a fault in a column that no view uses refuses no row.

Not here: parsing (convert, delimited), contradictions between changes (operators).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from everview.connect.convert import Mask
from everview.delta.changes import DELETE, UPDATE, Changes, Reason, Reject
from everview.schema import Relation

RAW_LENGTH = 200
_REASONS: tuple[Reason, ...] = ("PARSE", "UNKNOWN_CHANGE", "NULL_KEY", "NOT_NULL")

Ops = npt.NDArray[np.int8]

_INSERTS = ("+", "i", "insert", "c", "r", "update_postimage", "+1", "1", "+i", "+u")
_DELETES = ("-", "d", "delete", "update_preimage", "-1", "-d", "-u")
_UPDATES = ("u", "update", "+2", "2")
CHANGES: dict[str, int] = {
    **dict.fromkeys(_INSERTS, 1),
    **dict.fromkeys(_DELETES, DELETE),
    **dict.fromkeys(_UPDATES, UPDATE),
}


def ops_of(column: pa.Array, relation: Relation) -> tuple[Ops, Mask | None]:
    """The ops that a change column names, in any case; a mask of values that name none.

    UPDATE means "by key", so a relation without a key has none.
    """
    try:
        codes = column.cast(pa.string()) if not pa.types.is_dictionary(column.type) else column
        codes = codes.dictionary_encode() if not pa.types.is_dictionary(codes.type) else codes
    except pa.ArrowException:  # no text can be made of it
        return np.zeros(len(column), np.int8), np.ones(len(column), np.bool_)
    values = [None if v is None else str(v).strip().lower() for v in codes.dictionary.to_pylist()]
    known = [0 if v is None else CHANGES.get(v, 0) for v in values]
    if not relation.key:
        known = [0 if op == UPDATE else op for op in known]
    table = np.array([*known, 0], np.int8)
    op = table[pc.fill_null(codes.indices, len(known)).to_numpy(zero_copy_only=False)]
    unknown = op == 0
    return op, unknown if unknown.any() else None


def accept(
    relation: Relation,
    columns: dict[str, pa.Array],
    op: Ops,
    *,
    segment: str,
    start: int,
    rows: npt.NDArray[np.int64] | None,
    raw: Callable[[int], bytes | str],
    parse: Mask | None = None,
    unknown: Mask | None = None,
) -> Changes:
    """One batch of changes; `raw(i)` is the text of row i, asked for only when it is refused."""
    null_key, not_null = _nulls(relation, columns, op)
    masks = (parse, unknown, null_key, not_null)
    if all(m is None for m in masks):
        return Changes(relation.name, _batch(columns, len(op)), op, segment, start, rows)
    reason = np.full(len(op), -1, np.int8)
    for code in range(len(masks) - 1, -1, -1):
        mask = masks[code]
        if mask is not None:
            reason[mask] = code
    keep = np.flatnonzero(reason < 0)
    refused = np.flatnonzero(reason >= 0)
    numbers = np.arange(len(op), dtype=np.int64) if rows is None else rows
    rejects = [
        Reject(relation.name, segment, start, int(numbers[i]), _REASONS[reason[i]], cut_raw(raw(i)))
        for i in refused.tolist()
    ]
    kept = {n: a.take(pa.array(keep)) for n, a in columns.items()}
    return Changes(
        relation.name, _batch(kept, len(keep)), op[keep], segment, start, numbers[keep], rejects
    )


def cut_raw(raw: bytes | str) -> str:
    """What a reject shows of its row: at most 200 characters, bytes that are no UTF-8 marked."""
    text = raw[: RAW_LENGTH * 4].decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    return text[:RAW_LENGTH]


def _nulls(
    relation: Relation, columns: dict[str, pa.Array], op: Ops
) -> tuple[Mask | None, Mask | None]:
    """Rows with NULL in a key column; rows with NULL in another column that must not be NULL."""
    null_key: Mask | None = None
    not_null: Mask | None = None
    for name, array in columns.items():
        in_key = name in relation.key
        if not array.null_count or not (in_key or not relation.column(name).nullable):
            continue
        mask = np.asarray(array.is_null())
        if in_key:
            null_key = mask if null_key is None else null_key | mask
            continue
        if relation.key:
            mask = mask & (op != DELETE)
        not_null = mask if not_null is None else not_null | mask
    return null_key, not_null


def _batch(columns: dict[str, pa.Array], rows: int) -> pa.RecordBatch:
    if columns:
        return pa.RecordBatch.from_pydict(columns)
    empty = pa.StructArray.from_buffers(pa.struct([]), rows, [None])
    return pa.RecordBatch.from_struct_array(empty)  # no columns, and still so many rows
