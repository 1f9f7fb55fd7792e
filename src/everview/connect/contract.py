"""The contract of a source that hands out ranges of files.

    offset ──advance(limit)──▶ offset        on the driver, once an epoch
       └────────ranges────────┘              what lies between: byte or row ranges, in order
                 │
               read(range)                   in a task: Arrow batches of parsed changes

Offsets are JSON dictionaries that Spark commits; from two offsets the ranges between them are
always the same, so a replayed epoch reads the same rows. Implementers: one file each here.

Not here: rows of an arbitrary streaming DataFrame (spark/rows), routing (dataflow/pack).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from everview.delta.changes import Changes

Offset = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Range:
    """A piece of one file: [start, end) in bytes or rows. `segment` sorts in source order; `size`
    is about how many bytes there are to read."""

    relation: str
    path: str
    start: int
    end: int
    segment: str
    size: int = 0


class RangeSource(Protocol):
    """Implementations are picklable, frozen descriptions (paths, formats, relations)."""

    def initial(self) -> Offset:
        """The offset before everything."""
        ...

    def advance(self, start: Offset, limit: int | None) -> Offset:
        """The end of the next epoch: at most about `limit` changes after `start` (None: one epoch
        of everything there is); equal to `start` if nothing has come. Never splits a row."""
        ...

    def ranges(self, start: Offset, end: Offset) -> list[Range]:
        """What lies between, in source order, cut so that several tasks can share the work."""
        ...

    def unread(self, end: Offset) -> list[str]:
        """In words, what is there and is not read by `end`, because more of it may come."""
        ...

    def read(self, piece: Range, columns: Mapping[str, tuple[str, ...]]) -> Iterator[Changes]:
        """The changes of a range; `columns`: for each relation wanted, the columns wanted of it."""
        ...
