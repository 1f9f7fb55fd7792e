"""The independent oracle: what the base tables hold, and what the view's answer over them is.

    Changes ──policies, in plain Python──▶ Base tables ──original SQL, in DuckDB──▶ Counter of rows

Nothing of the engine is used here but its declarations (schema) and the form of its input
(Changes). The query runs as `everview.verify` has DuckDB run it; policies are written once more
here, row by row, and so check the SQL that verify has for them.

Row values: int, Decimal, str, date, bool, None; doubles as the text of `float.hex` (one zero, one
NaN), so that equal means bit for bit.
"""

from __future__ import annotations

import atexit
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa

from everview.delta.changes import DELETE, INSERT, UPDATE, Changes
from everview.delta.delta import Delta
from everview.delta.vector import arrow_type
from everview.schema import Relation, Schema
from everview.verify import compare
from everview.verify.exact import canonical, double_sum, rounded
from everview.verify.query import Query, connect, disconnect
from everview.verify.spark_types import Unsupported

__all__ = [
    "Base", "Oracle", "PolicyError", "Query", "Row", "Unsupported", "canonical", "compare",
    "double_sum", "rounded", "rows_of", "rows_of_delta", "table_of",
]  # fmt: skip

Row = tuple[Any, ...]


class PolicyError(Exception):
    """A change that policy `fail` or `trust` does not allow."""


# ---------------------------------------------------------------------------------- base tables


@dataclass
class Base:
    """The content of one relation. `rows`: by key, or for a relation without key by content."""

    relation: Relation
    rows: dict[Row, Row] = field(default_factory=dict)
    counts: Counter[Row] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        names = [c.name for c in self.relation.columns]
        self._key = [names.index(k) for k in self.relation.key]

    def content(self) -> list[Row]:
        """Every row, as often as it is there."""
        return list(self.rows.values()) if self._key else list(self.counts.elements())

    def apply(self, op: int, row: Row) -> tuple[str | None, list[tuple[int, Row]]]:
        """One change: the reason it is refused (or None), and what it did: weighted rows."""
        if not self._key:
            return self._by_content(op, _canonical_zero(row))
        key = tuple(row[i] for i in self._key)
        if None in key:
            return self._refuse("NULL_KEY")
        old, policy = self.rows.get(key), self.relation.policy
        if op == UPDATE and policy == "trust":
            return self._refuse("NO_OLD_IMAGE")
        if op == INSERT and old is not None and policy != "upsert":
            return self._refuse("DUPLICATE_KEY")
        if old is None and (op == DELETE or (op == UPDATE and policy != "upsert")):
            return self._refuse("MISSING_ROW")
        mine = old is None or _canonical_zero(old) == _canonical_zero(row)
        if policy == "trust" and op == DELETE and not mine:
            raise PolicyError(f"{self.relation.name}: {row} is not the old image {old}")
        done = [] if old is None else [(-1, old)]
        if op == DELETE:
            del self.rows[key]
            return None, done
        self.rows[key] = row
        return None, [*done, (1, row)]

    def _by_content(self, op: int, row: Row) -> tuple[str | None, list[tuple[int, Row]]]:
        if op == UPDATE:
            return self._refuse("NO_OLD_IMAGE")
        if op == DELETE and not self.counts[row]:
            return self._refuse("MISSING_ROW")
        self.counts[row] += op
        return None, [(op, row)]

    def _refuse(self, reason: str) -> tuple[str, list[tuple[int, Row]]]:
        if self.relation.policy in ("fail", "trust"):
            raise PolicyError(f"{self.relation.name}: {reason} under {self.relation.policy}")
        return reason, []


def _canonical_zero(row: Row) -> Row:
    """Rows compared by content: -0.0 is 0.0, and NaN equals itself (it is one object)."""
    return tuple(_NAN if v != v else v + 0.0 if isinstance(v, float) else v for v in row)


_NAN = math.nan


# --------------------------------------------------------------------------------------- oracle


def shared_connection() -> duckdb.DuckDBPyConnection:
    """One DuckDB for all oracles of a process."""
    if not _SHARED:
        _SHARED.append(connect())
        atexit.register(lambda: disconnect(_SHARED.pop()))  # else DuckDB complains at the end
    return _SHARED[0]


_SHARED: list[duckdb.DuckDBPyConnection] = []
_NUMBERS = itertools.count()
_LOADED: dict[int, int] = {}  # connection -> the oracle whose tables it holds


class Oracle:
    """The truth about one view: feed it every epoch's changes, then ask for the answer."""

    def __init__(
        self, schema: Schema, sql: str, connection: duckdb.DuckDBPyConnection | None = None
    ) -> None:
        self.tables = {r.name: Base(r) for r in schema.relations}
        self.effects: list[tuple[str, int, Row]] = []  # what the last epoch did, in order
        self._connection = connection or shared_connection()
        self._changed = set(self.tables)
        self._number = next(_NUMBERS)
        self._load()
        self.query = Query(self._connection, schema, sql)

    def epoch(self, changes: Sequence[Changes]) -> list[tuple[str, str]]:
        """Apply changes in source order; (relation, reason) of every refused one."""
        refused: list[tuple[str, str]] = []
        self.effects = []
        for batch in changes:
            refused += [(r.relation, r.reason) for r in batch.rejects]
            base = self.tables[batch.relation]
            for op, row in zip(batch.op.tolist(), rows_of(batch.batch), strict=True):
                reason, effect = base.apply(op, row)
                self.effects += [(batch.relation, w, r) for w, r in effect]
                if reason:
                    refused.append((batch.relation, reason))
                else:
                    self._changed.add(batch.relation)
        return refused

    def answer(self) -> Counter[Row]:
        """The view's rows over what the tables hold now."""
        self._load()
        return self.query.run()

    def _load(self) -> None:
        if _LOADED.get(id(self._connection)) != self._number:
            self._changed = set(self.tables)
            _LOADED[id(self._connection)] = self._number
        for name in self._changed:
            base = self.tables[name]
            content = table_of(base.relation, base.content())
            self._connection.register("incoming", content)
            self._connection.execute(f'CREATE OR REPLACE TABLE "{name}" AS FROM incoming')
        self._changed = set()


def rows_of(batch: pa.RecordBatch | pa.Table) -> list[Row]:
    """The rows of an Arrow batch as tuples of Python values."""
    if not batch.num_rows:
        return []
    return list(zip(*(c.to_pylist() for c in batch.columns), strict=True))


def table_of(relation: Relation, rows: Sequence[Row]) -> pa.Table:
    """Rows of a relation as an Arrow table of its declared types."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(relation.columns)
    arrays = [
        pa.array(values, arrow_type(c.type))
        for c, values in zip(relation.columns, columns, strict=True)
    ]
    return pa.Table.from_arrays(arrays, names=[c.name for c in relation.columns])


def rows_of_delta(delta: Delta) -> list[tuple[Row, int]]:
    """The rows of an engine's Delta in the same form, each with its weight."""
    weights = delta.weight.tolist()
    if not weights:
        return []
    columns = [[canonical(v) for v in c.to_arrow().to_pylist()] for c in delta.columns.values()]
    return list(zip(zip(*columns, strict=True), weights, strict=True))
