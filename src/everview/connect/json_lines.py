"""JSON lines made columns: one object per line, fields by name, fields nobody wants ignored.

Numbers are read from their digits, never through a float, unless the column is a float. A number
may also stand as text (as 38 digits often do). DATE, TIMESTAMP and STRING are JSON texts, BINARY
is base64 text. A field that is missing is NULL. Names are read in any case, object by object; one
that an object has in two spellings, both with a value, is a fault of that line.

Not here: cutting files into ranges (lines, folder), the change column's meaning (accept).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as arrow_json

from everview.connect.convert import Mask, either, from_text
from everview.connect.delimited import Columns, gather
from everview.connect.lines import Bytes, Lines
from everview.delta.vector import arrow_type
from everview.schema import Type

SMALL = 256  # lines that are read one by one rather than tried again in pieces
_CHANGE = "#change"
_PIECES = 32


def parse_json(
    lines: Lines,
    wanted: Mapping[str, Type],
    *,
    change: str | None = None,
    zone: str = "UTC",
) -> tuple[dict[str, pa.Array], pa.Array | None, Mask | None]:
    """The wanted columns, the change column (None: none is asked for), and a mask of bad lines."""
    columns, bad = _parse(lines, _Asked(dict(wanted), change, zone))
    return {n: columns[n] for n in wanted}, None if change is None else columns[_CHANGE], bad


@dataclass(frozen=True, slots=True)
class _Asked:
    types: dict[str, Type]
    change: str | None
    zone: str


def _parse(lines: Lines, asked: _Asked) -> Columns:
    for change_type in (pa.string(), pa.int64()) if asked.change is not None else (pa.null(),):
        fast = _fast(lines, asked, change_type)
        if fast is not None:
            return fast
    if len(lines) <= SMALL:
        return _by_hand(lines, asked)
    places = np.arange(len(lines), dtype=np.int64)
    size = max(SMALL, len(lines) // _PIECES)
    cuts = [places[i : i + size] for i in range(0, len(lines), size)]
    parts = [_parse(lines.take(c), asked) for c in cuts]
    columns = {n: pa.concat_arrays([c[n] for c, _ in parts]) for n in parts[0][0]}
    masks = [np.zeros(len(c), np.bool_) if m is None else m
             for (_, m), c in zip(parts, cuts, strict=True)]  # fmt: skip
    bad = np.concatenate(masks)
    return columns, bad if bad.any() else None


def _fast(lines: Lines, asked: _Asked, change_type: pa.DataType) -> Columns | None:
    """All lines by one call of Arrow's JSON reader; None if any of them has a fault."""
    fields = {n: _read_type(t) for n, t in asked.types.items()}
    if asked.change is not None:
        fields[asked.change] = change_type
    if not len(lines) or not fields:
        return None
    table = _table(gather(lines), fields, len(lines))
    if table is None:
        return None
    columns: dict[str, pa.Array] = {}
    bad: Mask | None = None
    for name, t in asked.types.items():
        array = table.column(name).combine_chunks()
        if array.type != arrow_type(t):
            array, more = from_text(array, t, zone=asked.zone)
            bad = either(bad, more)
        columns[name] = array
    if asked.change is not None:
        columns[_CHANGE] = table.column(asked.change).combine_chunks().cast(pa.string())
    return columns, bad


def _table(data: Bytes, fields: dict[str, pa.DataType], rows: int) -> pa.Table | None:
    """The fields of every object. Other spellings are looked for where a field is missing."""
    table = _read(data, fields)
    if table is None or table.num_rows != rows:
        return None
    lacking = [n for n in fields if table.column(n).null_count]
    spelled = _spellings(data, lacking)
    if not spelled:
        return table
    table = _read(data, fields | {s: fields[n] for n, others in spelled.items() for s in others})
    if table is None:
        return None
    for n, others in spelled.items():
        columns = [table.column(s) for s in (n, *others)]
        if sum(len(c) - c.null_count for c in columns) > rows - pc.coalesce(*columns).null_count:
            return None  # an object has two of them
        table = table.set_column(table.column_names.index(n), n, pc.coalesce(*columns))
    return table


def _read(data: Bytes, fields: dict[str, pa.DataType]) -> pa.Table | None:
    try:
        table = arrow_json.read_json(
            pa.py_buffer(data),
            read_options=arrow_json.ReadOptions(
                use_threads=False, block_size=min(len(data) + 1, 2**31 - 2)
            ),
            parse_options=arrow_json.ParseOptions(
                explicit_schema=pa.schema(list(fields.items())),
                unexpected_field_behavior="ignore",
            ),
        )
        table.validate(full=True)  # the reader lets bytes pass that are no UTF-8
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    return table


def _spellings(data: Bytes, names: list[str]) -> dict[str, list[str]]:
    """How else these names are written in the text, as far as case goes."""
    if not names:
        return {}
    pattern = b"|".join(re.escape(n.encode()) for n in names)
    found = set(re.findall(rb'"(' + pattern + rb')"\s*:', pa.py_buffer(data), re.IGNORECASE))
    spelled: dict[str, list[str]] = {}
    for n in names:
        others = sorted(
            f.decode() for f in found if f.lower() == n.encode().lower() and f != n.encode()
        )
        if others:
            spelled[n] = others
    return spelled


def _read_type(t: Type) -> pa.DataType:
    late = t.name in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "BINARY")
    return pa.string() if late else arrow_type(t)


# ----------------------------------------------------------------------------------- line by line


class _Number(str):
    """A number's digits as they stand in the text."""

    __slots__ = ()


class _Bad(Exception):
    pass


def _by_hand(lines: Lines, asked: _Asked) -> Columns:
    wanted, change = asked.types, asked.change
    texts: dict[str, list[str | None]] = {n: [] for n in wanted}
    changes: list[str | None] = []
    bad = np.zeros(len(lines), np.bool_)
    for i in range(len(lines)):
        try:
            row = _object(lines.raw(i))
            values = [_text(_field(row, n), t) for n, t in wanted.items()]
            said = _field(row, change) if change is not None else None
        except (_Bad, ValueError, RecursionError):
            bad[i], values, said = True, [None] * len(wanted), None
        for name, value in zip(wanted, values, strict=True):
            texts[name].append(value)
        changes.append(said if isinstance(said, str) else None)
    columns = {}
    for name, t in wanted.items():
        array = pa.array([_encoded(v) for v in texts[name]], pa.binary())
        columns[name], more = from_text(array, t, zone=asked.zone)
        if more is not None:
            bad |= more
    if change is not None:
        columns[_CHANGE] = pa.array(changes, pa.string())
    return columns, bad if bad.any() else None


def _object(line: bytes) -> dict[str, list[Any]]:
    """The values of an object by name in lower case: what its spellings have, NULLs left out."""
    row = json.loads(
        line.decode("utf-8"), parse_int=_Number, parse_float=_Number, parse_constant=_Number,
        object_pairs_hook=_once,
    )  # fmt: skip
    if not isinstance(row, dict):
        raise _Bad
    folded: dict[str, list[Any]] = {}
    for name, value in row.items():
        if value is not None:
            folded.setdefault(name.lower(), []).append(value)
    return folded


def _field(row: dict[str, list[Any]], name: str) -> Any:
    values = row.get(name.lower(), [None])
    if len(values) > 1:
        raise _Bad
    return values[0]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise _Bad  # a name twice: which one is meant?
    return row


def _text(value: Any, t: Type) -> str | None:
    """A JSON value as the text that `from_text` reads; `_Bad` if it is of the wrong kind."""
    if value is None:
        return None
    if isinstance(value, bool):
        if t.name == "BOOLEAN":
            return "true" if value else "false"
    elif isinstance(value, _Number):
        if t.is_numeric:
            return str(value)
    elif isinstance(value, str) and t.name != "BOOLEAN":
        return value
    raise _Bad


def _encoded(value: str | None) -> bytes | None:
    return None if value is None else value.encode("utf-8", "surrogatepass")
