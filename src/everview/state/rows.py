"""The layout of rows as int64 words, and columns to words and back.

    | column 0 | column 1 ...        | nulls |      one word per value; DECIMAL over 18 digits: two
                                                  nulls: one bit per column, only if any is nullable

Text is its code in the arena's TextTable. Doubles are their bits, with one NaN and one zero, so
that equal words mean equal SQL values. Words under a NULL are zero.

Not here: storing rows (operators/join), interning (state/text).
"""

from __future__ import annotations

import numpy as np

from everview.delta.vector import Array, Vector, arrow_type, narrow
from everview.schema import Column, Type
from everview.state.text import TextTable

_LOW = 2**64 - 1
NULL_BITS = 63


class Layout:
    """Where each of `columns` stands in a row of `width` words."""

    def __init__(self, columns: tuple[Column, ...]) -> None:
        self.columns = columns
        self.types = {c.name: c.type for c in columns}
        self.number = {c.name: i for i, c in enumerate(columns)}
        self.offset: dict[str, int] = {}
        at = 0
        for c in columns:
            self.offset[c.name] = at
            at += c.type.words
        self.nulls = at
        nullable = any(c.nullable for c in columns)
        self.width = at + (-(-len(columns) // NULL_BITS) if nullable else 0)
        self.text = tuple(self.offset[c.name] for c in columns if c.type.is_text)

    def words(self, vectors: dict[str, Vector], texts: TextTable, rows: int) -> Array:
        """int64[rows, width] of these columns; text is interned (without uses)."""
        out = np.zeros((rows, self.width), np.int64)
        for i, c in enumerate(self.columns):
            v, at = vectors[c.name], self.offset[c.name]
            if v.type.is_decimal and c.type.words == 2:
                out[:, at], out[:, at + 1] = _two_words(v.values)
            else:
                out[:, at] = _one_word(v, texts)
            if v.valid is not None:
                null = ~v.valid
                out[null, at : at + c.type.words] = 0
                if self.width > self.nulls:
                    word = self.nulls + i // NULL_BITS
                    out[:, word] |= null.astype(np.int64) << (i % NULL_BITS)
        return out

    def vector(self, words: Array, name: str, texts: TextTable, slots: Array) -> Vector:
        """Column `name` of the rows `slots` of words int64[rows, width]."""
        t, at = self.types[name], self.offset[name]
        valid = self.valid(words, name, slots)
        column = words[slots, at]
        if t.words == 2:
            return Vector(t, _from_two(column, words[slots, at + 1]), valid)
        if t.is_text:
            return _text_vector(column, t, valid, texts)
        if t.name == "BOOLEAN":
            return Vector(t, column.astype(np.bool_), valid)
        if t.is_float:
            doubles = column.view(np.float64)
            return Vector(t, doubles.astype(np.float32) if t.name == "FLOAT" else doubles, valid)
        return Vector(t, column, valid)

    def valid(self, words: Array, name: str, slots: Array) -> Array | None:
        """Which of the rows hold a value in column `name`; None: all."""
        i = self.number[name]
        if self.width == self.nulls or not self.columns[i].nullable:
            return None
        null = (words[slots, self.nulls + i // NULL_BITS] >> (i % NULL_BITS)) & 1
        return ~null.astype(np.bool_) if null.any() else None

    def null_words(self, names: tuple[str, ...]) -> tuple[Array, Array]:
        """Where the null bits of those of these columns stand that may be NULL, and their masks."""
        masks: dict[int, int] = {}
        for i in (self.number[n] for n in names if self.columns[self.number[n]].nullable):
            word = self.nulls + i // NULL_BITS
            masks[word] = masks.get(word, 0) | 1 << (i % NULL_BITS)
        return np.array(list(masks), np.int64), np.array(list(masks.values()), np.int64)

    def columns_at(self, names: tuple[str, ...]) -> Array:
        """The word positions of these columns, in order."""
        at = [self.offset[n] + k for n in names for k in range(self.types[n].words)]
        return np.array(at, np.int64)


def _one_word(v: Vector, texts: TextTable) -> Array:
    if v.type.is_text:
        assert v.pool is not None
        if len(v.pool) <= len(v.values) + 64:
            return texts.codes(v.pool)[v.values]
        used, inverse = np.unique(v.values, return_inverse=True)
        return texts.codes(v.pool.take(used))[inverse]
    if v.type.is_float:
        doubles = v.values.astype(np.float64) + 0.0  # -0.0 becomes 0.0
        doubles[np.isnan(doubles)] = np.nan
        return doubles.view(np.int64)
    if v.values.dtype == object:  # declared narrow, held wide: in range by its declared precision
        return narrow(v.values)
    return v.values.astype(np.int64, copy=False)


def _two_words(values: Array) -> tuple[Array, Array]:
    if values.dtype != object:
        return values, values >> 63
    low = np.array([int(v) & _LOW for v in values], np.uint64).view(np.int64)
    return low, np.array([int(v) >> 64 for v in values], np.int64)


def _from_two(low: Array, high: Array) -> Array:
    if np.array_equal(high, low >> 63):
        return np.ascontiguousarray(low)
    unsigned = np.ascontiguousarray(low).view(np.uint64)
    wide: Array = (high.astype(object) << 64) | unsigned.astype(object)
    return wide


def _text_vector(codes: Array, t: Type, valid: Array | None, texts: TextTable) -> Vector:
    highest = int(codes.max(initial=0))
    if highest < 4 * len(codes) + 64:  # a table of positions costs less than sorting
        seen = np.zeros(highest + 1, np.int64)
        seen[codes] = 1
        used = np.flatnonzero(seen)
        inverse = (np.cumsum(seen) - 1)[codes]
    else:
        used, inverse = np.unique(codes, return_inverse=True)
    pool = texts.texts(used, arrow_type(t))  # code 0 (under a NULL) has length 0
    return Vector(t, inverse.astype(np.int64), valid, pool)
