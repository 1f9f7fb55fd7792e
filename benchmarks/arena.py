"""Does anything grow with history? The index and the log after 2 windows and after 20.

The window of TPC-H Q3 at scale 0.01 slides on the in-process host; after so many windows every row
of it has been replaced so many times, and its content is as large as before.

Not here: speed (kernel, end_to_end).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fifo import Fifo
from workload import changes_of, dataflow, tables

from everview.dataflow.local import LocalHost

SCALE, SHARDS, EPOCHS_PER_WINDOW = 0.01, 4, 5
WINDOWS = (2, 20)


def measure(data: Path, query: str = "q3") -> dict[str, Any]:
    """Bytes of arena and log, and rows held, after each number of windows."""
    flow = dataflow(query, SHARDS)
    wanted = flow.relations()
    stream = Fifo(tables(data, SCALE), tuple(wanted))
    host = LocalHost(flow)
    for epoch in stream.fill():
        host.epoch(changes_of(epoch, wanted))
    step = stream.window // EPOCHS_PER_WINDOW
    found, changes = [], 0
    for number in range(WINDOWS[-1] * EPOCHS_PER_WINDOW):
        epoch = stream.epoch(number, step)
        changes += epoch.changes
        host.epoch(changes_of(epoch, wanted))
        windows, rest = divmod(number + 1, EPOCHS_PER_WINDOW)
        if not rest and windows in WINDOWS:
            c = host.counts()
            found.append(
                {
                    "windows": windows, "changes": changes, "arena_bytes": c.arena_bytes,
                    "log_bytes": c.log_bytes, "rows": c.live + c.waiting, "entries": c.entries,
                    "groups": c.groups, "texts": c.texts,
                }
            )  # fmt: skip
    first, last = found[0], found[-1]
    return {
        "query": query, "scale": SCALE, "after": found,
        "grew": last["arena_bytes"] > first["arena_bytes"],
    }  # fmt: skip


def show(figures: dict[str, Any]) -> None:
    for f in figures["after"]:
        print(
            f"  after {f['windows']:>2} windows ({f['changes']:>9,} changes): arena "
            f"{f['arena_bytes']:>11,} bytes, log {f['log_bytes']:>9,} bytes, {f['rows']:,} rows"
        )
    print(f"  the arena {'GREW' if figures['grew'] else 'did not grow'}")
