"""The laws over random cases, over cases Hypothesis shrinks, and the cost law at two sizes.

`LAW_CASES` says how many random cases (2,000 by default, 20,000 in `make laws`). The last part
shows that the suite can fail: engines with a known defect are found.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from everview.dataflow import local, stage
from everview.dataflow.compile import Settings, _Built, _Source, compile_resolved
from everview.dataflow.local import LocalHost
from everview.kernels import join as kernel
from everview.operators import group, join
from everview.plan.rules import optimize
from everview.sql.script import read_script
from everview.state.log import Log
from everview.state.text import TextTable
from tests.histories import Case, Change, case_of, cases
from tests.laws.laws import LAWS, Run, examine, verdict
from tests.laws.run_laws import SHARES, explain, run_laws

CASES = int(os.environ.get("LAW_CASES", "2000"))


def test_every_law_has_its_share() -> None:
    assert set(SHARES) | {"scratch"} == set(LAWS)


@pytest.mark.slow
def test_random_cases() -> None:
    report = run_laws(seed=1, cases=CASES, jobs=2, progress=True)
    print(report)
    assert not report.broken, explain(report.broken)
    rare = {f: n for f, n in report.features.items() if n < min(5, CASES // 400)}
    assert not rare, f"hardly covered: {rare}"
    assert report.filled > report.cases // 2


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(size=15))
def test_cases_that_can_be_shrunk(case: Case) -> None:
    examine(case, ["order", "undo", "restart"])


# ------------------------------------------------------------------------------------------ cost

SCRIPT = """
CREATE TABLE customer (c_key INT, c_name STRING, c_nation INT, PRIMARY KEY (c_key));
CREATE TABLE supplier (s_key INT, s_nation INT, PRIMARY KEY (s_key));
CREATE TABLE orders (o_key INT, o_customer INT, PRIMARY KEY (o_key));
CREATE TABLE lineitem (l_order INT, l_number INT, l_supplier INT, l_price DECIMAL(15,2),
  PRIMARY KEY (l_order, l_number));
CREATE VIEW v AS {sql};
"""
JOINED = """
FROM lineitem, orders, customer, supplier WHERE l_order = o_key AND o_customer = c_key
AND l_supplier = s_key AND c_nation = s_nation"""
QUERIES = (
    "SELECT l_order, l_number, c_name, l_price" + JOINED,
    "SELECT o_key, SUM(l_price) AS total, COUNT(*) AS n" + JOINED + " GROUP BY o_key",
    "SELECT c_name, AVG(l_price) AS a" + JOINED + " GROUP BY c_name",
    "SELECT SUM(l_price) AS total" + JOINED,
)


def _rows(size: int) -> list[Change]:
    """That many customers, each with two orders of two lines."""
    out: list[Change] = [("supplier", 1, (s, s % 3)) for s in range(6)]
    for c in range(size):
        out.append(("customer", 1, (c, f"c{c}", c % 3)))
        for o in (2 * c, 2 * c + 1):
            out.append(("orders", 1, (o, c)))
            out += [("lineitem", 1, (o, n, (o + n) % 6, None)) for n in (0, 1)]
    return out


def _epoch(base: int) -> list[Change]:
    """Changes of rows that are there at any size: every relation, every kind of change."""
    return [
        ("customer", -1, (base, f"c{base}", base % 3)),
        ("customer", 1, (base, "renamed", 1)),
        ("orders", -1, (2 * base + 2, base + 1)),
        ("lineitem", -1, (2 * base, 0, 2 * base % 6, None)),
        ("lineitem", 1, (2 * base + 4, 5, 1, None)),
        ("orders", 2, (2 * base + 5, base)),
        ("lineitem", 1, (10**6, 1, 1, None)),
    ]


@pytest.mark.parametrize("sql", QUERIES)
@pytest.mark.parametrize("replicated", [frozenset[str](), frozenset({"customer", "supplier"})])
def test_cost_does_not_depend_on_the_size_of_the_state(
    sql: str, replicated: frozenset[str]
) -> None:
    seen = []
    for size in (40, 400):
        script = read_script(SCRIPT.format(sql=sql))
        case = Case(script.schema, sql, (), tuple(r.name for r in script.schema.relations))
        plan = optimize(script.views["v"])
        run = Run(LocalHost(compile_resolved(plan, Settings(shards=3, replicated=replicated))))
        run.epoch(_rows(size), case)
        run.epoch(_epoch(3), case)
        seen.append(run.work[-1])
        assert run.work[-1].changes == 7
        assert run.work[-1].turned > 0
    assert seen[0] == seen[1]


# --------------------------------------------------------------------------- the suite can fail

Patch = Callable[[pytest.MonkeyPatch], None]


def _no_assertions(m: pytest.MonkeyPatch) -> None:
    m.setattr(join.Join, "_asserted", lambda self, name, slots: slots)


def _missed_retractions(m: pytest.MonkeyPatch) -> None:
    died = join.Join._died

    def only_root(self: join.Join, name: str, slots: Any) -> None:
        if name == self.root:
            died(self, name, slots)

    m.setattr(join.Join, "_died", only_root)


def _null_references_join(m: pytest.MonkeyPatch) -> None:
    link: Callable[..., None] = kernel.link

    def given_always(*args: Any) -> None:
        *before, given, marks = args
        link(*before, np.ones_like(given), marks)

    m.setattr(kernel, "link", given_always)


def _deaths_not_logged(m: pytest.MonkeyPatch) -> None:
    append = Log.append
    m.setattr(Log, "append", lambda self, epoch, new, dead: append(self, epoch, new, dead[:0]))


def _groups_kept(m: pytest.MonkeyPatch) -> None:
    m.setattr(group, "drop_unused", lambda ix, entries: None)


def _texts_kept(m: pytest.MonkeyPatch) -> None:
    use = TextTable.use
    m.setattr(TextTable, "use", lambda self, codes, n: use(self, codes, n) if n > 0 else None)


def _keyless_policy(m: pytest.MonkeyPatch) -> None:
    m.setattr(_Source, "nameless", property(lambda self: False))


def _always_settled(m: pytest.MonkeyPatch) -> None:
    m.setattr(_Built, "settled", lambda self, key: True)


def _not_consolidated(m: pytest.MonkeyPatch) -> None:
    m.setattr(stage, "consolidate", lambda delta: delta)
    m.setattr(local, "consolidate", lambda delta: delta)


DEFECTS: dict[Patch, set[str]] = {
    _no_assertions: {"scratch"},
    _missed_retractions: {"scratch", "runs"},
    _null_references_join: {"scratch"},
    _deaths_not_logged: {"restart", "undo", "runs"},
    _groups_kept: {"undo"},
    _texts_kept: {"undo"},
    _keyless_policy: {"scratch", "rejects"},
    _always_settled: {"settled"},
    _not_consolidated: {"scratch", "quiet"},
}


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda d: d.__name__.strip("_"))
def test_an_engine_with_a_defect_is_found(defect: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    defect(monkeypatch)
    for seed in range(1, 150):
        found = verdict(case_of(seed), [SHARES[seed % len(SHARES)]])
        if found is not None and found.law in DEFECTS[defect]:
            return
    pytest.fail("150 cases did not find it")
