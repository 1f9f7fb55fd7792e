"""Golden plans: `tests/plans/*.sql` hold a script and, after a marker, its plans rule by rule.

`pytest tests/test_plans.py --update` rewrites the part after the marker. A script without tables
reads those of TPC-H.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from everview.errors import EverviewError
from everview.plan.check import check
from everview.plan.explain import render
from everview.plan.node import Plan
from everview.plan.rules import RULES, optimize, trace
from everview.sql.script import read_script, read_view
from everview.workloads import tpch

MARKER = "\n-- plan ------------------------------------------------------------------------\n"
FILES = sorted((Path(__file__).parent / "plans").glob("*.sql"))


def described(plan: Plan) -> str:
    """The plan as bound and after every rule that changed it; every step is a legal plan."""
    parts = [f"== {plan.name}: bound", render(plan.root)]
    check(plan)
    try:
        for rule, changed in trace(plan):
            check(changed)
            parts += [f"== {plan.name}: {rule}", render(changed.root)]
    except EverviewError as e:
        parts += [f"== {plan.name}: refused", e.render()]
    return "\n".join(parts)


def answer(text: str) -> str:
    script = read_script(text, tpch.schema())
    return "\n\n".join(described(plan) for plan in script.views.values()) + "\n"


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_golden(file: Path, update: bool) -> None:
    text, marker, expected = file.read_text(encoding="utf-8").partition(MARKER)
    found = answer(text)
    if update:
        file.write_text(text + MARKER + found, encoding="utf-8")
    else:
        assert marker, f"{file.name} has no marker line; run with --update"
        assert found == expected


def test_every_rule_changes_some_golden_plan() -> None:
    used = {
        line.rpartition(": ")[2]
        for file in FILES
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("== ")
    }
    assert {rule.__name__ for rule in RULES} <= used


def test_every_rule_says_before_and_after() -> None:
    for rule in RULES:
        assert "->" in (rule.__doc__ or "").split("\n\n")[0], rule.__name__


@pytest.mark.parametrize("name", tpch.QUERIES)
def test_rules_settle(name: str) -> None:
    """Once optimized, the rules change nothing more."""
    plan = optimize(read_view(name, tpch.query(name), tpch.schema()))
    assert optimize(plan) == plan
