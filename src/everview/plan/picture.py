"""A plan as a picture: Graphviz dot or Mermaid text, boxes with what they do, data flowing up.

    Project ◀── Group ◀── KeyJoin ◀─ root ── lineitem
                              ▲
                              └── l_orderkey ── orders

Not here: the text form, and expressions as text (plan/explain), JSON (plan/wire).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from everview.plan.explain import text
from everview.plan.node import (
    Copy,
    Filter,
    Group,
    Join,
    KeyJoin,
    Node,
    Plan,
    Project,
    Scan,
    inputs,
)


@dataclass(frozen=True, slots=True)
class Box:
    """A vertex of the picture: lines of text, and (label, number of the box) of what feeds it."""

    lines: tuple[str, ...]
    feeds: tuple[tuple[str, int], ...]


def dot(plan: Plan) -> str:
    """The plan as a Graphviz digraph."""
    drawn = [
        f"digraph {_dot_text(plan.name)} {{",
        "  rankdir=BT;",
        '  node [shape=box, fontname="sans-serif"];',
    ]
    for number, box in enumerate(boxes(plan)):
        drawn.append(f"  n{number} [label={_dot_text(*box.lines)}];")
        drawn += [
            f"  n{feed} -> n{number}" + (f" [label={_dot_text(label)}];" if label else ";")
            for label, feed in box.feeds
        ]
    return "\n".join([*drawn, "}"])


def mermaid(plan: Plan) -> str:
    """The plan as a Mermaid flowchart."""
    drawn = ["flowchart BT"]
    for number, box in enumerate(boxes(plan)):
        drawn.append(f"  n{number}[{_mermaid_text(*box.lines)}]")
        drawn += [
            f"  n{feed} -->" + (f"|{_mermaid_text(label)}| " if label else " ") + f"n{number}"
            for label, feed in box.feeds
        ]
    return "\n".join(drawn)


def boxes(plan: Plan) -> tuple[Box, ...]:
    """Every node below the view, inputs first, the view itself last."""
    found: list[Box] = []

    def add(node: Node) -> int:
        labels = _labels(node)
        feeds = tuple(
            (label, add(below)) for label, below in zip(labels, inputs(node), strict=True)
        )
        found.append(Box(_lines(node), feeds))
        return len(found) - 1

    top = add(plan.root)
    return (*found, Box((f"View {plan.name}",), (("", top),)))


def _lines(node: Node) -> tuple[str, ...]:
    """The first line names the operator, the others say what it does."""
    if isinstance(node, Scan):
        alias = "" if node.alias == node.relation else f" as {node.alias}"
        return (f"Scan {node.relation}{alias}", ", ".join(c.name for c in node.columns))
    if isinstance(node, Filter):
        return ("Filter", text(node.predicate))
    if isinstance(node, Project):
        return ("Project", *(_named(n.name, text(n.value)) for n in node.columns))
    if isinstance(node, Group):
        keys = (f"by {_named(n.name, text(n.value))}" for n in node.keys)
        sums = (
            f"{a.name} := {a.function}({text(a.argument) if a.argument else '*'})"
            for a in node.aggregates
        )
        return ("Group", *keys, *sums)
    if isinstance(node, Join):
        return ("Join", text(node.on))
    asserted = (f"assert at {a.copy}: {text(a.predicate)}" for a in node.assertions)
    return (f"KeyJoin, root {node.copies[0].name}", *asserted)


def _named(name: str, value: str) -> str:
    return name if name == value else f"{name} := {value}"


def _labels(node: Node) -> tuple[str, ...]:
    """What to write on the edge to each input: for a KeyJoin, the foreign key that leads there."""
    if not isinstance(node, KeyJoin):
        return ("",) * len(inputs(node))
    return tuple(_edge(node, copy) for copy in node.copies)


def _edge(node: KeyJoin, copy: Copy) -> str:
    for edge in node.edges:
        if edge.one == copy.name:
            return ", ".join(edge.columns)
    return "root"


def _dot_text(*lines: str) -> str:
    return '"' + "\\n".join(_escaped(x, {"\\": "\\\\", '"': '\\"'}) for x in lines) + '"'


def _mermaid_text(*lines: str) -> str:
    marks = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;"}
    return '"' + "<br/>".join(_escaped(x, marks) for x in lines) + '"'


def _escaped(line: str, marks: Mapping[str, str]) -> str:
    return "".join(marks.get(c, c) for c in line)
