"""A started view: the streaming query, its sink, and how it is doing.

    blobs of the last stage ── foreachBatch ──▶ sink, rejects, statistics ──▶ Progress

Not here: building the query (spark/host), what a view is (database).
"""

from __future__ import annotations

import re
import shutil
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming import StreamingQuery

from everview.connect.live import Progress
from everview.errors import EverviewError, StateError
from everview.spark.hosted import Hosted
from everview.spark.sinks import FolderSink, MemorySink

KEPT_REJECTS = 1000
_OURS = re.compile(
    r"everview\.errors\.(\w+): (\[[A-Z_.]+\].*?)(?=\n\s*\n|\n\tat |\n\S*Driver|\Z)", re.S
)
_JAVA = re.compile(r"(?:Caused by: )?((?:[a-z]\w*\.)+[A-Z]\w+(?:Exception|Error))[:\s]+([^\n]*)")


@dataclass(slots=True)
class EpochReport:
    """One epoch as the driver saw it."""

    epoch: int
    rows_in: int
    changes: int
    rejects: int
    seconds: float
    parts: dict[str, float]  # milliseconds, added up over all tasks


class Run:
    """One start of a view."""

    def __init__(
        self, view: str, on: Hosted, blobs: DataFrame, sink: MemorySink | FolderSink,
        checkpoint: Path, *, temporary: bool = False,
    ) -> None:  # fmt: skip
        self.view, self.on, self.sink = view, on, sink
        self.checkpoint, self.temporary = checkpoint, temporary
        self.rejects: deque[dict[str, Any]] = deque(maxlen=KEPT_REJECTS)
        self.rejected = 0
        self.reports: deque[EpochReport] = deque(maxlen=100_000)
        self._stats: dict[tuple[int, int], dict[str, Any]] = {}
        self._memory = (0.0, 0)
        if isinstance(sink, MemorySink):
            sink.progress = self.numbers
        self.query: StreamingQuery = (
            blobs.writeStream.foreachBatch(self._epoch)
            .queryName(view)
            .option("checkpointLocation", str(checkpoint))
            .start()
        )

    # ------------------------------------------------------------------ control

    def process_available(self) -> None:
        """Returns when everything that was there is in the sink."""
        try:
            self.query.processAllAvailable()
        except StreamingQueryException as error:
            raise told(error, self.view) from None

    def wait(self, seconds: float | None = None) -> bool:
        """Waits for the query to end by itself; whether it did."""
        try:
            ended = self.query.awaitTermination(None if seconds is None else max(round(seconds), 1))
        except StreamingQueryException as error:
            raise told(error, self.view) from None
        return True if ended is None else bool(ended)

    def stop(self) -> None:
        """Ends the query. Its index goes, its checkpoint stays (unless it was a temporary one)."""
        query_id = str(self.query.id)
        self.query.stop()
        self.sink.close()
        shutil.rmtree(Path(self.on.scratch) / query_id, ignore_errors=True)
        if self.temporary:
            shutil.rmtree(self.checkpoint, ignore_errors=True)

    # ------------------------------------------------------------------ what it says

    def progress(self) -> str:
        """One line: epoch, rows, changes, freshness, live and waiting rows, rejects, memory."""
        return f"{self.view}: {self.numbers().line(self.epoch)}"

    @property
    def epoch(self) -> int:
        """The number of the last epoch that reached the sink, -1 before the first."""
        return self.reports[-1].epoch if self.reports else -1

    def numbers(self) -> Progress:
        """The numbers of the progress line, over the last epochs."""
        recent = [self.reports[i] for i in range(-min(5, len(self.reports)), 0)]
        seconds = sum(r.seconds for r in recent)
        return Progress(
            rows_per_second=sum(r.rows_in for r in recent) / seconds if seconds else None,
            changes_per_second=sum(r.changes for r in recent) / seconds if seconds else None,
            freshness=recent[-1].seconds if recent else None,
            live=self.total("live"),
            waiting=self.total("waiting"),
            rejects=self.rejected,
            memory=self._resident(),
        )

    def total(self, name: str) -> int:
        """A statistic over all stages and shards, as each last reported it (see dataflow/stage)."""
        return sum(s[name] for s in self._stats.values())

    # ------------------------------------------------------------------ inside

    def _epoch(self, blobs: DataFrame, epoch: int) -> None:
        begun = time.monotonic()
        outcome = self.sink.write(blobs, epoch)
        taken = time.monotonic() - begun
        for s in outcome.stats:
            self._stats[s["stage"], s["shard"]] = s["stats"]
        self.rejects.extend(outcome.rejects)
        self.rejected += len(outcome.rejects)
        report = EpochReport(
            epoch, outcome.read, outcome.changes, len(outcome.rejects), taken, dict(outcome.times)
        )
        self.reports.append(report)

    def _resident(self) -> int:
        """Memory of this process and all below it, looked at once a second at most."""
        now = time.monotonic()
        if now - self._memory[0] > 1:
            me = psutil.Process()
            total = 0
            for p in [me, *me.children(recursive=True)]:
                try:
                    total += p.memory_info().rss
                except psutil.Error:
                    continue
            self._memory = (now, total)
        return self._memory[1]


def told(error: Exception, view: str) -> EverviewError:
    """What went wrong in a query, without Java's stack: our own error if there is one in it."""
    text = str(error)
    ours = _OURS.search(text)
    if ours:
        first, _, rest = ours.group(2).partition("] ")
        message, _, fix = rest.partition("\n  fix: ")
        return EverviewError(first.lstrip("["), message.strip(), fix=fix.strip())
    causes = _JAVA.findall(text)
    what = f"{causes[-1][0].rsplit('.', 1)[-1]}: {causes[-1][1]}" if causes else text.split("\n")[0]
    return StateError(
        "QUERY.FAILED", f"the query of view {view} ended: {what[:300]}",
        fix="--debug shows everything Spark said",
    )  # fmt: skip
