"""Several sources read as one: one scan, one epoch, one offset.

    offset = {"sources": [offset of the first, offset of the second, ...]}

The limit of an epoch is shared out evenly; what one source has no rows for goes to the others. A
source whose epoch is ended by a mark (`*` in an update sequence) takes no more in that epoch, the
others go on. Segments carry the number of their source, so positions sort by source, then within.

Not here: the sources (update_sequence, folder).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from everview.connect.contract import Offset, Range, RangeSource
from everview.connect.files import Step
from everview.delta.changes import Changes


class Counting(RangeSource, Protocol):
    """A source that also tells how many rows it took."""

    def take(self, start: Offset, limit: int | None) -> Step: ...


@dataclass(frozen=True)
class Together:
    """The sources, in the order in which their rows count as coming within an epoch."""

    sources: tuple[Counting, ...]

    def initial(self) -> Offset:
        return {"sources": [s.initial() for s in self.sources]}

    def take(self, start: Offset, limit: int | None) -> Step:
        """As `advance`, with the number of rows taken."""
        offsets, taken = list(start["sources"]), 0
        waiting = list(range(len(self.sources)))
        while waiting and (limit is None or taken < limit):
            share = None if limit is None else max(1, (limit - taken) // len(waiting))
            again = []
            for i in waiting:
                if limit is not None and taken >= limit:
                    again.append(i)
                    continue
                step = self.sources[i].take(offsets[i], share)
                offsets[i] = _joined(offsets[i], step.offset, start["sources"][i])
                taken += step.rows
                if step.more:
                    again.append(i)
            waiting = again
        if offsets == start["sources"]:
            return Step(start, 0, more=False)
        return Step({"sources": offsets}, taken, bool(waiting))

    def advance(self, start: Offset, limit: int | None) -> Offset:
        return self.take(start, limit).offset

    def ranges(self, start: Offset, end: Offset) -> list[Range]:
        return [
            replace(piece, segment=f"{i:04d}/{piece.segment}")
            for i, source in enumerate(self.sources)
            for piece in source.ranges(start["sources"][i], end["sources"][i])
        ]

    def unread(self, end: Offset) -> list[str]:
        ends = zip(self.sources, end["sources"], strict=True)
        return [text for source, at in ends for text in source.unread(at)]

    def read(self, piece: Range, columns: Mapping[str, tuple[str, ...]]) -> Iterator[Changes]:
        number, segment = piece.segment.split("/", 1)
        for changes in self.sources[int(number)].read(replace(piece, segment=segment), columns):
            changes.segment = piece.segment
            changes.rejects = [replace(r, segment=piece.segment) for r in changes.rejects]
            yield changes


def _joined(before: Offset, after: Offset, start: Offset) -> Offset:
    """Two steps of one epoch as one: files that the first finished ended in this epoch too."""
    if before is start or after is before or "ends" not in before:
        return after
    return {**after, "ends": {**before["ends"], **after["ends"]}}
