"""What a stage does besides joining, as pure data: steps row by row, and groups.

Not here: doing it (operators/row, operators/group), deciding it (dataflow/compile).
"""

from __future__ import annotations

from dataclasses import dataclass

from everview.expr import Expr
from everview.plan.node import Aggregate, Named
from everview.schema import BIGINT, STRING, Column


@dataclass(frozen=True, slots=True)
class Keep:
    """The rows for which the predicate is TRUE."""

    predicate: Expr


@dataclass(frozen=True, slots=True)
class Make:
    """Other columns, from those that are there."""

    columns: tuple[Named, ...]


Step = Keep | Make


LIMBS, LIMBS_OF_DOUBLES = 3, 5


def limbs(a: Aggregate) -> int:
    """How many words the sum of an aggregate takes; a count has none."""
    if a.function == "count" or a.argument is None:
        return 0
    return LIMBS_OF_DOUBLES if a.argument.type.is_float else LIMBS


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """What is grouped by what. `columns`: the key columns as they leave, types and NULLs.

    The state of a group is `width` words: its weight, per aggregate the number of values it took,
    and for each sum its limbs (see operators/group).
    """

    keys: tuple[Named, ...]
    aggregates: tuple[Aggregate, ...]
    columns: tuple[Column, ...]

    @property
    def width(self) -> int:
        return 1 + sum(1 + limbs(a) for a in self.aggregates)

    def of_doubles(self) -> list[int]:
        """The numbers of the aggregates that sum floating point values."""
        return [
            i for i, a in enumerate(self.aggregates)
            if limbs(a) == LIMBS_OF_DOUBLES
        ]  # fmt: skip

    def partial_columns(self) -> tuple[Column, ...]:
        """The columns of a partial: keys, words, and one text per aggregate of doubles."""
        words = [Column(f"#{j}", BIGINT, False) for j in range(self.width)]
        wide = [Column(f"#wide{i}", STRING) for i in self.of_doubles()]
        return (*self.columns, *words, *wide)
