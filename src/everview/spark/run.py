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
from itertools import count
from pathlib import Path
from typing import Any

import psutil
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from everview.connect.contract import Offset, RangeSource
from everview.connect.live import Progress
from everview.errors import EverviewError, StateError
from everview.plan.node import Plan
from everview.spark.checkpoint import committed, end_offset
from everview.spark.hosted import Hosted
from everview.spark.sinks import FolderSink, MemorySink

KEPT_REJECTS = 1000
_OURS = re.compile(
    r"everview\.errors\.(\w+): (\[[A-Z_.]+\].*?)(?=\n\s*\n|\n\tat |\n\S*Driver|\n? ?SQLSTATE|\Z)",
    re.S,
)
_PYTHON = re.compile(r"^((?:\w+\.)*\w+(?:Error|Exception)): ([^\n]*)", re.M)
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
        self, plan: Plan, on: Hosted, blobs: DataFrame, sink: MemorySink | FolderSink,
        checkpoint: Path, source: RangeSource | None = None, *, temporary: bool = False,
    ) -> None:  # fmt: skip
        self.plan, self.view, self.on, self.sink = plan, plan.name, on, sink
        self.checkpoint, self.source, self.temporary = checkpoint, source, temporary
        self.stopped = False
        self._end: Offset | None = None
        self.rejects: deque[dict[str, Any]] = deque(maxlen=KEPT_REJECTS)
        self.rejected = 0
        self.reports: deque[EpochReport] = deque(maxlen=100_000)
        self._stats: dict[tuple[int, int], dict[str, Any]] = {}
        self._memory = (0.0, 0)
        if isinstance(sink, MemorySink):
            sink.progress = self.numbers
        self.query: StreamingQuery = (
            blobs.writeStream.foreachBatch(self._epoch)
            .queryName(_free_name(blobs.sparkSession, self.view))
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

    def ended(self) -> bool:
        """Whether the query has ended by itself; raises what ended it."""
        if self.query.isActive:
            return False
        error = self.query.exception()
        if error is not None:
            raise told(error, self.view)
        return True

    def stop(self) -> None:
        """Ends the query. Its index goes, its checkpoint stays (unless it was a temporary one)."""
        if self.stopped:
            return
        self.stopped = True
        query_id = str(self.query.id)
        self.query.stop()
        self.sink.close()
        shutil.rmtree(Path(self.on.scratch) / query_id, ignore_errors=True)
        self._end = self.end(self.sink.held()[0] if isinstance(self.sink, MemorySink) else None)
        if self.temporary:
            shutil.rmtree(self.checkpoint, ignore_errors=True)

    def end(self, epoch: int | None = None) -> Offset | None:
        """Where the files stood after an epoch, by default the last; None before the first, and if
        there are none."""
        if self.stopped and self._end is not None:
            return self._end
        epoch = committed(self.checkpoint) if epoch is None else epoch
        return end_offset(self.checkpoint, epoch) if self.source and epoch is not None else None

    def unread(self) -> list[str]:
        """What is there, and will not be read while nothing more comes."""
        return self.source.unread(self.end() or self.source.initial()) if self.source else []

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
            freshness=self._freshness(),
            live=self.total("live"),
            waiting=self.total("waiting"),
            rejects=self.rejected,
            memory=self._resident(),
        )

    def _freshness(self) -> float | None:
        """Seconds from looking for changes to their effect in the sink and all committed."""
        last = self.query.lastProgress
        if last is not None and "triggerExecution" in last.durationMs:
            return float(last.durationMs["triggerExecution"]) / 1000
        return self.reports[-1].seconds if self.reports else None

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


def _free_name(spark: SparkSession, view: str) -> str:
    """The view's name, with a number where a query of that name runs already."""
    taken = {q.name for q in spark.streams.active}
    numbered = (f"{view}-{i}" for i in count(2))
    return view if view not in taken else next(n for n in numbered if n not in taken)


def told(error: Exception, view: str) -> EverviewError:
    """What went wrong in a query, without Java's stack: our own error if there is one in it."""
    text = str(error)
    ours = _OURS.search(text)
    if ours:
        first, _, rest = ours.group(2).partition("] ")
        message, _, fix = rest.partition("\n  fix: ")
        return EverviewError(first.lstrip("["), message.strip(), fix=fix.strip())
    causes = _PYTHON.findall(text) or _JAVA.findall(text)
    what = f"{causes[-1][0].rsplit('.', 1)[-1]}: {causes[-1][1]}" if causes else text.split("\n")[0]
    return StateError(
        "QUERY.FAILED", f"the query of view {view} ended: {what[:300]}",
        fix="--debug shows everything Spark said",
    )  # fmt: skip
