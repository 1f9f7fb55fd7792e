"""A typed column of values, and how it goes to and from Arrow.

| type                         | `values`                                              |
|------------------------------|-------------------------------------------------------|
| BOOLEAN                      | bool                                                  |
| TINYINT..BIGINT              | int64                                                 |
| DATE                         | int64, days since 1970-01-01                          |
| TIMESTAMP, TIMESTAMP_NTZ     | int64, microseconds since 1970-01-01 (UTC / no zone)  |
| DECIMAL(p,s)                 | int64 scaled by 10^s; object (Python ints) if too big |
| FLOAT / DOUBLE               | float32 / float64                                     |
| STRING / BINARY              | int64 positions in `pool`                             |

`valid` is None (no NULLs) or bool per row; under a NULL the value is unspecified but in range.
A decimal is an int64 array whenever its values fit, whatever its declared precision: arithmetic
takes the narrow path when bounds allow it and exact Python integers when they don't.

Not here: expressions (delta/evaluate), many columns with weights (delta/delta).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from everview.schema import Type

Array = npt.NDArray[Any]
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

_ARROW: dict[str, pa.DataType] = {
    "BOOLEAN": pa.bool_(), "TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INT": pa.int32(),
    "BIGINT": pa.int64(), "FLOAT": pa.float32(), "DOUBLE": pa.float64(), "STRING": pa.string(),
    "BINARY": pa.binary(), "DATE": pa.date32(), "TIMESTAMP": pa.timestamp("us", tz="UTC"),
    "TIMESTAMP_NTZ": pa.timestamp("us"),
}  # fmt: skip
_NUMPY: dict[str, Any] = {"BOOLEAN": np.bool_, "FLOAT": np.float32, "DOUBLE": np.float64}


def arrow_type(t: Type) -> pa.DataType:
    """The Arrow type that columns of `t` have outside: in blobs, logs, files and Spark."""
    return pa.decimal128(t.precision, t.scale) if t.is_decimal else _ARROW[t.name]


def numpy_type(t: Type) -> Any:
    """The dtype of `values` (decimals may also be object)."""
    return _NUMPY.get(t.name, np.int64)


@dataclass(slots=True)
class Vector:
    """One column of `len(values)` values of one type; see the table above."""

    type: Type
    values: Array
    valid: Array | None = None
    pool: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Array) -> Vector:
        """The rows at these positions (int array) or of this mask (bool array)."""
        valid = None if self.valid is None else self.valid[rows]
        return Vector(self.type, self.values[rows], valid, self.pool)

    def spread(self, rows: Array) -> Vector:
        """As rows of a longer vector, at the places of this mask; NULL elsewhere."""
        if not len(self):
            return Vector.constant(None, self.type, len(rows))
        out = self.take(np.where(rows, np.cumsum(rows) - 1, 0))
        out.valid = rows if out.valid is None else out.valid & rows
        return out

    def to_arrow(self) -> pa.Array:
        """An Arrow array of `arrow_type(self.type)`; NULLs where not valid."""
        t, mask = self.type, None if self.valid is None else ~self.valid
        if t.is_decimal:
            return _decimal_to_arrow(self.values, mask, arrow_type(t))
        if t.is_text:
            assert self.pool is not None
            index = pa.array(self.values, mask=mask)
            return self.pool.take(index).cast(arrow_type(t))
        values = self.values
        if t.name == "DATE":
            values = values.astype(np.int32)
        elif t.is_integer:
            values = values.astype(arrow_type(t).to_pandas_dtype())
        array = pa.array(values, mask=mask)
        return array.cast(arrow_type(t)) if array.type != arrow_type(t) else array

    @staticmethod
    def from_arrow(array: pa.Array | pa.ChunkedArray, t: Type) -> Vector:
        """The column of an Arrow array (of `arrow_type(t)`, or of a type that casts to it)."""
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
            if isinstance(array, pa.ChunkedArray):  # no chunks at all
                array = pa.array([], arrow_type(t))
        if isinstance(array, pa.DictionaryArray) and not t.is_text:
            array = array.dictionary_decode()
        valid = None
        if array.null_count:
            valid = np.asarray(array.is_valid())
        if t.is_text:
            return _text_from_arrow(array, t, valid)
        if array.type != arrow_type(t):
            array = array.cast(arrow_type(t))
        if t.is_decimal:
            return Vector(t, _decimal_from_arrow(array), valid)
        if t.name == "BOOLEAN":
            filled = pc.fill_null(array, False) if valid is not None else array
            return Vector(t, filled.to_numpy(zero_copy_only=False), valid)
        if t.is_float:
            filled = pc.fill_null(array, 0.0) if valid is not None else array
            return Vector(t, filled.to_numpy(zero_copy_only=False), valid)
        storage = array
        if t.name == "DATE":
            storage = array.view(pa.int32())
        elif t.name.startswith("TIMESTAMP"):
            storage = array.view(pa.int64())
        if valid is not None:
            storage = pc.fill_null(storage, 0)
        return Vector(t, storage.to_numpy(zero_copy_only=False).astype(np.int64, copy=False), valid)

    @staticmethod
    def constant(value: Any, t: Type, n: int) -> Vector:
        """`n` times one value, as stored in `values`; text as str or bytes; None: NULL."""
        valid = np.zeros(n, np.bool_) if value is None else None
        if t.is_text:
            pool = pa.array([value if value is not None else ("" if t.name == "STRING" else b"")])
            return Vector(t, np.zeros(n, np.int64), valid, pool.cast(arrow_type(t)))
        if value is None:
            return Vector(t, np.zeros(n, numpy_type(t)), valid)
        if t.is_decimal and not INT64_MIN <= value <= INT64_MAX:
            values = np.empty(n, object)
            values[:] = value
            return Vector(t, values)
        return Vector(t, np.full(n, value, numpy_type(t)), valid)


def concat(vectors: list[Vector]) -> Vector:
    """The rows of several vectors of one type, in order."""
    first = vectors[0]
    if len(vectors) == 1:
        return first
    valid = None
    if any(v.valid is not None for v in vectors):
        valid = np.concatenate(
            [np.ones(len(v), np.bool_) if v.valid is None else v.valid for v in vectors]
        )
    if not first.type.is_text:
        return Vector(first.type, np.concatenate([v.values for v in vectors]), valid)
    base, parts, pools = 0, [], []
    for v in vectors:
        assert v.pool is not None
        parts.append(v.values + base)
        pools.append(v.pool)
        base += len(v.pool)
    return Vector(first.type, np.concatenate(parts), valid, pa.concat_arrays(pools))


def narrow(values: Array) -> Array:
    """An object array of Python ints as int64 if every value fits, else unchanged."""
    if values.dtype != object or not len(values):
        return values.astype(np.int64) if values.dtype == object else values
    if min(values) >= INT64_MIN and max(values) <= INT64_MAX:
        return values.astype(np.int64)
    return values


def _text_from_arrow(array: pa.Array, t: Type, valid: Array | None) -> Vector:
    if not isinstance(array, pa.DictionaryArray):
        array = array.dictionary_encode()
    index = array.indices
    if index.null_count:
        index = pc.fill_null(index, 0)
    pool = array.dictionary.cast(arrow_type(t))
    if not len(pool):
        pool = pa.array(["" if t.name == "STRING" else b""], arrow_type(t))
    if pool.null_count:  # a NULL inside the dictionary
        codes = index.to_numpy(zero_copy_only=False)
        null_codes = ~np.asarray(pool.is_valid())
        nulls = null_codes[codes]
        valid = ~nulls if valid is None else valid & ~nulls
        pool = pc.fill_null(pool, "" if t.name == "STRING" else b"")
    return Vector(t, index.to_numpy(zero_copy_only=False).astype(np.int64), valid, pool)


def _decimal_from_arrow(array: pa.Array) -> Array:
    """Scaled integers of a decimal128 array; int64 where all fit."""
    n = len(array)
    if not n:
        return np.zeros(0, np.int64)
    if array.null_count:
        array = pc.fill_null(array, pa.scalar(0, array.type))
    limbs = np.frombuffer(array.buffers()[1], np.int64)[2 * array.offset : 2 * (array.offset + n)]
    low, high = limbs[0::2], limbs[1::2]
    if np.array_equal(high, low >> 63):
        return low.copy()
    wide: Array = (high.astype(object) << 64) | low.view(np.uint64).astype(object)
    return wide


def _decimal_to_arrow(values: Array, mask: Array | None, t: pa.DataType) -> pa.Array:
    n = len(values)
    limbs = np.empty(2 * n, np.int64)
    if values.dtype == object:
        limbs[0::2] = np.array([(v & (2**64 - 1)) for v in values], np.uint64).view(np.int64)
        limbs[1::2] = np.array([v >> 64 for v in values], np.int64)
    else:
        limbs[0::2] = values
        limbs[1::2] = values >> 63
    bitmap = None if mask is None else pa.array(~mask).buffers()[1]
    return pa.Array.from_buffers(t, n, [bitmap, pa.py_buffer(limbs)])


def python(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The values of an Arrow column as Python's; of a date or moment beyond the years 1 to 9999,
    which Python has not, the text."""
    try:
        values: list[Any] = column.to_pylist()
    except OverflowError:
        values = [_python(scalar) for scalar in column]
    return values


def _python(scalar: pa.Scalar) -> Any:
    try:
        return scalar.as_py()
    except OverflowError:
        text: str = scalar.cast(pa.string()).as_py()
        return text if text.startswith("-") else f"+{text}"
