"""A view kept in the plainest way: a Counter that every epoch's changes are added to.

It refuses what no changelog may do: take away a row that is not there, or name a row twice in
one epoch's net change.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from everview.delta.delta import Delta
from tests.oracle import Row, rows_of_delta


class ChangelogError(AssertionError):
    """A changelog that breaks its own law."""


@dataclass
class NaiveView:
    """The sum of all changes so far."""

    rows: Counter[Row] = field(default_factory=Counter)
    changes: int = 0

    def add(self, delta: Delta) -> list[tuple[Row, int]]:
        """Add one epoch's net change; the changes as sorted rows with weights."""
        out = rows_of_delta(delta)
        seen: set[Row] = set()
        for row, weight in out:
            if not weight:
                raise ChangelogError(f"weight 0 for {row}")
            if row in seen:
                raise ChangelogError(f"row twice in one epoch: {row}")
            seen.add(row)
            self.rows[row] += weight
            if self.rows[row] < 0:
                raise ChangelogError(f"{row} taken away {-self.rows[row]} times too often")
            if not self.rows[row]:
                del self.rows[row]
        self.changes += len(out)
        return sorted(out, key=repr)
