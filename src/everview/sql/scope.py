"""Which column a name in SQL means.

    FROM orders o, lineitem      Scope ── Item o         o_orderkey -> Ref(o.o_orderkey), ...
                                    └──── Item lineitem  l_orderkey -> Ref(lineitem.l_orderkey)

Identifiers fold to lower case unless they are quoted; where nothing has exactly that name, case
does not matter (as in Spark). A column merged by USING is one column.

Not here: select aliases (sql/select tries them after the scope), types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from everview.expr import Ref
from everview.sql.dialect import Source
from everview.sql.subset import refuse, similar


@dataclass(frozen=True, slots=True)
class Item:
    """One thing in FROM: its name (empty for an unnamed sub-select) and its columns."""

    name: str
    columns: Mapping[str, Ref]


@dataclass(slots=True)
class Scope:
    """The items a name can come from; `merged` hides the second column of each USING."""

    items: list[Item] = field(default_factory=list)
    merged: set[tuple[str, str]] = field(default_factory=set)

    def lookup(self, column: str, table: str) -> list[tuple[Item, Ref]]:
        """Every item that has the column."""
        table = meant(table, [i.name for i in self.items]) if table else ""
        found = []
        for item in self.items:
            name = meant(column, item.columns)
            if name in item.columns and (
                item.name == table if table else (item.name, name) not in self.merged
            ):
                found.append((item, item.columns[name]))
        return found

    def shown(self, table: str = "") -> list[tuple[str, Ref]]:
        """What `*` (or `table.*`) stands for, in order."""
        return [
            (name, ref)
            for item in self.items
            if not table or item.name == table
            for name, ref in item.columns.items()
            if table or (item.name, name) not in self.merged
        ]


def meant(name: str, names: Iterable[str]) -> str:
    """The one of these names that a name means: itself, else the only one that differs in case
    alone; otherwise it stays as it is."""
    if name in (names := list(names)):
        return name
    alike = [n for n in names if n.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else name


def fold(identifier: exp.Expr | str, source: Source) -> str:
    """The name an identifier stands for: lower case unless quoted."""
    if isinstance(identifier, str):
        return identifier.lower()
    name = identifier.name
    quoted = isinstance(identifier, exp.Identifier) and bool(identifier.args.get("quoted"))
    name = name if quoted else name.lower()
    if not name or len(name) > 128 or any(c in ".#" or ord(c) < 32 for c in name):
        raise refuse("NAME.INVALID", source.position(identifier), repr(name)[:60])
    return name


def resolve(column: exp.Column, scope: Scope, source: Source) -> Ref | None:
    """The column a reference means; None if there is none. Refuses an ambiguous one."""
    for part in ("db", "catalog"):
        if column.args.get(part):
            raise refuse("UNSUPPORTED.QUALIFIED_TABLE", source.position(column), column.sql())
    name = fold(column.this, source)
    table_part = column.args.get("table")
    table = fold(table_part, source) if table_part else ""
    found = scope.lookup(name, table)
    if len(found) > 1:
        names = " or ".join(f"{item.name}.{name}" for item, _ in found if item.name)
        fix = names or "give the sub-selects aliases"
        raise refuse("AMBIGUOUS.COLUMN", source.position(column), name, fix)
    return found[0][1] if found else None


def unknown(column: exp.Column, scope: Scope, source: Source) -> Exception:
    """The refusal of a column that nothing has."""
    name, table = column.name.lower(), column.table.lower()
    names = {item.name for item in scope.items if item.name}
    if table and table not in names:
        fix = similar(table, names, "names in FROM")
        return refuse("UNKNOWN.TABLE", source.position(column), table, fix)
    known = {n for n, _ in scope.shown(table)}
    what = f"{table}.{name}" if table else name
    return refuse("UNKNOWN.COLUMN", source.position(column), what, similar(name, known, "columns"))
