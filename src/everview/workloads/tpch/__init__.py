"""TPC-H as views to keep current: the schema, and queries without ORDER BY and LIMIT.

    query("q3")   the text of one query, with the substitution parameters of its validation
    schema()      all eight tables with their keys

`q7_all` is Q7 without its filter on the two nations.

Not here: data and change sequences (workloads generators, `everview gen`).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from everview.errors import ConfigError
from everview.schema import Schema

QUERIES = ("q1", "q3", "q5", "q6", "q7", "q7_all", "q8", "q9", "q10", "q12", "q14", "q19")


def schema_sql() -> str:
    """The CREATE TABLE statements."""
    return files(__package__).joinpath("schema.sql").read_text(encoding="utf-8")


@cache
def schema() -> Schema:
    """The eight tables."""
    from everview.sql.script import read_script

    return read_script(schema_sql()).schema


def query(name: str) -> str:
    """The SQL of a query of `QUERIES`."""
    if name not in QUERIES:
        raise ConfigError(
            "TPCH.QUERY", f"there is no TPC-H query {name}", fix=f"use one of {', '.join(QUERIES)}"
        )
    return files(__package__).joinpath("queries", f"{name}.sql").read_text(encoding="utf-8")
