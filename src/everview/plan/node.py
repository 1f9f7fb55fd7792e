"""The vertices of a plan: what to compute, as pure immutable data.

As bound from SQL                        after the rules (plan/rules)

    Project  revenue := ...                  Project
       │                                        │
     Group   keys, aggregates                 Group
       │                                        │
     Filter  WHERE                            KeyJoin ── root lineitem ──▶ orders ──▶ customer
       │                                        │  (each copy: Project ◁ Filter ◁ Scan)
      Join   orders, lineitem, customer       (assertions: what only several copies decide)

A node's output columns have unique names. A Scan with alias `l` gives `l.l_orderkey`, ...; Project
and Group give the names they state. A row of a node has a weight; all nodes are linear or grouped.

Not here: text forms (plan/explain), JSON (plan/wire), stages (dataflow).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal as Choice

from everview.errors import PlanError, Position
from everview.expr import AggregateName, Expr
from everview.schema import Column, Policy


@dataclass(frozen=True, slots=True)
class Named:
    """An output column: its name and the expression that makes it."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An output column that sums up a group. `argument` None: count(*). `type`: of the result."""

    name: str
    function: AggregateName
    argument: Expr | None
    column: Column


@dataclass(frozen=True, slots=True)
class Scan:
    """The rows of a relation; output columns are `alias.column`, for the columns named here."""

    relation: str
    alias: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    policy: Policy = "reject"
    node: Choice["scan"] = "scan"


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows of `input` for which `predicate` is TRUE."""

    input: Node
    predicate: Expr
    node: Choice["filter"] = "filter"


@dataclass(frozen=True, slots=True)
class Project:
    """For each row of `input`, the named expressions; equal results add their weights."""

    input: Node
    columns: tuple[Named, ...]
    node: Choice["project"] = "project"


@dataclass(frozen=True, slots=True)
class Join:
    """Inner join: combinations of one row of each input for which `on` is TRUE."""

    inputs: tuple[Node, ...]
    on: Expr
    node: Choice["join"] = "join"


@dataclass(frozen=True, slots=True)
class Copy:
    """One logical copy of a relation (or of a keyed sub-query) in a KeyJoin.

    `key`: output columns of `input` that identify its rows; empty only for the root.
    """

    name: str
    input: Node
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """Copy `many` holds, in `columns`, the key of copy `one` (in the order of `one`'s key)."""

    many: str
    columns: tuple[str, ...]
    one: str


@dataclass(frozen=True, slots=True)
class Assertion:
    """A predicate over the columns of `copy` and of the copies below it, to hold for a live row."""

    copy: str
    predicate: Expr


@dataclass(frozen=True, slots=True)
class KeyJoin:
    """A join along keys: a tree of copies, root first; output: the columns of all copies.

    lineitem ──l_orderkey──▶ orders ──o_custkey──▶ customer
       └──────l_suppkey────▶ supplier     assertion at lineitem: c_nationkey = s_nationkey
    """

    copies: tuple[Copy, ...]
    edges: tuple[Edge, ...]
    assertions: tuple[Assertion, ...] = ()
    node: Choice["keyjoin"] = "keyjoin"

    def below(self, copy: str) -> tuple[Edge, ...]:
        return tuple(e for e in self.edges if e.many == copy)


@dataclass(frozen=True, slots=True)
class Group:
    """One row per distinct value of `keys` with its aggregates; without keys always one row."""

    input: Node
    keys: tuple[Named, ...]
    aggregates: tuple[Aggregate, ...]
    node: Choice["group"] = "group"


Node = Scan | Filter | Project | Join | KeyJoin | Group


@dataclass(frozen=True, slots=True)
class Plan:
    """A named view: the node whose rows are its answer; its text, and where that begins."""

    name: str
    root: Node
    sql: str = ""
    line: int = 1
    column: int = 1

    def position(self, pattern: str) -> Position | None:
        """Where a pattern first stands in the text, as a place in the script that holds it."""
        text = "\n" * (self.line - 1) + " " * (self.column - 1) + self.sql
        found = re.search(pattern, text, re.IGNORECASE)
        if found is None:
            return None
        start, width = found.start(), found.end() - found.start()
        line = text.count("\n", 0, start) + 1
        return Position(text, line, start - text.rfind("\n", 0, start), width)


def inputs(node: Node) -> tuple[Node, ...]:
    """The nodes directly below."""
    if isinstance(node, Scan):
        return ()
    if isinstance(node, Join):
        return node.inputs
    if isinstance(node, KeyJoin):
        return tuple(c.input for c in node.copies)
    return (node.input,)


def columns(node: Node) -> tuple[Column, ...]:
    """The output columns, in order.

    Nullability is conservative: a column is not nullable only if it surely never holds NULL.
    """
    if isinstance(node, Scan):
        return tuple(Column(f"{node.alias}.{c.name}", c.type, c.nullable) for c in node.columns)
    if isinstance(node, Filter):
        return columns(node.input)
    if isinstance(node, Join | KeyJoin):
        return tuple(c for i in inputs(node) for c in columns(i))
    below = {c.name: c for c in columns(node.input)}
    if isinstance(node, Project):
        return tuple(_named(n, below) for n in node.columns)
    return (*(_named(n, below) for n in node.keys), *(a.column for a in node.aggregates))


def _named(named: Named, below: dict[str, Column]) -> Column:
    value = named.value
    if value.expr == "ref":
        if value.name not in below:
            raise PlanError(
                "PLAN.UNKNOWN_COLUMN", f"{named.name} reads {value.name}: no such input"
            )
        return Column(named.name, value.type, below[value.name].nullable)
    return Column(named.name, value.type, not (value.expr == "literal" and value.value is not None))


def key(node: Node) -> tuple[str, ...]:
    """Output columns that identify a row of the node's answer; empty if none are known.

    A Scan: its relation's key. A KeyJoin: its root's key (each root row joins at most once).
    A Group: its keys. A Project: the key below, if it is still there as plain columns.
    """
    if isinstance(node, Scan):
        return tuple(f"{node.alias}.{k}" for k in node.key)
    if isinstance(node, Filter):
        return key(node.input)
    if isinstance(node, KeyJoin):
        return node.copies[0].key
    if isinstance(node, Group):
        return tuple(n.name for n in node.keys)
    if isinstance(node, Project):
        kept = {n.value.name: n.name for n in node.columns if n.value.expr == "ref"}
        below = key(node.input)
        return tuple(kept[k] for k in below) if below and all(k in kept for k in below) else ()
    return ()
