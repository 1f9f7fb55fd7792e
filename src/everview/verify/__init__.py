"""The batch answer of a view, by DuckDB, and the comparison with the answer that was kept current.

    source ──content──▶ tables ──the view's own SQL (query)──▶ rows ─┐
                                          the run's answer ──────────┴─▶ Verdict

Shares nothing with the engine but what was declared (schema, SQL text) and the reading of input
files: neither the plan nor operators, kernels or stages are used.

Not here: where a run's answer and its end come from (database).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from everview.connect.contract import Offset, RangeSource
from everview.connect.fold import NAN
from everview.errors import EverviewError
from everview.plan.node import Plan
from everview.schema import Schema
from everview.verify.content import Wanted, load
from everview.verify.exact import canonical
from everview.verify.query import Query, Row, connect, disconnect
from everview.verify.spark_types import Unsupported

SHOWN = 8


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the answer is right: `rows` of the batch answer were compared, computed from
    `changes`; `difference` says what is missing or too much, and is empty if they are equal."""

    view: str
    rows: int
    changes: int
    difference: str = ""

    def __bool__(self) -> bool:
        return not self.difference

    def __str__(self) -> str:
        over = f"DuckDB's answer over {self.changes:,} changes"
        if self:
            return f"verified: {self.view}, {_rows(self.rows)} equal to {over}"
        return f"differs: {self.view}, compared with {over}\n{self.difference}"


def verify(
    plan: Plan,
    schema: Schema,
    source: RangeSource | None,
    end: Offset,
    answer: Counter[Row],
    *,
    columns: Wanted,
    views: Mapping[str, Plan] | None = None,
    zone: str = "UTC",
) -> Verdict:
    """Compare an answer with the batch answer over all changes from the beginning to `end`.

    `columns`: for every relation that the view reads, the columns that its run reads (a fault in
    another column refuses no row); `views`: those it may read, in the order of their declaration.
    """
    if not plan.sql:
        raise EverviewError(
            "VERIFY.NO_SQL", f"the plan of view {plan.name} does not say which SQL it is",
            fix="give the plan its statement in the field `sql`",
        )  # fmt: skip
    above = {name: p.sql for name, p in (views or {}).items() if name != plan.name}
    connection = connect(zone)
    try:
        query = Query(connection, schema, plan.sql, _used(plan.sql, above))
        changes = load(connection, schema, source, end, columns)
        expected = query.run()
    except Unsupported as error:
        raise EverviewError(
            "VERIFY.UNSUPPORTED",
            f"view {plan.name} cannot be computed by DuckDB as Spark would: {error}",
            fix="compare view.snapshot() with spark.sql() over the same rows",
        ) from None
    except duckdb.Error as error:
        text = str(error).strip().splitlines()[0]
        raise EverviewError(
            "VERIFY.FAILED", f"DuckDB did not compute view {plan.name}: {text}",
            fix="compare view.snapshot() with spark.sql() over the same rows",
        ) from None  # fmt: skip
    finally:
        disconnect(connection)
    names = [name for name, _ in query.columns]
    floats = [t is not None and t.is_float for _, t in query.columns]
    shown = Counter({_canonical(row, floats): n for row, n in answer.items()})
    return Verdict(plan.name, expected.total(), changes, compare(shown, expected, names) or "")


def compare(answer: Counter[Row], expected: Counter[Row], names: Sequence[str] = ()) -> str | None:
    """None if equal as multisets, else what is missing and what is too much."""
    if answer == expected:
        return None
    lines = [f"{_rows(answer.total())}, expected {expected.total():,}"]
    if names:
        lines.append(f"  ({', '.join(names)})")
    for title, rows in (("missing", expected - answer), ("too much", answer - expected)):
        shown = sorted(rows.items(), key=repr)
        lines += [f"  {title}: {n} x {_text(row)}" for row, n in shown[:SHOWN]]
        if len(shown) > SHOWN:
            lines.append(f"  {title}: {len(shown) - SHOWN:,} more")
    negative = [row for row, n in answer.items() if n < 0]
    lines += [f"  negative: {_text(row)}" for row in negative[:SHOWN]]
    return "\n".join(lines)


def _rows(n: int) -> str:
    return f"{n:,} row{'' if n == 1 else 's'}"


def _text(row: Row) -> str:
    return f"({', '.join('NULL' if v is None else str(v) for v in row)})"


def _canonical(row: Row, floats: Sequence[bool]) -> Row:
    """As `verify.query` gives rows; a folded changelog writes NaN as text."""
    pairs = zip(row, floats, strict=True)
    return tuple("nan" if f and v == NAN else canonical(v) for v, f in pairs)


def _used(sql: str, views: Mapping[str, str]) -> dict[str, str]:
    """The views that occur in the text, or in the text of one that does."""
    found = {n: text for n, text in views.items() if n in sql.lower()}
    for text in list(found.values()):
        found |= _used(text, {n: t for n, t in views.items() if n not in found})
    return {n: t for n, t in views.items() if n in found}
