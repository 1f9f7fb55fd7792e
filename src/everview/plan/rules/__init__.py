"""The rules, in order, that turn a bound plan into one that can run. One rule, one file.

    simplify   constants computed                merge   sub-selects dissolved
    derive     conditions that follow            push    conditions down to their relation
    keyjoin    joins along keys, or refused      prune   only the columns that are used

`optimize` applies them all; `trace` gives the plan after each rule that changed it.

Not here: placement, stages and routes (dataflow).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from everview.errors import PlanError
from everview.plan.node import Node, Plan
from everview.plan.rules.derive import derive
from everview.plan.rules.keyjoin import keyjoin
from everview.plan.rules.merge import merge
from everview.plan.rules.prune import prune
from everview.plan.rules.push import push
from everview.plan.rules.simplify import simplify

Rule = Callable[[Node], Node]

RULES: tuple[Rule, ...] = (simplify, merge, simplify, derive, push, keyjoin, prune)


def trace(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """The plan after each rule that changed it, with the rule's name."""
    try:
        for rule in RULES:
            root = rule(plan.root)
            if root != plan.root:
                plan = replace(plan, root=root)
                yield rule.__name__, plan
    except PlanError as e:
        joins = plan.position(r"\bfrom\b")  # a plan knows no better place
        raise PlanError(e.code, e.message, fix=e.fix, position=joins) from None
    except RecursionError:
        raise PlanError("PLAN.TOO_DEEP", f"the plan of {plan.name} is nested too deeply") from None


def optimize(plan: Plan) -> Plan:
    """The plan after all rules. PlanError UNSUPPORTED.JOIN if a join is not along keys."""
    for _, changed in trace(plan):
        plan = changed
    return plan
