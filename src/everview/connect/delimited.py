"""Delimited lines made columns: fast for blocks without faults, line by line only where one is.

    lines ──pyarrow.csv, typed──▶ columns                      a block without faults
      └─ a fault ─▶ the block in pieces ─▶ split by hand, every value converted on its own

Both ways read a good line as the same values; the second also says which lines are bad. A line is
a record: a quoted field may hold delimiters and doubled quotes, but no line end (`Layout.newlines`
reads such files too, each as a whole).

Not here: what the columns mean (update_sequence, folder), where lines are cut (lines).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from everview.connect.convert import FALSE, TRUE, Converted, Mask, either, from_text
from everview.connect.lines import RETURN, Bytes, Lines, Places
from everview.delta.vector import arrow_type
from everview.schema import Type

SMALL = 2048  # lines that are split by hand rather than tried again in pieces
_PIECES = 16
_QUOTE = 34


@dataclass(frozen=True, slots=True)
class Layout:
    """How the fields of a line stand.

    `names` are all fields in order; fields nobody wants need a name too. `closed`: a delimiter
    follows the last field as well. `quoting`: fields may be in double quotes. `empty_text`: an
    empty field is the empty text for STRING (otherwise NULL, as it is for every other type; a
    field `""` in quotes is the empty text always).
    """

    names: tuple[str, ...]
    delimiter: str = ","
    quoting: bool = True
    closed: bool = False
    empty_text: bool = False
    newlines: bool = False
    zone: str = "UTC"


Columns = tuple[dict[str, pa.Array], Mask | None]

_END = "#end"  # the field after a closing delimiter: always empty


def parse(lines: Lines, layout: Layout, wanted: Mapping[str, Type]) -> Columns:
    """The wanted columns of these lines, one value per line, and a mask of the bad lines."""
    if not len(lines):
        return {n: pa.array([], arrow_type(t)) for n, t in wanted.items()}, None
    fast = _fast(lines, layout, wanted)
    if fast is not None:
        return fast
    if len(lines) <= SMALL:
        return _by_hand(lines, layout, wanted)
    size = max(SMALL, len(lines) // _PIECES)
    places = np.arange(len(lines), dtype=np.int64)
    parts = [parse(lines.take(places[i : i + size]), layout, wanted)
             for i in range(0, len(lines), size)]  # fmt: skip
    return _concat(parts, [len(places[i : i + size]) for i in range(0, len(lines), size)])


def _concat(parts: list[Columns], sizes: list[int]) -> Columns:
    columns = {n: pa.concat_arrays([c[n] for c, _ in parts]) for n in parts[0][0]}
    if all(mask is None for _, mask in parts):
        return columns, None
    masks = [np.zeros(n, np.bool_) if m is None else m
             for (_, m), n in zip(parts, sizes, strict=True)]  # fmt: skip
    return columns, np.concatenate(masks)


def gather(lines: Lines) -> Bytes:
    """The bytes of the lines, one after the other, line ends included."""
    if lines.packed:
        return lines.buffer
    spans = _spans(lines.buffer, lines.starts, lines.stops)
    start, stop = spans.offset, spans.offset + len(spans)
    offsets = np.frombuffer(spans.buffers()[1], np.int64)
    values = np.frombuffer(spans.buffers()[2], np.uint8)
    return values[offsets[start] : offsets[stop]]


def _spans(buffer: Bytes, starts: Places, ends: Places) -> pa.Array:
    """The pieces [start, end) of a buffer, in ascending order, as a column of bytes."""
    bounds = np.empty(2 * len(starts) + 1, np.int64)
    bounds[0:-1:2], bounds[1::2], bounds[-1] = starts, ends, ends[-1]
    every = pa.Array.from_buffers(
        pa.large_binary(), 2 * len(starts), [None, pa.py_buffer(bounds), pa.py_buffer(buffer)]
    )
    return every.take(pa.array(np.arange(0, 2 * len(starts), 2, dtype=np.int64)))


# ------------------------------------------------------------------------------------ the fast way


def _fast(lines: Lines, layout: Layout, wanted: Mapping[str, Type]) -> Columns | None:
    """All lines by one call of Arrow's CSV reader; None if any of them has a fault."""
    data = gather(lines)
    if np.count_nonzero(data == RETURN) != np.count_nonzero(lines.stops - lines.ends - 1):
        return None  # Arrow takes a carriage return inside a line for a line end
    if layout.quoting and not _closed(lines.raw(len(lines) - 1), layout):
        return None  # and a quote that is never closed for a field up to the end of the data
    try:
        table = read_typed(data, layout, wanted)
        return finish(table, layout, wanted) if table.num_rows == len(lines) else None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def read_typed(data: Bytes, layout: Layout, wanted: Mapping[str, Type]) -> pa.Table:
    """Arrow's CSV reader on lines without a header; texts still to be converted stay text."""
    types = {n: _read_type(t) for n, t in wanted.items()}
    names = list(layout.names)
    if layout.closed:
        names.append(_END)
        types[_END] = pa.null()
    if not types:  # nothing is wanted but the number of lines with the right number of fields
        types[names[-1]] = pa.string()
    return arrow_csv.read_csv(
        pa.py_buffer(data),
        read_options=arrow_csv.ReadOptions(
            column_names=names, use_threads=False, block_size=min(len(data) + 1, 2**31 - 2)
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=layout.delimiter,
            quote_char='"' if layout.quoting else False,
            double_quote=layout.quoting,
            newlines_in_values=layout.newlines,
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=[""],
            true_values=list(TRUE),
            false_values=list(FALSE),
            strings_can_be_null=not layout.empty_text,
            quoted_strings_can_be_null=False,
        ),
    )


def finish(table: pa.Table, layout: Layout, wanted: Mapping[str, Type]) -> Columns:
    """The columns of a table that `read_typed` gave, with their texts converted."""
    columns: dict[str, pa.Array] = {}
    bad: Mask | None = None
    for name, t in wanted.items():
        array = table.column(name)
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
        if array.type != arrow_type(t):
            array, more = _from_text(array, t, layout)
            bad = either(bad, more)
        elif t.is_decimal:
            array.validate(full=True)  # the reader lets pass what is too big for the precision
        columns[name] = array
    return columns, bad


def _read_type(t: Type) -> pa.DataType:
    """What Arrow's reader converts exactly as `from_text` does, it converts; the rest is text."""
    late = t.name in ("TIMESTAMP", "TIMESTAMP_NTZ", "BINARY")
    return pa.string() if late else arrow_type(t)


def _from_text(array: pa.Array, t: Type, layout: Layout) -> Converted:
    """Fields as type `t`; an empty field is NULL where the type has no empty text."""
    if layout.empty_text and t.name != "STRING":
        array = pc.if_else(pc.equal(pc.binary_length(array), 0), pa.scalar(None, array.type), array)
    return from_text(array, t, zone=layout.zone)


def _closed(record: bytes, layout: Layout) -> bool:
    return b'"' not in record or split_record(record, field_pattern(layout.delimiter)) is not None


# ----------------------------------------------------------------------------------- line by line


def _by_hand(lines: Lines, layout: Layout, wanted: Mapping[str, Type]) -> Columns:
    """Each line on its own: bad lines are NULL in every column and marked."""
    data = gather(lines)
    stops = np.cumsum(lines.stops - lines.starts)
    starts = stops - (lines.stops - lines.starts)
    own = Lines(data, starts, starts + (lines.ends - lines.starts), stops)
    if layout.quoting and (data == _QUOTE).any():
        good, fields = _split_quoted(own, layout, wanted)
    else:
        good, fields = _split_plain(own, layout, wanted)
    bad = np.ones(len(lines), np.bool_)
    bad[good] = False
    back = np.full(len(lines), -1, np.int64)
    back[good] = np.arange(len(good))
    index = pa.array(back, mask=bad)
    columns = {}
    for name, t in wanted.items():
        array, more = _from_text(fields[name], t, layout)
        if more is not None:
            bad[good[more]] = True
        columns[name] = array.take(index)
    return columns, bad if bad.any() else None


def _split_plain(
    lines: Lines, layout: Layout, wanted: Mapping[str, Type]
) -> tuple[Places, dict[str, pa.Array]]:
    """Split lines without quotes at their delimiters, all at once."""
    cuts = np.flatnonzero(lines.buffer == ord(layout.delimiter)).astype(np.int64, copy=False)
    first = np.searchsorted(cuts, lines.starts)
    count = np.searchsorted(cuts, lines.ends) - first
    need = len(layout.names) - (0 if layout.closed else 1)
    right = count == need
    if layout.closed:
        last = cuts[np.minimum(first + need - 1, len(cuts) - 1)] if len(cuts) else first
        right &= last == lines.ends - 1
    good = np.flatnonzero(right)
    starts = np.empty((len(good), len(layout.names)), np.int64)
    ends = np.empty_like(starts)
    at = cuts[first[good][:, None] + np.arange(need)] if need else starts[:, :0]
    starts[:, 0] = lines.starts[good]
    starts[:, 1:] = at[:, : starts.shape[1] - 1] + 1
    ends[:, : at.shape[1]] = at
    if not layout.closed:
        ends[:, -1] = lines.ends[good]
    fields = {}
    for name in wanted:
        k = layout.names.index(name)
        array = _column(lines.buffer, starts[:, k], ends[:, k])
        if not layout.empty_text:
            empty = pc.equal(pc.binary_length(array), 0)
            array = pc.if_else(empty, pa.scalar(None, array.type), array)
        fields[name] = array
    return good, fields


def _column(buffer: Bytes, starts: Places, ends: Places) -> pa.Array:
    if not len(starts):
        return pa.array([], pa.binary())
    return _spans(buffer, starts, ends).cast(pa.binary())


def _split_quoted(
    lines: Lines, layout: Layout, wanted: Mapping[str, Type]
) -> tuple[Places, dict[str, pa.Array]]:
    good: list[int] = []
    rows: list[list[bytes | None]] = []
    pattern = field_pattern(layout.delimiter)
    for i in range(len(lines)):
        row = split_record(lines.raw(i), pattern)
        if row is not None and len(row) == len(layout.names):
            good.append(i)
            rows.append(row)
    places = [layout.names.index(n) for n in wanted]
    fields = {
        n: pa.array([row[k] for row in rows], pa.binary())
        for n, k in zip(wanted, places, strict=True)
    }
    return np.array(good, np.int64), fields


def field_pattern(delimiter: str) -> re.Pattern[bytes]:
    """One field and what follows it: a delimiter or the end of the record."""
    d = re.escape(delimiter.encode())
    return re.compile(
        rb'(?:"((?:[^"]++|"")*+)"([^' + d + rb"]*)|([^" + d + rb"]*))(" + d + rb"|\Z)", re.S
    )


def split_record(record: bytes, pattern: re.Pattern[bytes]) -> list[bytes | None] | None:
    """The fields of one record: None for an empty one without quotes; None in all if it is bad.

    What stands between a closing quote and the delimiter belongs to the field, as it is.
    """
    fields: list[bytes | None] = []
    at = 0
    while True:
        found = pattern.match(record, at)
        if found is None:
            return None
        quoted, tail, plain, close = found.groups()
        if quoted is None:
            if plain.startswith(b'"'):  # a quote that is never closed
                return None
            fields.append(plain or None)
        else:
            fields.append(quoted.replace(b'""', b'"') + tail)
        if not close:
            return fields
        at = found.end()


def whole_file(
    data: bytes, layout: Layout, wanted: Mapping[str, Type]
) -> tuple[Columns, list[bytes]]:
    """A file whose quoted fields may hold line ends, read at once; and the text of each record."""
    records = split_records(data, layout)
    if not records or _closed(records[-1], layout):
        try:
            table = read_typed(np.frombuffer(data, np.uint8), layout, wanted)
            columns, bad = finish(table, layout, wanted)
            if bad is None and table.num_rows == len(records):
                return (columns, None), records
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            pass
    pattern = field_pattern(layout.delimiter)
    rows = [split_record(r, pattern) for r in records]
    wrong = [r is None or len(r) != len(layout.names) for r in rows]
    nothing: list[bytes | None] = [None] * len(layout.names)
    good = [nothing if r is None or w else r for r, w in zip(rows, wrong, strict=True)]
    bad = np.array(wrong, np.bool_)
    columns = {}
    for name, t in wanted.items():
        k = layout.names.index(name)
        columns[name], more = _from_text(pa.array([r[k] for r in good], pa.binary()), t, layout)
        bad = bad if more is None else bad | more
    return (columns, bad), records


def split_records(data: bytes, layout: Layout) -> list[bytes]:
    """Records of a file in which a quoted field may go over several lines.

    Quotes open only where a field starts; a quote that is never closed makes its own line a record.
    """
    d = re.escape(layout.delimiter.encode())
    field = rb'(?:"(?:[^"]++|"")*+"[^' + d + rb"\n]*|[^" + d + rb"\n]*)"
    pattern = re.compile(field + rb"(?:" + d + field + rb")*(?:\n|\Z)")
    records, at = [], 0
    while at < len(data):
        found = pattern.match(data, at)
        end = found.end() if found else data.find(b"\n", at) + 1 or len(data)
        record = data[at:end].rstrip(b"\n").removesuffix(b"\r")
        if record:
            records.append(record)
        at = end
    return records
