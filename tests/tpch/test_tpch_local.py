"""TPC-H views on the in-process host, and a host that errs: found after the epoch where it does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from everview.delta.delta import Delta
from everview.schema import Schema
from everview.workloads import tpch
from tests.tpch import on_local
from tests.tpch.run_tpch import HISTORIES, run
from tests.tpch.truth import History


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["reject", "trust"])
def test_queries_over_all_histories(tmp_path: Path, policy: str) -> None:
    queries = ("q1", "q3", "q5", "q7", "q9", "q14") if policy == "reject" else ("q3", "q8", "q19")
    for _, tally in run(
        on_local.run_view, folder=tmp_path, queries=queries, histories=HISTORIES, epochs=10,
        policy=policy,  # type: ignore[arg-type]
    ):  # fmt: skip
        assert not tally.differences
    assert tally.epochs >= 10 * len(tally.runs) >= 90
    assert tally.rows > 1000


def test_a_host_that_loses_a_change_is_found(tmp_path: Path) -> None:
    def careless(
        name: str, sql: str, schema: Schema, sequence: Path, on_epoch: Callable[[int, Delta], None]
    ) -> int:
        def lose(epoch: int, changes: Delta) -> None:
            keep = np.ones(len(changes), np.bool_)
            keep[-1:] = epoch != 5
            on_epoch(epoch, changes.take(keep))

        return on_local.run_view(name, sql, schema, sequence, lose)

    *_, (_, tally) = run(careless, folder=tmp_path, queries=["q10"], histories=["fifo"], epochs=10)
    assert tally.differences[0].startswith("q10 fifo epoch 5: ")


def test_the_truth_refuses_histories_that_do_not_fit(tmp_path: Path) -> None:
    line = "RI0|AFRICA|x|\n"
    for text in (f"+{line}+{line}", f"-{line}", f"+{line}-RI0|AFRICA|y|\n"):
        sequence = tmp_path / "bad.txt"
        sequence.write_text(text)
        with pytest.raises((AssertionError, KeyError)):
            History(sequence, tpch.schema())
