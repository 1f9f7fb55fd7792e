"""TPC-H as continuous views against the oracle: queries x histories, after every epoch.

    python -m tests.tpch.run_tpch --host local|spark [--scale 0.01] [--queries q3 q7] [--epochs 12]

| history           | is                                                                         |
|-------------------|----------------------------------------------------------------------------|
| fifo              | a sliding window of half the orders                                        |
| random            | random inserts, deletes, key updates, re-inserts, dangling references      |
| insert-delete-all | everything in, everything out: an empty answer and no state at the end      |
| again             | half in, then the rest inserted and, an epoch later, deleted: as the half   |

A host is a module with `run_view(name, sql, schema, sequence, on_epoch) -> rows of state left`,
which must make one epoch of what lies between two `*` lines. `again` (the protocol of the Q7
report) is run for Q7 and for Q7 without its nation filter. Ends with one line of counts.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from everview.delta.delta import Delta
from everview.schema import Policy, Schema
from everview.workloads import tpch
from everview.workloads.tpch.generate import generate, update_sequence
from everview.workloads.tpch.timeline import Kind
from tests.naive import ChangelogError, NaiveView
from tests.oracle import Row, compare
from tests.tpch.truth import History

QUERIES = ("q1", "q3", "q5", "q6", "q7", "q8", "q9", "q10", "q12", "q14", "q19")
HISTORIES = ("fifo", "random", "insert-delete-all", "again")
AGAIN = ("q7", "q7_all")
HOSTS = {"local": "tests.tpch.on_local", "spark": "tests.tpch.on_spark"}


class RunView(Protocol):
    def __call__(
        self, name: str, sql: str, schema: Schema, sequence: Path,
        on_epoch: Callable[[int, Delta], None],
    ) -> int: ...  # fmt: skip


@dataclass
class Tally:
    """What was compared."""

    runs: set[tuple[str, str]] = field(default_factory=set)
    epochs: int = 0
    rows: int = 0
    changes_out: int = 0
    differences: list[str] = field(default_factory=list)

    def line(self) -> str:
        queries = len({q for q, _ in self.runs})
        histories = len({h for _, h in self.runs})
        return (
            f"tpch: {queries} queries x {histories} histories ({len(self.runs)} runs), "
            f"{self.epochs} epochs, {self.rows} rows compared, {self.changes_out} changes, "
            f"{len(self.differences)} differences"
        )


def write_history(name: str, source: Path, out: Path, epochs: int) -> None:
    """The update sequence of one history, in about that many epochs."""
    if name == "again":
        _again(source, out, epochs)
        return
    kind: Kind = name  # type: ignore[assignment]
    total = update_sequence(source, out, kind=kind, seed=1).changes
    update_sequence(source, out, kind=kind, seed=1, epoch=-(-total // epochs))


def _again(source: Path, out: Path, epochs: int) -> None:
    """The small tables and the first half of the orders; the rest comes and goes in pieces."""
    whole = out.with_suffix(".whole")
    update_sequence(source, whole, kind="insert-only")
    lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
    whole.unlink()
    half = len(lines) // 2
    pieces = [lines[:half]]
    size = -(-(len(lines) - half) * 2 // max(epochs - 1, 2))
    for first in range(half, len(lines), size):
        piece = lines[first : first + size]
        pieces += [piece, ["-" + line[1:] for line in piece]]
    out.write_text("*\n".join("".join(p) for p in pieces) + "*\n", encoding="utf-8")


def check(
    host: RunView, query: str, history: str, schema: Schema, sequence: Path,
    expected: list[Counter[Row]], tally: Tally,
) -> None:  # fmt: skip
    """Run one view over one history and compare after every epoch."""
    view, seen = NaiveView(), 0

    def on_epoch(epoch: int, changes: Delta) -> None:
        nonlocal seen
        try:
            view.add(changes)
            wrong = compare(view.rows, expected[epoch])
        except ChangelogError as e:
            wrong = str(e)
        tally.rows += expected[epoch].total()
        seen += 1
        if wrong:
            tally.differences.append(f"{query} {history} epoch {epoch}: {wrong}")

    left = host(query, tpch.query(query), schema, sequence, on_epoch)
    tally.runs.add((query, history))
    tally.epochs += seen
    tally.changes_out += view.changes
    if seen != len(expected) or seen < 10:
        tally.differences.append(f"{query} {history}: {seen} epochs, expected {len(expected)}")
    if history == "insert-delete-all" and left:
        tally.differences.append(f"{query} {history}: {left} rows of state left")
    if history == "again" and expected[-1] != expected[0]:
        tally.differences.append(f"{query} {history}: the oracle itself did not come back")


def run(
    host: RunView, *, folder: Path, scale: float = 0.01, queries: Iterable[str] = QUERIES,
    histories: Iterable[str] = HISTORIES, epochs: int = 12, policy: Policy | None = None,
) -> Iterator[tuple[str, Tally]]:  # fmt: skip
    """Run everything; after each run its name and the tally so far."""
    schema = tpch.schema()
    if policy:
        schema = Schema(tuple(replace(r, policy=policy) for r in schema.relations))
    source, tally = generate(folder / f"tpch-{scale:g}", scale), Tally()
    for name in histories:
        sequence = folder / f"{name}-{scale:g}.txt"
        write_history(name, source, sequence, epochs)
        truth = History(sequence, schema)
        chosen = (
            [q for q in AGAIN if q[:2] in {x[:2] for x in queries}] if name == "again" else queries
        )
        for query in chosen:
            expected = truth.answers(tpch.query(query))
            check(host, query, name, schema, sequence, expected, tally)
            yield f"{query} {name}", tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", choices=sorted(HOSTS), default="spark")
    parser.add_argument("--scale", type=float, default=0.01)
    parser.add_argument("--queries", nargs="+", default=QUERIES)
    parser.add_argument("--histories", nargs="+", default=HISTORIES, choices=HISTORIES)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--policy", choices=("reject", "fail", "upsert", "trust"))
    parser.add_argument("--data", type=Path, help="keep generated data here")
    args = parser.parse_args()
    host: RunView = importlib.import_module(HOSTS[args.host]).run_view
    tally, told, start = Tally(), 0, time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        for done, tally in run(
            host, folder=args.data or Path(scratch), scale=args.scale, queries=args.queries,
            histories=args.histories, epochs=args.epochs, policy=args.policy,
        ):  # fmt: skip
            print(f"{time.monotonic() - start:6.1f} s  {done}", flush=True)
            for text in tally.differences[told:]:
                print(text, flush=True)
            told = len(tally.differences)
    print(tally.line())
    return 1 if tally.differences or not tally.runs else 0


if __name__ == "__main__":
    sys.exit(main())
