"""A stage as a Spark stateful operator: one group per shard, blobs in and out.

    rows (shard, blob) of an epoch ──▶ handleInputRows, once per shard ──▶ spark/stage

Spark's driver loads this module in a process of its own, once per stage and start of a query, only
to ask which state variables there are. So what does the work is imported where it is done, by the
tasks, in a Python daemon that has it loaded already (spark/daemon).

Not here: what is done with the blobs (spark/stage), assembling the query (spark/host).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming import StatefulProcessor

from everview.spark.hosted import Hosted

if TYPE_CHECKING:
    import pandas as pd

CHUNKS, TOKEN = "chunks", "token"


class StageProcessor(StatefulProcessor):
    """Stage `number` of a hosted program."""

    def __init__(self, hosted: Hosted, number: int) -> None:
        self.hosted, self.number = hosted, number

    def init(self, handle: Any) -> None:
        self.chunks = handle.getMapState(CHUNKS, "number BIGINT", "blob BINARY")
        self.token = handle.getValueState(TOKEN, "token STRING")

    def handleInputRows(
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: ARG002
    ) -> Iterator[pd.DataFrame]:
        from everview.spark.stage import run_epoch

        yield run_epoch(self.hosted, self.number, int(key[0]), rows, self.chunks, self.token)

    def close(self) -> None:
        """Nothing is held between epochs."""
