"""Values as they stand in files, made into columns of the declared types: exact, or refused.

Every function here returns the column and a mask of the rows whose value could not be converted
(None: all could); the column is NULL there. A value is converted only if nothing is lost:

| from                | to                 | how                                                   |
|---------------------|--------------------|-------------------------------------------------------|
| text                | numbers, DATE      | Arrow's strict parsers; digits beyond the scale: no   |
| text                | BOOLEAN            | true / false / 1 / 0                                  |
| text                | TIMESTAMP          | ISO; with a zone, or else in the source's zone        |
| text                | TIMESTAMP_NTZ      | ISO, without a zone                                   |
| text                | BINARY             | base64                                                |
| integer, decimal    | integer, decimal   | if it fits, digit by digit                            |
| FLOAT, DOUBLE       | DECIMAL            | through its shortest decimal text                     |
| date, timestamp     | DATE, TIMESTAMP*   | to the microsecond; a DATE only of midnights          |

Not here: NULL where it may not be (accept), cutting lines into fields (delimited).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from everview.delta.evaluate import parse
from everview.delta.evaluate.zones import to_utc
from everview.delta.vector import arrow_type
from everview.errors import InputError
from everview.schema import Column, Type

Mask = npt.NDArray[np.bool_]
Converted = tuple[pa.Array, Mask | None]
Cast = Callable[[pa.Array], pa.Array]

TRUE, FALSE = ("1", "True", "TRUE", "true"), ("0", "False", "FALSE", "false")
_ZONED = r"[T ]\d\d.*(Z|[+-]\d\d(:?\d\d)?)$"
_FAR = re.compile(r"\s*(?:[+-]\d{4,}|\d{5,})-")
_PIECES = 32


def isolate(array: pa.Array, cast: Cast, to: pa.DataType) -> Converted:
    """`cast(array)`, in which only the values that it refuses are missing.

    A column that converts costs one call. Each refused value costs a few calls more.
    """
    try:
        return cast(array), None
    except (pa.ArrowInvalid, ValueError):
        if len(array) == 1:
            return pa.nulls(1, to), np.ones(1, np.bool_)
    size = max(1, len(array) // _PIECES)
    done = [isolate(array.slice(i, size), cast, to) for i in range(0, len(array), size)]
    return join(done)


def join(parts: list[Converted]) -> Converted:
    """The rows of several conversions, in order."""
    if len(parts) == 1:
        return parts[0]
    bad = None
    if any(mask is not None for _, mask in parts):
        bad = np.concatenate(
            [np.zeros(len(a), np.bool_) if mask is None else mask for a, mask in parts]
        )
    return pa.concat_arrays([a for a, _ in parts]), bad


def from_text(array: pa.Array, t: Type, *, zone: str = "UTC") -> Converted:
    """A column of text (string or binary) as type `t`. NULLs stay; empty text is no number."""
    array, bad = isolate(array, lambda a: a.cast(pa.string()), pa.string())
    if t.name == "STRING":
        return array, bad
    to = arrow_type(t)
    if t.name == "TIMESTAMP":
        made, more = _timestamps(array, zone)
    elif t.name == "BINARY":
        made, more = isolate(array, _base64, to)
    elif t.name == "BOOLEAN":
        made, more = isolate(array, _booleans, to)
    else:
        made, more = isolate(pc.utf8_trim(array, " \t"), lambda a: a.cast(to), to)
    if more is not None and pa.types.is_temporal(to):
        made, more = _far(array, made, more, t, zone)
    return made, either(bad, more)


def _far(array: pa.Array, made: pa.Array, bad: Mask, t: Type, zone: str) -> Converted:
    """Years of a sign or more than four digits, which Arrow does not read."""
    values = made.cast(pa.int32() if t.name == "DATE" else pa.int64())
    numbers = pc.fill_null(values, 0).to_numpy(zero_copy_only=False).copy()
    valid, left = np.asarray(made.is_valid()).copy(), bad.copy()
    for i in np.flatnonzero(bad).tolist():
        text = array[i].as_py()
        if not _FAR.match(text):
            continue
        if t.name == "DATE":
            value = parse.date(text)
        else:
            stamp = parse.timestamp(text)
            value = None if stamp is None else _micros(*stamp, t, zone)
        if value is not None:
            numbers[i], valid[i], left[i] = value, True, False
    out = pa.array(numbers, mask=~valid).cast(made.type)
    return out, left if left.any() else None


def _micros(local: int, own_zone: str, t: Type, zone: str) -> int | None:
    if t.name == "TIMESTAMP_NTZ":
        return None if own_zone else local
    return int(to_utc(np.array([local]), own_zone or zone)[0])


def from_arrow(array: pa.Array, column: Column, *, zone: str = "UTC") -> Converted:
    """A column of any Arrow type as the declared type; InputError if no value could be exact."""
    t, to = column.type, arrow_type(column.type)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), to), None
    if _is_text(array.type) and t.name != "BINARY":
        return from_text(array.cast(pa.binary()), t, zone=zone)
    if array.type == to:
        return array, None
    cast = _cast(array.type, t, zone)
    if cast is None:
        raise InputError(
            "INPUT.TYPE",
            f"column {column.name} is {array.type} in the file and declared {t}",
            fix="declare the column with a type that holds these values exactly",
        )
    return isolate(array, cast, to)


def either(a: Mask | None, b: Mask | None) -> Mask | None:
    """Rows of one mask or the other."""
    if a is None or b is None:
        return b if a is None else a
    return a | b


def _is_text(t: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t)
        or pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_binary_view(t)
        or pa.types.is_fixed_size_binary(t)
    )  # fmt: skip


def _cast(found: pa.DataType, t: Type, zone: str) -> Cast | None:
    """The exact conversion of an Arrow type to `t`; it raises ArrowInvalid for what does not fit.

    None: there is no such conversion.
    """
    to = arrow_type(t)
    if t.name == "BINARY":
        return (lambda a: a.cast(to)) if _is_text(found) else None
    if pa.types.is_integer(found):
        if t.is_decimal:
            return lambda a: a.cast(pa.string()).cast(to)
        return (lambda a: a.cast(to)) if t.is_numeric else None
    if pa.types.is_decimal(found):
        if t.is_float:
            return lambda a: a.cast(pa.string()).cast(to)
        return (lambda a: a.cast(to)) if t.is_exact else None
    if pa.types.is_floating(found):
        if t.is_decimal:
            return lambda a: a.cast(pa.string()).cast(to)
        narrows = t.name == "FLOAT" and found.bit_width > 32
        return (lambda a: a.cast(to)) if t.is_numeric and not narrows else None
    if pa.types.is_date(found):
        return (lambda a: a.cast(to)) if t.name == "DATE" else None
    if pa.types.is_timestamp(found):
        return _cast_timestamp(found, t, zone)
    return None


def _cast_timestamp(found: pa.TimestampType, t: Type, zone: str) -> Cast | None:
    to = arrow_type(t)
    if t.name == "TIMESTAMP":
        if found.tz is not None:
            return lambda a: a.cast(to)
        return lambda a: _in_zone(a.cast(pa.timestamp("us")), zone)
    if found.tz is not None:
        return None
    if t.name == "DATE":
        return _midnights
    return (lambda a: a.cast(to)) if t.name == "TIMESTAMP_NTZ" else None


def _midnights(array: pa.Array) -> pa.Array:
    days = array.cast(pa.date32())
    if pc.all(pc.equal(days.cast(array.type), array)).as_py() is False:
        raise pa.ArrowInvalid("a time of day would be lost")
    return days


def _timestamps(array: pa.Array, zone: str) -> Converted:
    to = pa.timestamp("us", "UTC")
    array = pc.utf8_trim(array, " \t")
    zoned = pc.match_substring_regex(array, _ZONED)
    mask = pc.fill_null(zoned, False)
    with_zone, bad = isolate(pc.if_else(mask, array, None), lambda a: a.cast(to), to)
    if pc.all(mask).as_py():
        return with_zone, bad
    local, more = isolate(
        pc.if_else(mask, None, array), lambda a: _in_zone(a.cast(pa.timestamp("us")), zone), to
    )
    return pc.if_else(mask, with_zone, local), either(bad, more)


def _in_zone(array: pa.Array, zone: str) -> pa.Array:
    """Local times of a zone as instants: of two the earlier; a time in a gap is refused."""
    placed = pc.assume_timezone(array, zone, ambiguous="earliest", nonexistent="raise")
    return placed.cast(pa.timestamp("us", "UTC"))


def _booleans(array: pa.Array) -> pa.Array:
    place = pc.index_in(array, pa.array([*TRUE, *FALSE]))
    if place.null_count != array.null_count:
        raise pa.ArrowInvalid("neither true nor false")
    return pc.less(place, len(TRUE))


def _base64(array: pa.Array) -> pa.Array:
    try:
        values = [
            None if v is None else base64.b64decode(v, validate=True) for v in array.to_pylist()
        ]
    except binascii.Error as e:
        raise pa.ArrowInvalid(str(e)) from e
    return pa.array(values, pa.binary())
