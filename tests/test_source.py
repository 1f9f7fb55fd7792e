"""Files as a Spark source: who reads what. (Reading itself: tests/spark.)"""

from __future__ import annotations

from random import Random

import pytest

from everview.connect.contract import Range
from everview.spark.source import OPENING, shares


def ranges(sizes: list[int]) -> list[Range]:
    return [Range("t", f"{i}", 0, n, f"{i:06d}", n) for i, n in enumerate(sizes)]


def work(share: list[Range]) -> int:
    return sum(r.size + OPENING for r in share)


@pytest.mark.parametrize("seed", range(20))
def test_few_tasks_share_all_ranges_in_order(seed: int) -> None:
    rng = Random(seed)
    tasks = rng.randrange(1, 9)
    found = ranges([rng.choice((0, 10, 10**6, 10**8)) for _ in range(rng.randrange(300))])
    given = shares(found, tasks)
    assert [r for s in given for r in s] == found
    assert len(given) <= tasks
    assert all(given)
    largest = max((r.size + OPENING for r in found), default=0)
    assert all(work(s) <= work(found) / tasks + largest for s in given)


def test_pieces_of_one_size_are_tasks_of_their_own() -> None:
    assert shares(ranges([5 * OPENING] * 4), 4) == [[r] for r in ranges([5 * OPENING] * 4)]
    assert shares([], 4) == []
