"""Conditions go down to the relation they are about, before it is joined or grouped."""

from __future__ import annotations

from dataclasses import replace

from everview.expr import Expr, conjunction, conjuncts, rename
from everview.plan.constant import TRUE
from everview.plan.node import Filter, Group, Join, KeyJoin, Node, Project, columns
from everview.plan.walk import names, with_inputs


def push(node: Node) -> Node:
    """Join(a, b) on p(a) AND q(a, b)  ->  Join(Filter(a, p), b) on q;  a test of a GROUP BY column
    goes below its Group."""
    return _sink(node, ())


def _sink(node: Node, tests: tuple[Expr, ...]) -> Node:
    """The node filtered by the tests, each as far down as it can go."""
    match node:
        case Filter():
            return _sink(node.input, (*conjuncts(node.predicate), *tests))  # the inner guards first
        case Project():
            values = {n.name: n.value for n in node.columns}
            return replace(node, input=_sink(node.input, tuple(rename(t, values) for t in tests)))
        case Join():
            return _into_join(node, tests)
        case Group():
            return _into_group(node, tests)
        case KeyJoin():
            below = tuple(_sink(c.input, ()) for c in node.copies)
            return _filtered(with_inputs(node, below), tests)
        case _:
            return _filtered(node, tests)


def _filtered(node: Node, tests: tuple[Expr, ...]) -> Node:
    kept = tuple(dict.fromkeys(t for t in tests if t != TRUE))
    return Filter(node, conjunction(kept)) if kept else node


def _into_join(node: Join, tests: tuple[Expr, ...]) -> Node:
    """A test without any column goes to every input: if it fails, none keeps a row."""
    every = dict.fromkeys(t for t in (*conjuncts(node.on), *tests) if t != TRUE)
    inputs, left = [], dict(every)
    for below in node.inputs:
        own = frozenset(c.name for c in columns(below))
        mine = tuple(t for t in every if names(t) <= own)
        left = {t: None for t in left if t not in mine}
        inputs.append(_sink(below, mine))
    return Join(tuple(inputs), conjunction(tuple(left)))


def _into_group(node: Group, tests: tuple[Expr, ...]) -> Node:
    """Only a group with keys: without keys there is a row even for no input."""
    keys = {n.name: n.value for n in node.keys}
    below = tuple(t for t in tests if keys and names(t) <= keys.keys())
    above = tuple(t for t in tests if t not in below)
    inner = _sink(node.input, tuple(rename(t, keys) for t in below))
    return _filtered(replace(node, input=inner), above)
