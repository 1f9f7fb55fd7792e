"""Functions of STRING and BINARY: computed once per distinct text of the pool, spread by position.

A text column is positions into a pool of distinct texts, usually far fewer than rows, so `LIKE` on
a million rows costs the pool's texts plus one look-up a row. Where the pool is much larger than
the rows at hand, the positions in use are looked up first. Texts compare by their UTF-8 bytes;
characters are code points.

Not here: casts to and from text (form, parse), collations other than binary.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everview.delta.evaluate.term import Term, both, spread, truth
from everview.delta.vector import Array, arrow_type
from everview.errors import PlanError
from everview.expr import Call
from everview.schema import INT, STRING

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal, "<>": pc.not_equal, "<": pc.less, "<=": pc.less_equal,
    ">": pc.greater, ">=": pc.greater_equal,
}  # fmt: skip
_MIRROR = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_RANKED: dict[str, Callable[[Array, Array], Array]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
_INT_MAX = 2**31 - 1


def used(term: Term) -> Term:
    """The same texts; with a pool of those in use if the pool is much larger than the rows."""
    assert term.pool is not None
    if len(term.pool) <= 2 * len(term.values) + 16:
        return term
    positions, codes = np.unique(term.values, return_inverse=True)
    return Term(term.type, codes.astype(np.int64), term.valid, term.pool.take(pa.array(positions)))


def mapped(term: Term, function: Callable[[pa.Array], pa.Array]) -> Term:
    """A text function of one argument, applied to the pool."""
    term = used(term)
    return Term(term.type, term.values, term.valid, function(term.pool))


def each(function: Callable[[Any], Any]) -> Callable[[pa.Array], pa.Array]:
    """A function of Python values as one of pools."""
    return lambda pool: pa.array([function(v) for v in pool.to_pylist()], pool.type)


def flags(array: pa.Array) -> Array:
    """An Arrow array of booleans as numpy's."""
    return np.asarray(array.to_numpy(zero_copy_only=False), np.bool_)


# ---------------------------------------------------------------- comparisons


def compared(op: str, a: Term, b: Term) -> Array:
    if len(b.values) == 1:
        return _against_constant(op, a, b)
    if len(a.values) == 1:
        return _against_constant(_MIRROR[op], b, a)
    a, b = used(a), used(b)
    x, y, pool = _one_pool(a, b)
    if op in ("=", "<>"):
        same: Array = x == y
        return same if op == "=" else ~same
    order = pc.sort_indices(pool).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return _RANKED[op](rank[x], rank[y])


def _against_constant(op: str, a: Term, b: Term) -> Array:
    a = used(a)
    assert a.pool is not None
    assert b.pool is not None
    hits: Array = flags(_COMPARE[op](a.pool, b.pool[int(b.values[0])]))[a.values]
    return hits


def _one_pool(a: Term, b: Term) -> tuple[Array, Array, pa.Array]:
    """The positions of both columns in one pool without repetitions."""
    assert a.pool is not None
    assert b.pool is not None
    pools = [a.pool] if a.pool is b.pool else [a.pool, b.pool]
    encoded = pa.concat_arrays(pools).dictionary_encode()
    position = encoded.indices.to_numpy().astype(np.int64)
    shift = 0 if a.pool is b.pool else len(a.pool)
    return position[a.values], position[b.values + shift], encoded.dictionary


def among(a: Term, items: list[Term]) -> Array:
    """Where the text is one of the constants."""
    a = used(a)
    texts = [i.pool[int(i.values[0])].as_py() for i in items if i.pool is not None]
    assert a.pool is not None
    hits: Array = flags(pc.is_in(a.pool, pa.array(texts, a.pool.type)))[a.values]
    return hits


# ---------------------------------------------------------------- LIKE


def like(a: Term, pattern: Term, escape: Term | None = None) -> Term:
    """LIKE: % any characters, _ one character (code point), case sensitive, over line ends."""
    valid = both(a, pattern) if escape is None else both(a, pattern, escape)
    assert pattern.pool is not None
    sign = "\\"
    if escape is not None:
        assert escape.pool is not None
        sign = escape.pool[int(escape.values[0])].as_py()
    if len(pattern.values) == 1:
        if valid is not None and not valid.any():
            return truth(np.zeros(len(valid), np.bool_), valid)
        return truth(_liked(a, pattern.pool[int(pattern.values[0])].as_py(), sign), valid)
    rows = len(pattern.values)
    out = np.zeros(rows, np.bool_)
    live = np.ones(rows, np.bool_) if valid is None else valid
    codes = spread(a.values, rows)
    for position in np.unique(pattern.values[live]):
        here = np.flatnonzero(live & (pattern.values == position))
        part = Term(a.type, codes[here], None, a.pool)
        out[here] = _liked(part, pattern.pool[int(position)].as_py(), sign)
    return truth(out, valid)


def _liked(a: Term, pattern: str, escape: str) -> Array:
    a = used(a)
    pieces = like_pieces(pattern, escape)
    return flags(_like_pool(a.pool, pieces))[a.values]


def _like_pool(pool: pa.Array, pieces: list[str | None]) -> pa.Array:
    """The common shapes without a regular expression: 'x', 'x%', '%x', '%x%'."""
    literal = "".join(p for p in pieces if p not in (None, ""))
    shape = "".join("%" if p == "" else "_" if p is None else "x" for p in pieces)
    if shape in ("", "x"):
        return pc.equal(pool, pa.scalar(literal, pool.type))
    if shape == "x%":
        return pc.starts_with(pool, literal)
    if shape == "%x":
        return pc.ends_with(pool, literal)
    if shape == "%x%":
        return pc.match_substring(pool, literal)
    return pc.match_substring_regex(pool, like_regex(pieces))


def like_pieces(pattern: str, escape: str) -> list[str | None]:
    """The pattern as literal runs, '' for % and None for _."""
    pieces: list[str | None] = []
    run: list[str] = []
    characters = iter(pattern)
    for c in characters:
        if c == escape:
            following = next(characters, None)
            if following is None or following not in (escape, "%", "_"):
                raise PlanError(
                    "PLAN.LIKE_PATTERN",
                    f"LIKE '{pattern}': the escape character {escape!r} must stand before "
                    f"%, _ or itself",
                    fix=f"write {escape}{escape} for a plain {escape!r}",
                )
            run.append(following)
        elif c in "%_":
            if run:
                pieces.append("".join(run))
                run = []
            if c == "_" or not pieces or pieces[-1] != "":
                pieces.append("" if c == "%" else None)
        else:
            run.append(c)
    return [*pieces, "".join(run)] if run else pieces


def like_regex(pieces: list[str | None]) -> str:
    """The pattern in RE2's syntax, which matches code points and never backtracks."""
    parts = [".*" if p == "" else "." if p is None else re.escape(p) for p in pieces]
    return rf"(?s)\A{''.join(parts)}\z"


# ---------------------------------------------------------------- functions


def upper(a: Term) -> Term:
    return mapped(a, _cased(pc.ascii_upper, str.upper))


def lower(a: Term) -> Term:
    return mapped(a, _cased(pc.ascii_lower, str.lower))


def _cased(
    ascii_only: Callable[[pa.Array], pa.Array], full: Callable[[str], str]
) -> Callable[[pa.Array], pa.Array]:
    """Arrow maps one character to one; Unicode's full mapping ('ß' -> 'SS') is Python's."""

    def run(pool: pa.Array) -> pa.Array:
        if pc.all(pc.string_is_ascii(pool)).as_py() is not False:
            return ascii_only(pool)
        return each(full)(pool)

    return run


def trim(call: Call, a: Term) -> Term:
    """trim, ltrim, rtrim: spaces (U+0020) only."""
    strip = {"trim": pc.ascii_trim, "ltrim": pc.ascii_ltrim, "rtrim": pc.ascii_rtrim}[call.op]
    return mapped(a, lambda pool: strip(pool, characters=" "))


def length(call: Call, a: Term) -> Term:
    """Characters of a STRING, bytes of a BINARY."""
    a = used(a)
    count = pc.utf8_length if a.type == STRING else pc.binary_length
    return Term(call.type, count(a.pool).to_numpy().astype(np.int64)[a.values], a.valid)


def substring(call: Call, a: Term, start: Term, size: Term | None = None) -> Term:
    """Characters (bytes) from `start`: 1 is the first, 0 too, negative counts from the end."""
    if size is None:
        size = Term(INT, np.full(1, _INT_MAX), None)
    valid = both(a, start, size)
    if len(start.values) == len(size.values) == 1:
        at, many = int(start.values[0]), int(size.values[0])
        out = mapped(a, each(lambda v: cut(v, at, many)))
        return Term(call.type, out.values, valid, out.pool)
    rows = max(len(a.values), len(start.values), len(size.values))
    parts = [spread(t.values, rows) for t in (a, start, size)]
    distinct, codes = np.unique(np.stack(parts), axis=1, return_inverse=True)
    assert a.pool is not None
    texts = a.pool.take(pa.array(distinct[0])).to_pylist()
    pieces = map(cut, texts, distinct[1].tolist(), distinct[2].tolist())
    pool = pa.array(list(pieces), arrow_type(call.type))
    return Term(call.type, codes.reshape(-1).astype(np.int64), valid, pool)


def cut(value: Any, start: int, size: int) -> Any:
    """substring of one text: `start` -5 of 'abc' begins two characters before the text."""
    begin = start - 1 if start > 0 else len(value) + start if start < 0 else 0
    return value[max(begin, 0) : max(begin + size, 0)]


def concat(call: Call, args: list[Term]) -> Term:
    """The texts joined; NULL if any is NULL."""
    valid = both(*args)
    columns = [i for i, a in enumerate(args) if len(a.values) > 1]
    if len(columns) <= 1:
        at = columns[0] if columns else 0
        base = used(args[at])
        pools = [base.pool if i == at else _constant(a) for i, a in enumerate(args)]
        codes = base.values
    else:
        rows = max(len(a.values) for a in args)
        pools = [_per_row(a) if len(a.values) > 1 else _constant(a) for a in args]
        codes = np.arange(rows)
    joined = pc.binary_join_element_wise(*pools, pa.scalar("", pa.string()))
    if not isinstance(joined, pa.Array):
        joined = pa.array([joined.as_py()], pa.string())
    return Term(call.type, codes, valid, joined)


def _constant(a: Term) -> pa.Scalar:
    assert a.pool is not None
    return a.pool[int(a.values[0])]


def _per_row(a: Term) -> pa.Array:
    assert a.pool is not None
    return a.pool.take(pa.array(a.values))
