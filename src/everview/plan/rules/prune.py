"""Each node keeps only the columns that are used above it, and those that identify its rows."""

from __future__ import annotations

from dataclasses import replace

from everview.expr import Ref
from everview.plan.check import expressions
from everview.plan.node import (
    Copy,
    Filter,
    Group,
    Join,
    KeyJoin,
    Named,
    Node,
    Project,
    Scan,
    columns,
    key,
)  # fmt: skip
from everview.plan.walk import names


def prune(node: Node) -> Node:
    """Project(KeyJoin(Scan of 16 columns, ...))  ->  Project(KeyJoin(Scan of the 5 it uses, ...)).

    Keys and edge columns stay: state is kept by them. A Project that changes nothing goes.
    """
    return _pruned(node, frozenset(c.name for c in columns(node)))


def _pruned(node: Node, used: frozenset[str]) -> Node:
    match node:
        case Scan():
            return _scan(node, used)
        case Filter():
            return Filter(_pruned(node.input, used | _read(node)), node.predicate)
        case Project():
            return _project(node, used)
        case Join():
            below = used | _read(node)
            return Join(tuple(_pruned(i, below & _names(i)) for i in node.inputs), node.on)
        case KeyJoin():
            return _keyjoin(node, used)
        case Group():
            kept = replace(node, aggregates=tuple(a for a in node.aggregates if a.name in used))
            kept = kept if kept.keys or kept.aggregates else node
            return replace(kept, input=_pruned(node.input, _read(kept)))


def _read(node: Node) -> frozenset[str]:
    return frozenset().union(*map(names, expressions(node)))


def _names(node: Node) -> frozenset[str]:
    return frozenset(c.name for c in columns(node))


def _scan(node: Scan, used: frozenset[str]) -> Scan:
    """Without key and without use, one column stays to carry the rows; all of them where the whole
    row is the identity by which a policy is applied."""
    if not node.key and node.policy != "trust":
        return node
    wanted = {name.partition(".")[2] for name in used} | set(node.key)
    kept = tuple(c for c in node.columns if c.name in wanted)
    return replace(node, columns=kept or node.columns[:1])


def _project(node: Project, used: frozenset[str]) -> Node:
    kept = tuple(n for n in node.columns if n.name in used) or node.columns[:1]
    below = _pruned(node.input, frozenset().union(*(names(n.value) for n in kept)))
    identity = tuple(Named(c.name, Ref(c.name, c.type)) for c in columns(below))
    return below if kept == identity else Project(below, kept)


def _keyjoin(node: KeyJoin, used: frozenset[str]) -> KeyJoin:
    used |= _read(node)
    used |= {c for e in node.edges for c in e.columns}
    return replace(node, copies=tuple(_copy(c, used | set(c.key)) for c in node.copies))


def _copy(copy: Copy, used: frozenset[str]) -> Copy:
    """Columns only the copy's own filter reads end at a Project above it."""
    below = _pruned(copy.input, used & _names(copy.input) | frozenset(key(copy.input)))
    kept = tuple(c for c in columns(below) if c.name in used) or columns(below)[:1]
    if len(kept) < len(columns(below)):
        below = _projected(below, tuple(Named(c.name, Ref(c.name, c.type)) for c in kept))
    return replace(copy, input=below)


def _projected(node: Node, kept: tuple[Named, ...]) -> Node:
    if isinstance(node, Project):
        names = {n.name for n in kept}
        return Project(node.input, tuple(n for n in node.columns if n.name in names))
    return Project(node, kept)
