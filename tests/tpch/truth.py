"""The oracle of a TPC-H history: the base tables at every epoch, and the answers over them.

    text ──lines, by hand──▶ lives (row, first epoch, last epoch) ──▶ DuckDB views at an epoch

A row lives from the epoch that inserts it to the one that deletes it; the views show the rows alive
after the epoch asked for. A change that does not fit what is there stops the test: these histories
are well-formed. Reads the text itself, not through the engine.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from everview.schema import Relation, Schema
from everview.verify.query import Query, Row, connect

TAGS = {
    "RI": "region", "RE": "region", "NA": "nation", "SU": "supplier", "PA": "part",
    "PS": "partsupp", "CU": "customer", "OR": "orders", "LI": "lineitem",
}  # fmt: skip
NEVER = 2**31 - 1
_DUCK = {"BIGINT": "BIGINT", "INT": "INTEGER", "STRING": "VARCHAR", "DATE": "DATE"}


@dataclass
class _Lives:
    """The lives of one relation's rows, as text."""

    key: list[int]
    alive: dict[tuple[str, ...], tuple[str, int]] = field(default_factory=dict)
    rows: list[str] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)

    def change(self, sign: str, row: str, epoch: int) -> None:
        fields = row.split("|")
        key = tuple(fields[i] for i in self.key)
        if sign == "+":
            assert key not in self.alive, f"inserted twice: {row}"
            self.alive[key] = row, epoch
            return
        there, since = self.alive.pop(key)
        assert there == row, f"deleted {row}, there was {there}"
        self._keep(there, since, epoch)

    def _keep(self, row: str, first: int, last: int) -> None:
        if first < last:
            self.rows.append(row)
            self.first.append(first)
            self.last.append(last)

    def end(self) -> None:
        for row, since in self.alive.values():
            self._keep(row, since, NEVER)


class History:
    """The truth about one update sequence."""

    def __init__(self, sequence: Path, schema: Schema) -> None:
        self.schema = schema
        lives = {}
        for r in schema.relations:
            names = [c.name for c in r.columns]
            lives[r.name] = _Lives([names.index(k) for k in r.key])
        self.changes: list[int] = []  # per epoch
        count = epoch = 0
        with sequence.open(encoding="utf-8") as file:
            for line in file:
                if line == "*\n":
                    self.changes.append(count)
                    count, epoch = 0, epoch + 1
                    continue
                lives[TAGS[line[1:3]]].change(line[0], line[3:-1], epoch)
                count += 1
        if count:
            self.changes.append(count)
        self._connection = connect()
        for r in schema.relations:
            lives[r.name].end()
            self._load(r, lives[r.name])

    def _load(self, r: Relation, lives: _Lives) -> None:
        fields = zip(*(row.split("|")[:-1] for row in lives.rows), strict=True)
        columns = list(fields) if lives.rows else [() for _ in r.columns]
        texts = pa.table(
            {c.name: pa.array(v, pa.string()) for c, v in zip(r.columns, columns, strict=True)}
            | {
                "#first": pa.array(lives.first, pa.int32()),
                "#last": pa.array(lives.last, pa.int32()),
            }
        )
        self._connection.register("texts", texts)
        casts = ", ".join(
            f"{c.name}::{str(c.type) if c.type.is_decimal else _DUCK[c.type.name]} AS {c.name}"
            for c in r.columns
        )
        self._connection.execute(
            f'CREATE TABLE "{r.name}#" AS SELECT "#first", "#last", {casts} FROM texts'
        )
        names = ", ".join(c.name for c in r.columns)
        self._connection.execute(
            f'CREATE VIEW {r.name} AS SELECT {names} FROM "{r.name}#" '
            "WHERE \"#first\" <= getvariable('epoch') AND getvariable('epoch') < \"#last\""
        )

    def answers(self, sql: str) -> list[Counter[Row]]:
        """The answer after every epoch."""
        query = Query(self._connection, self.schema, sql)
        out = []
        for epoch in range(len(self.changes)):
            self._connection.execute(f"SET VARIABLE epoch = {epoch}")
            out.append(query.run())
        return out
