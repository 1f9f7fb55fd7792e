"""Laps: where the milliseconds of an epoch go, part by part. They travel beside the statistics.

    laps = Laps();  ...;  laps.lap("decode");  ...;  laps.lap("join")      laps.blob() ──▶ the sink

Parts of several tasks add up, so a sum may exceed the time that passed.

Not here: counts of what a stage holds and did (dataflow/stage); no output depends on any of this.
"""

from __future__ import annotations

from time import perf_counter

from everview.delta.frame import encode

TIMES, READ = "times", "read"


class Laps:
    """Milliseconds by part. A lap takes the time since the lap before it, or since the start."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self._at = perf_counter()

    def lap(self, part: str) -> None:
        now = perf_counter()
        self.parts[part] = self.parts.get(part, 0.0) + 1000 * (now - self._at)
        self._at = now

    def skip(self) -> None:
        """The time since the last lap belongs to somebody else."""
        self._at = perf_counter()

    def blob(self, read: int = 0) -> bytes:
        """The parts, and how many changes were read, as a blob that stages let pass and the sink's
        reader adds up."""
        return encode({TIMES: {n: round(ms, 3) for n, ms in self.parts.items()}, READ: read})
