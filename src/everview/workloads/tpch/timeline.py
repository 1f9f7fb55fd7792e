"""When each TPC-H row comes and goes: the four kinds of history, as arrays of integers.

    position   0        1        2        3        4   ...
    change    +region  +region  ...      +orders  +lineitem  ...  -lineitem  -orders

A `Timeline` holds, for one relation, the positions of its changes, the row (its place in the
generated table) and which image of that row: bit 1 another measure, bit 2 other references,
bit 4 another primary key. All relations share one numbering of positions.

Not here: reading rows and writing changes (workloads/tpch/generate).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from everview.errors import ConfigError

Kind = Literal["fifo", "insert-only", "random", "insert-delete-all"]
Ints = npt.NDArray[np.int64]
Keys = Mapping[str, Mapping[str, Ints]]

MOVED = 100_000_000  # a moved primary key is the old one plus this; every key still fits an INT
LOCAL_ROWS = 1_000_000  # random histories scatter a row over about this many neighbours
MEASURE, REFERENCE, KEY = 1, 2, 4


@dataclass(frozen=True, slots=True)
class Table:
    """A TPC-H table: its Cquirrel tag, key, a measure that may change, and its references."""

    name: str
    tag: str
    key: tuple[str, ...]
    measure: str
    references: Mapping[str, str] = field(default_factory=dict)


TABLES = (
    Table("region", "RI", ("r_regionkey",), "r_comment"),
    Table("nation", "NA", ("n_nationkey",), "n_comment", {"n_regionkey": "region"}),
    Table("supplier", "SU", ("s_suppkey",), "s_acctbal", {"s_nationkey": "nation"}),
    Table("part", "PA", ("p_partkey",), "p_retailprice"),
    Table("partsupp", "PS", ("ps_partkey", "ps_suppkey"), "ps_supplycost"),
    Table("customer", "CU", ("c_custkey",), "c_acctbal", {"c_nationkey": "nation"}),
    Table("orders", "OR", ("o_orderkey",), "o_totalprice", {"o_custkey": "customer"}),
    Table(
        "lineitem", "LI", ("l_orderkey", "l_linenumber"), "l_extendedprice",
        {"l_partkey": "part", "l_suppkey": "supplier"},
    ),
)  # fmt: skip
SMALL = TABLES[:6]
FROM_ZERO = ("region", "nation")  # their keys count from 0, the others from 1


@dataclass(frozen=True, slots=True)
class Timeline:
    """The changes of one relation, by position: row, op (+1/-1), image bits (0: as is)."""

    at: Ints
    row: Ints
    op: npt.NDArray[np.int8]
    image: npt.NDArray[np.int8]


def timelines(keys: Keys, *, kind: Kind, window: float, seed: int) -> dict[str, Timeline]:
    """One timeline per table, over the key columns of the generated tables."""
    if kind == "random":
        return _random(keys, seed)
    orders = keys["orders"]["o_orderkey"]
    sequence = _Blocks.of(keys)
    width = int(len(orders) * window) if kind == "fifo" else len(orders)
    if not 0 < width <= len(orders):
        raise ConfigError(
            "TPCH.WINDOW", f"a window of {window:g} holds no order", fix="use 0 < window <= 1"
        )
    return _windowed(keys, sequence, width, drain=kind == "insert-delete-all")


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Orders in key order, each with the rows of its lineitems.

    `start[j]`: changes before order j if orders followed one another without deletions.
    """

    order_row: Ints
    line_row: Ints
    line_order: Ints  # for each of line_row: the number j of its order
    line_place: Ints  # for each of line_row: 0, 1, 2, ... within its order
    lines: Ints
    start: Ints

    @staticmethod
    def of(keys: Keys) -> _Blocks:
        orderkey, lineitem = keys["orders"]["o_orderkey"], keys["lineitem"]
        order_row = np.argsort(orderkey, kind="stable")
        line_row = np.lexsort((lineitem["l_linenumber"], lineitem["l_orderkey"]))
        line_order = np.searchsorted(orderkey[order_row], lineitem["l_orderkey"][line_row])
        lines = np.bincount(line_order, minlength=len(orderkey)).astype(np.int64)
        first = np.concatenate([[0], np.cumsum(lines)])
        place = np.arange(len(line_row)) - first[line_order]
        start = np.concatenate([[0], np.cumsum(lines + 1)])
        return _Blocks(order_row, line_row, line_order, place, lines, start)


def _windowed(keys: Keys, blocks: _Blocks, width: int, *, drain: bool) -> dict[str, Timeline]:
    """Small tables, then order after order; from order `width` on each pushes the oldest out."""
    plan, base = {}, 0
    small = {t.name: _in_key_order(keys[t.name], t) for t in SMALL}
    places = {}
    for name, rows in small.items():
        places[name] = base + np.arange(len(rows))
        base += len(rows)
    n, start = len(blocks.order_row), blocks.start
    number = np.arange(n)
    comes = base + start[number] + start[np.maximum(number - width, 0)]
    leaving = number if drain else number[: n - width]
    leaves = base + start[np.minimum(leaving + width, n - 1) + 1] + start[leaving]
    end = base + 2 * int(start[n])
    for name, rows in small.items():
        away = (end + base - 1 - places[name])[::-1] if drain else places[name][:0]
        plan[name] = _merge(places[name], rows, away, rows[::-1] if drain else rows[:0])
    plan["orders"] = _merge(
        comes, blocks.order_row, leaves + blocks.lines[leaving], blocks.order_row[leaving]
    )
    gone = blocks.line_order < len(leaving)
    plan["lineitem"] = _merge(
        comes[blocks.line_order] + 1 + blocks.line_place,
        blocks.line_row,
        leaves[blocks.line_order[gone]] + blocks.line_place[gone],
        blocks.line_row[gone],
    )
    return plan


def _in_key_order(keys: Mapping[str, Ints], table: Table) -> Ints:
    """Rows by primary key, each key once: below scale 0.01 TPC-H's partsupp repeats some."""
    columns = [keys[c] for c in table.key]
    order = np.lexsort(columns[::-1])
    new = np.zeros(len(order), np.bool_)
    for c in columns:
        new |= np.diff(c[order], prepend=-1) != 0
    return order[new]


def _merge(plus_at: Ints, plus_row: Ints, minus_at: Ints, minus_row: Ints) -> Timeline:
    at = np.concatenate([plus_at, minus_at])
    order = np.argsort(at, kind="stable")
    row = np.concatenate([plus_row, minus_row])[order]
    op = np.concatenate([np.ones(len(plus_at), np.int8), -np.ones(len(minus_at), np.int8)])[order]
    return Timeline(at[order], row, op, np.zeros(len(at), np.int8))


# ------------------------------------------------------------------------------ random histories


def _random(keys: Keys, seed: int) -> dict[str, Timeline]:
    """Every row lives one to three times; the last time it may stay. See `_lives`."""
    rng = np.random.default_rng(seed)
    rows = {t.name: np.sort(_in_key_order(keys[t.name], t)) for t in TABLES}
    span = min(1.0, LOCAL_ROWS / sum(map(len, rows.values())))
    small = {t.name for t in SMALL}
    lives = {n: _lives(rng, r, span, steady=n in small) for n, r in rows.items()}
    # A row's changes at one moment stay together and in order: moments differ between rows.
    when = np.concatenate([moment for moment, *_ in lives.values()])
    rank = np.empty(len(when), np.int64)
    rank[np.argsort(when, kind="stable")] = np.arange(len(when))
    plan, first = {}, 0
    for name, (moment, row, op, image) in lives.items():
        at = rank[first : first + len(moment)]
        order = np.argsort(at)
        plan[name] = Timeline(at[order], row[order], op[order], image[order])
        first += len(moment)
    return plan


def _lives(
    rng: np.random.Generator, rows: Ints, span: float, *, steady: bool
) -> tuple[Any, Any, Any, Any]:
    """(moment, row, op, image) of every change of these rows.

    A row lives 1 to 3 times; the last time it may stay. A later life follows the one before at once
    (an update) or after a gap (a re-insert), with an image of its own. Rows of `steady` tables come
    early, are mostly there and seldom move, else joins over them would have no answers to keep.
    """
    n = len(rows)
    updates, stay, moves = (0.85, 0.8, 0.1) if steady else (0.5, 0.3, 0.5)
    times = rng.choice(np.array([1, 2, 3]), size=n, p=[0.55, 0.3, 0.15])
    moments = np.sort(rng.random((n, 6)), axis=1)
    if steady:
        moments[:, 0] *= 0.2
    at_once = rng.random((n, 3)) < updates
    for life in (1, 2):
        begins, ended = moments[:, 2 * life], moments[:, 2 * life - 1]
        moments[:, 2 * life] = np.where(at_once[:, life], ended, begins)
    start = (np.arange(n) + 0.5) / max(n, 1) * (1.0 - span)
    moments = start[:, None] + span * moments
    images = rng.integers(0, KEY, size=(n, 3)) + np.where(rng.random((n, 3)) < moves, KEY, 0)
    images[rng.random(n) < 0.8, 0] = 0  # most first images are as generated
    happens = np.repeat(times[:, None] > np.arange(3), 2, axis=1)
    stays = rng.random(n) < stay
    happens[np.arange(n)[stays], 2 * times[stays] - 1] = False
    row = np.repeat(rows, 6).reshape(n, 6)
    op = np.tile(np.array([1, -1], np.int8), (n, 3))
    image = np.repeat(images.astype(np.int8), 2, axis=1)
    return moments[happens], row[happens], op[happens], image[happens]


def revise(
    table: Table,
    rows: pa.Table,
    line: Timeline,
    sizes: Mapping[str, int],
    orders: Ints,
    seed: int,
) -> pa.Table:
    """The row images as `line.image` asks for them; a function of row, image and seed only."""
    if not line.image.any():
        return rows
    mixed = _mix(line.row, line.image.astype(np.int64) + 8 * seed)
    rows = _set(rows, table.measure, (line.image & MEASURE) > 0, mixed % 100_000)
    other = (line.image & REFERENCE) > 0
    for i, (column, referenced) in enumerate(table.references.items()):
        value = _mix(mixed, i + 1)
        key = value % sizes[referenced] + (referenced not in FROM_ZERO)
        rows = _set(rows, column, other, np.where(value % 11 == 0, key + MOVED, key))
    moved = (line.image & KEY) > 0
    if table.name == "lineitem":  # to another order, under a line number nobody else uses
        rows = _set(rows, "l_orderkey", moved, orders[_mix(line.row, seed) % len(orders)])
        return _set(rows, "l_linenumber", moved, line.row + 8)
    column = table.key[-1]
    return _set(rows, column, moved, rows.column(column).to_numpy() + MOVED)


def _set(rows: pa.Table, column: str, where: Any, values: Ints) -> pa.Table:
    """The rows with `values` in `column` where the mask holds; decimals get hundredths."""
    place = rows.schema.get_field_index(column)
    field_ = rows.schema.field(place)
    new = pa.array(values)
    if pa.types.is_decimal(field_.type):
        new = pc.multiply(new.cast(pa.decimal128(19, 0)), _CENT)
    elif pa.types.is_string(field_.type):
        new = pc.binary_join_element_wise(pa.scalar("comment"), new.cast(pa.string()), " ")
    changed = pc.if_else(pa.array(where), new.cast(field_.type), rows.column(column))
    return rows.set_column(place, field_, changed)


_CENT = pa.scalar(Decimal("0.01"))


def _mix(a: Ints, b: Ints | int) -> Ints:
    """Non-negative integers that look random but depend on a and b alone (splitmix64)."""
    x = a.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x ^= np.asarray(b, np.int64).astype(np.uint64) * np.uint64(0xBF58476D1CE4E5B9)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return ((x ^ (x >> np.uint64(31))) >> np.uint64(1)).astype(np.int64)
