"""A window of half the orders that slides for ever: the change stream that is measured.

    fill      customers and the other small tables, then the first half of the orders
    epoch i   the next orders come, each with its lineitems; for each of them the oldest one leaves

Orders that left come back after a full round, so the stream has no end and the window is always
half of the orders. An epoch is one Parquet file per relation, with the change in column `op` and
the columns that Q1, Q3, Q5, Q7 and Q10 read.

Not here: sequences of given length for tests and demos (everview.workloads), feeding a query.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

COLUMNS = {
    "region": ("r_regionkey", "r_name"),
    "nation": ("n_nationkey", "n_name", "n_regionkey"),
    "supplier": ("s_suppkey", "s_nationkey"),
    "customer": (
        "c_custkey", "c_name", "c_address", "c_nationkey", "c_phone", "c_acctbal", "c_mktsegment",
        "c_comment",
    ),
    "orders": ("o_orderkey", "o_custkey", "o_orderdate", "o_shippriority"),
    "lineitem": (
        "l_orderkey", "l_linenumber", "l_suppkey", "l_quantity", "l_extendedprice", "l_discount",
        "l_tax", "l_returnflag", "l_linestatus", "l_shipdate",
    ),
}  # fmt: skip
SLIDING = ("orders", "lineitem")
FILL_ROWS = 500_000  # rows of a file of the fill


@dataclass(frozen=True, slots=True)
class Epoch:
    """The changes of one epoch: a table per relation, in source order."""

    tables: dict[str, pa.Table]

    @property
    def changes(self) -> int:
        return sum(t.num_rows for t in self.tables.values())


class Fifo:
    """The stream over the generated tables in `source`, for the relations that are wanted."""

    def __init__(self, source: Path, relations: tuple[str, ...]) -> None:
        self.source, self.relations = source, relations
        self.orders = _read(source, "orders")
        self.lineitem = _read(source, "lineitem")
        keys = self.orders.column("o_orderkey").to_numpy()
        of = self.lineitem.column("l_orderkey").to_numpy()
        if (np.diff(keys) <= 0).any() or (np.diff(of) < 0).any():
            raise SystemExit(f"{source} is not in key order")
        self.first = np.searchsorted(of, np.append(keys, keys[-1] + 1))
        self.count = len(keys)
        self.window = self.count // 2

    def fill(self) -> list[Epoch]:
        """What is there before the window slides, in pieces of at most FILL_ROWS rows."""
        small = [r for r in self.relations if r not in SLIDING]
        pieces = [Epoch(self._wanted({r: _signed(_read(self.source, r), 1)})) for r in small]
        step = max(1, FILL_ROWS // 5)
        for at in range(0, self.window, step):
            come = np.arange(at, min(at + step, self.window))
            pieces.append(self._epoch(come, come[:0]))
        return pieces

    def orders_for(self, changes: int) -> int:
        """How many orders slide in an epoch of about that many changes of the wanted relations."""
        lines = self.first[-1] / self.count if "lineitem" in self.relations else 0
        return max(1, round(changes / (2 * (lines + ("orders" in self.relations)))))

    def epoch(self, number: int, orders: int) -> Epoch:
        """Epoch `number` (from 0) of a window that slides by `orders` at a time."""
        at = self.window + number * orders
        come = np.arange(at, at + orders)
        return self._epoch(come % self.count, (come - self.window) % self.count)

    def held(self, epochs: int, orders: int) -> Any:
        """The keys of the orders in the window after so many epochs."""
        end = self.window + epochs * orders
        places = np.arange(end - self.window, end) % self.count
        return self.orders.column("o_orderkey").to_numpy()[places]

    def _epoch(self, come: Any, go: Any) -> Epoch:
        """Orders `come[i]` enter, and after each `go[i]` leaves (lineitems first)."""
        tables = {}
        if "orders" in self.relations:
            rows = np.concatenate([come, go])
            when = np.concatenate([2 * np.arange(len(come)), 2 * np.arange(len(go)) + 1])
            tables["orders"] = _changes(self.orders, rows, when, len(come))
        if "lineitem" in self.relations:
            rows_in, owner_in = self._lines(come)
            rows_out, owner_out = self._lines(go)
            rows = np.concatenate([rows_in, rows_out])
            when = np.concatenate([2 * owner_in, 2 * owner_out + 1])
            tables["lineitem"] = _changes(self.lineitem, rows, when, len(rows_in))
        return Epoch(tables)

    def _lines(self, orders: Any) -> tuple[Any, Any]:
        """The rows of these orders' lineitems, and which of the orders each belongs to."""
        low, high = self.first[orders], self.first[orders + 1]
        owner = np.repeat(np.arange(len(orders)), high - low)
        skipped = np.concatenate([[0], np.cumsum(high - low)])[:-1]
        return np.arange(len(owner)) + (low - skipped)[owner], owner

    def _wanted(self, tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
        return {n: t for n, t in tables.items() if n in self.relations}


def write(epoch: Epoch, folder: Path, number: int) -> None:
    """One file per relation: `folder/<relation>/<number>.parquet`."""
    for name, table in epoch.tables.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        path = folder / name / f"{number:06d}.parquet"
        pq.write_table(table, path, compression="zstd", row_group_size=1 << 18)


def _read(source: Path, name: str) -> pa.Table:
    table = pq.read_table(source / f"{name}.parquet", columns=list(COLUMNS[name]))
    fields = [
        pa.field(f.name, pa.string() if f.type == pa.string_view() else f.type)
        for f in table.schema
    ]
    return table.cast(pa.schema(fields)).combine_chunks()


def _changes(table: pa.Table, rows: Any, when: Any, entering: int) -> pa.Table:
    order = np.argsort(when, kind="stable")
    op = np.where(np.arange(len(rows)) < entering, "+", "-")[order]
    taken = table.take(pa.array(rows[order]))
    return taken.add_column(0, "op", pa.array(op))


def _signed(table: pa.Table, op: int) -> pa.Table:
    return table.add_column(0, "op", pa.array(["+" if op > 0 else "-"] * table.num_rows))
