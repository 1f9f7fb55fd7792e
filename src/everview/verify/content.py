"""What the relations hold after all changes up to an offset, computed by DuckDB.

    RangeSource ──read──▶ table "orders#": every change with its number (#seq) and op (#op)
                                 │  what the relation's policy makes of them, in SQL
                                 ▼
                          table "orders": the rows that are there

| policy         | a row is there if                                                            |
|----------------|------------------------------------------------------------------------------|
| reject, fail   | the last change of its key that had an effect was an insert or an update; an  |
|                | insert of a key that is there and a change of one that is not have none       |
| upsert, trust  | the last change of its key was no delete                                     |
| (no key)       | it came more often than it went; a delete of what is not there has no effect |

Not here: the query over the tables (verify/query).
"""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
import numpy as np
import pyarrow as pa

from everview.connect.contract import Offset, RangeSource
from everview.delta.changes import Changes
from everview.schema import Relation, Schema

SEQ, OP = "#seq", "#op"
Wanted = Mapping[str, tuple[str, ...]]
_ROWS_HELD = 500_000


def load(
    connection: duckdb.DuckDBPyConnection,
    schema: Schema,
    source: RangeSource | None,
    end: Offset,
    wanted: Wanted,
) -> int:
    """Make a table of every relation wanted; the number of changes read. `wanted`: the columns."""
    relations = {name: schema.relation(name) for name in wanted}
    for name, relation in relations.items():
        columns = [f"{_quoted(c)} {_duck(relation, c)}" for c in wanted[name]]
        listed = ", ".join([f'"{SEQ}" BIGINT', f'"{OP}" TINYINT', *columns])
        connection.execute(f'CREATE TABLE "{name}#" ({listed})')
    count = 0 if source is None else _read(connection, source, end, wanted)
    for name, relation in relations.items():
        connection.execute(content_sql(relation, wanted[name]))
        connection.execute(f'DROP TABLE "{name}#"')
    return count


def _duck(relation: Relation, column: str) -> str:
    t = relation.column(column).type
    return {"STRING": "VARCHAR", "BINARY": "BLOB", "TIMESTAMP": "TIMESTAMPTZ",
            "TIMESTAMP_NTZ": "TIMESTAMP"}.get(t.name, str(t))  # fmt: skip


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# ----------------------------------------------------------------------------------- reading


def _read(
    connection: duckdb.DuckDBPyConnection, source: RangeSource, end: Offset, wanted: Wanted
) -> int:
    """Fill the tables of changes, in source order."""
    held: dict[str, list[pa.Table]] = {}
    count = rows = 0
    for piece in source.ranges(source.initial(), end):
        for changes in source.read(piece, wanted):
            if len(changes.op):
                held.setdefault(changes.relation, []).append(
                    _numbered(changes, wanted[changes.relation], count)
                )
            count += len(changes.op)
            rows += len(changes.op)
            if rows > _ROWS_HELD:
                _flush(connection, held)
                rows = 0
    _flush(connection, held)
    return count


def _numbered(changes: Changes, names: tuple[str, ...], first: int) -> pa.Table:
    """The changes as rows of their table."""
    n = len(changes.op)
    columns = {SEQ: pa.array(np.arange(first, first + n)), OP: pa.array(changes.op)}
    for name in names:
        columns[name] = changes.batch.column(name)
    return pa.table(columns)


def _flush(connection: duckdb.DuckDBPyConnection, held: dict[str, list[pa.Table]]) -> None:
    for name, tables in held.items():
        connection.register("#incoming", pa.concat_tables(tables))
        connection.execute(f'INSERT INTO "{name}#" BY NAME FROM "#incoming"')
        connection.unregister("#incoming")
    held.clear()


# ----------------------------------------------------------------------------------- content


def content_sql(relation: Relation, columns: tuple[str, ...]) -> str:
    """The statement that makes the relation's table out of its changes. Columns that are not
    wanted are there too, for the names that nobody reads, and NULL."""
    content = _keyed(relation, columns) if relation.key else _counted(relation, columns)
    every = ", ".join(
        _quoted(c.name) if c.name in columns
        else f"NULL::{_duck(relation, c.name)} AS {_quoted(c.name)}"
        for c in relation.columns
    )  # fmt: skip
    return f'CREATE TABLE "{relation.name}" AS SELECT {every} FROM ({content})'


def _keyed(relation: Relation, columns: tuple[str, ...]) -> str:
    key, listed = _listed(relation.key), _listed(columns)
    there = " AND ".join(f"{_quoted(k)} IS NOT NULL" for k in relation.key)
    effective = f'SELECT * FROM "{relation.name}#" WHERE {there}'
    if relation.policy in ("reject", "fail"):
        effective = f"""
            SELECT * FROM (
                SELECT *, last_value(CASE WHEN "{OP}" <> 2 THEN "{OP}" END IGNORE NULLS) OVER (
                    PARTITION BY {key} ORDER BY "{SEQ}"
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ) AS "#before"
                FROM ({effective})
            )
            WHERE ("{OP}" = 1) = ("#before" IS DISTINCT FROM 1)"""
    elif relation.policy == "trust":  # an update by key has no old image there: refused
        effective += f' AND "{OP}" <> 2'
    return f"""
        SELECT {listed} FROM (
            SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY "{SEQ}" DESC) AS "#last"
            FROM ({effective})
        )
        WHERE "#last" = 1 AND "{OP}" <> -1"""


def _counted(relation: Relation, columns: tuple[str, ...]) -> str:
    """Multiplicity: the sum of the ops, less the lowest running sum if that is below zero."""
    listed = _listed(columns)
    floats = [c for c in columns if relation.column(c).type.is_float]
    zero = ", ".join(f"{_quoted(c)} + 0.0 AS {_quoted(c)}" for c in floats)  # -0.0 is 0.0
    rows = f'SELECT * {f"REPLACE ({zero})" if zero else ""} FROM "{relation.name}#"'
    return f"""
        SELECT {listed}, unnest(range(n)) FROM (
            SELECT {listed}, sum("{OP}")::BIGINT - least(0, min("#total"))::BIGINT AS n FROM (
                SELECT *, sum("{OP}") OVER (
                    PARTITION BY {listed} ORDER BY "{SEQ}" ROWS UNBOUNDED PRECEDING
                ) AS "#total"
                FROM ({rows} WHERE "{OP}" <> 2)
            )
            GROUP BY {listed}
        )"""


def _listed(columns: tuple[str, ...]) -> str:
    return ", ".join(map(_quoted, columns))
