"""Pictures of plans: every box, every edge, text that survives quoting."""

from __future__ import annotations

import re

from everview.expr import Literal, Ref, call
from everview.plan import picture
from everview.plan.node import (
    Aggregate,
    Assertion,
    Copy,
    Edge,
    Filter,
    Group,
    Join,
    KeyJoin,
    Named,
    Plan,
    Project,
    Scan,
)
from everview.schema import BIGINT, BOOLEAN, DATE, INT, STRING, Column, decimal

KEY, DAY = Ref("o.key", BIGINT), Ref("o.day", DATE)
ORDERS = Scan("orders", "o", (Column("key", BIGINT), Column("day", DATE)), ("key",))
LINES = Scan("lines", "lines", (Column("order", BIGINT), Column("price", decimal(15, 2))))
EARLY = Filter(ORDERS, call("<", DAY, Literal("1995-03-15", DATE)))
JOINED = KeyJoin(
    (Copy("lines", LINES, ()), Copy("o", EARLY, ("o.key",))),
    (Edge("lines", ("lines.order",), "o"),),
    (Assertion("lines", call("=", KEY, Ref("lines.order", BIGINT))),),
)
GROUPED = Group(
    JOINED,
    (Named("year", call("year", DAY)),),
    (Aggregate("n", "count", None, Column("n", BIGINT, False)),),
)
VIEW = Plan("busy", Project(GROUPED, (Named("year", Ref("year", INT)),)))

DOT = r"""digraph "busy" {
  rankdir=BT;
  node [shape=box, fontname="sans-serif"];
  n0 [label="Scan lines\norder, price"];
  n1 [label="Scan orders as o\nkey, day"];
  n2 [label="Filter\no.day < DATE '1995-03-15'"];
  n1 -> n2;
  n3 [label="KeyJoin, root lines\nassert at lines: o.key = lines.order"];
  n0 -> n3 [label="root"];
  n2 -> n3 [label="lines.order"];
  n4 [label="Group\nby year := year(o.day)\nn := count(*)"];
  n3 -> n4;
  n5 [label="Project\nyear"];
  n4 -> n5;
  n6 [label="View busy"];
  n5 -> n6;
}"""


def test_dot():
    assert picture.dot(VIEW) == DOT


def test_mermaid_has_the_same_boxes_and_edges():
    drawn = picture.mermaid(VIEW).splitlines()
    assert drawn[0] == "flowchart BT"
    assert drawn[3] == """  n2["Filter<br/>o.day #lt; DATE '1995-03-15'"]"""
    assert '  n2 -->|"lines.order"| n3' in drawn
    edges = re.findall(r"n(\d+) -->(?:\S+)? ?n(\d+)", "\n".join(drawn))
    assert edges == re.findall(r"n(\d+) -> n(\d+)", DOT)


def test_a_join_before_the_rules():
    plan = Plan("v", Join((LINES, ORDERS), Literal(True, BOOLEAN)))
    assert 'label="Join\\nTRUE"' in picture.dot(plan)
    assert picture.dot(plan).count("->") == 3


def test_quotes_and_backslashes_do_not_end_a_label():
    odd = Plan('a"b', Filter(ORDERS, call("=", Ref("s", STRING), Literal('\\"<x>', STRING))))
    assert r"""[label="Filter\ns = '\\\\\"<x>'"]""" in picture.dot(odd)
    assert picture.dot(odd).startswith(r'digraph "a\"b" {')
    assert r"""["Filter<br/>s = '\\#quot;#lt;x#gt;'"]""" in picture.mermaid(odd)
