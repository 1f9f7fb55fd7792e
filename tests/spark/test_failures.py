"""A query that must end says why as an error of ours: code, what, fix; and no stack of any kind."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal as D

import pytest

from everview.delta.changes import DELETE, INSERT
from everview.errors import EverviewError
from tests.histories import Change
from tests.spark.fed import Fed

pytestmark = pytest.mark.spark

TABLES = """
CREATE TABLE strict (k INT PRIMARY KEY, x DECIMAL(38,0)) WITH (policy = 'fail');
CREATE TABLE big (k INT PRIMARY KEY, x DECIMAL(38,0));
"""


def ended(db: Fed, sql: str, *changes: Change) -> EverviewError:
    """How a query over these changes ends."""
    db.execute(TABLES)
    db.feed(changes)
    run = db.view("v", sql).start()
    with pytest.raises(EverviewError) as failed:
        run.process_available()
    assert failed.value.__suppress_context__
    text = str(failed.value)
    assert not any(
        word in text for word in ("SQLSTATE", "Traceback", "Exception", "\tat ", "java", "py4j")
    )
    return failed.value


def test_policy_fail_ends_the_query(fed: Callable[..., Fed]) -> None:
    changes = [("strict", INSERT, (k, D(k))) for k in range(5)]
    error = ended(fed(), "SELECT k, x FROM strict", *changes, ("strict", DELETE, (7, None)))
    assert error.code == "REJECT.MISSING_ROW"
    assert "a change of strict at 000000:0+5" in error.message
    assert '"k": 7' in error.message
    assert "policy 'reject'" in error.fix


def test_a_value_that_does_not_fit_names_its_column(fed: Callable[..., Fed]) -> None:
    most = D("9" * 38)
    changes = [("big", INSERT, (k, most)) for k in (1, 2)]
    error = ended(fed(), "SELECT k % 1 AS one, sum(x) AS total FROM big GROUP BY k % 1", *changes)
    assert "total" in error.message
    assert "OVERFLOW" in error.code
