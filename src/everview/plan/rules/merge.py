"""Sub-selects without aggregates dissolve into the SELECT around them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from everview.errors import PlanError
from everview.expr import Expr, Ref, conjunction, conjuncts, rename
from everview.plan.constant import TRUE
from everview.plan.node import Filter, Group, Join, Named, Node, Project, columns
from everview.plan.walk import changed, size

MAX_SIZE = 10_000


@dataclass(frozen=True, slots=True)
class _Block:
    """A join of `leaves` filtered by `where`; `output`: the columns by name, over the leaves."""

    leaves: tuple[Node, ...]
    where: tuple[Expr, ...]
    output: dict[str, Expr]

    def body(self) -> Node:
        if len(self.leaves) > 1:
            return Join(self.leaves, conjunction(self.where))
        return Filter(self.leaves[0], conjunction(self.where)) if self.where else self.leaves[0]


def merge(node: Node) -> Node:
    """Project(Join(a, Project(Filter(Join(b, c))))) -> Project(Join(a, b, c) on all conditions)."""
    block = _flat(node)
    body = block.body()
    if list(block.output.items()) == list(_identity(body).items()):
        return body
    return Project(body, tuple(Named(n, v) for n, v in block.output.items()))


def _identity(node: Node) -> dict[str, Expr]:
    return {c.name: Ref(c.name, c.type) for c in columns(node)}


def _flat(node: Node) -> _Block:
    match node:
        case Filter():
            block = _flat(node.input)
            where = conjuncts(_over(node.predicate, block.output))
            return replace(block, where=(*block.where, *where))
        case Project():
            block = _flat(node.input)
            return replace(
                block, output={n.name: _over(n.value, block.output) for n in node.columns}
            )
        case Join():
            return _join(node)
        case Group():
            return _group(node)
        case _:
            return _Block((node,), (), _identity(node))


def _over(expr: Expr, output: dict[str, Expr]) -> Expr:
    """The expression with the columns of a sub-select replaced by what they stand for."""
    replaced = rename(expr, output)
    if size(replaced) > MAX_SIZE:
        raise PlanError(
            "PLAN.TOO_LARGE",
            f"an expression has more than {MAX_SIZE} parts once its sub-selects are merged",
            fix="use fewer levels of views or smaller expressions",
        )
    return replaced


def _join(node: Join) -> _Block:
    leaves: list[Node] = []
    where: list[Expr] = []
    output: dict[str, Expr] = {}
    for below in node.inputs:
        block = _flat(below)
        if len(block.leaves) == 1 and isinstance(block.leaves[0], Group):
            # a group's own names may be another group's too, so its renaming stays with it
            leaf = Project(block.body(), tuple(Named(n, v) for n, v in block.output.items()))
            block = _Block((leaf,), (), _identity(leaf))
        leaves += block.leaves
        where += block.where
        output |= block.output
    on = _over(node.on, output)
    where += () if on == TRUE else conjuncts(on)
    return _Block(tuple(leaves), tuple(where), output)


def _group(node: Group) -> _Block:
    """A group stays, over a merged input without a Project of its own."""
    block = _flat(node.input)
    group = Group(
        block.body(),
        changed(node.keys, lambda e: _over(e, block.output)),
        tuple(
            a if a.argument is None else replace(a, argument=_over(a.argument, block.output))
            for a in node.aggregates
        ),
    )
    return _Block((group,), (), _identity(group))
