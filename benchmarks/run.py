"""The figures, one part after the other: measured, shown, and kept in results/.

    python benchmarks/run.py                      all parts
    python benchmarks/run.py kernel q3 --scale 0.1 --epoch 100000

| part   | says                                                                       |
|--------|----------------------------------------------------------------------------|
| kernel | updates/s of the join of Q3 on one core, without Spark                      |
| arena  | whether index or log grow with history                                      |
| q3 ... | updates/s, freshness, memory and epoch time by part, end to end on Spark    |
| pipes  | the same epochs without the work, and by Spark alone                        |
| rivals | other systems on the same kind of stream (`--query` says which queries)     |

Generated data is kept in the folder `--data`, and used again. Not here: how things are measured.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import arena
import end_to_end
import kernel
import rivals
from machine import keep, machine

QUERIES = ("q1", "q3", "q5", "q7", "q10")
PARTS = ("kernel", "arena", *QUERIES, "pipes", "rivals")
USUAL = ("kernel", "arena", "q3")


def measured(part: str, args: argparse.Namespace) -> Iterator[tuple[str, Any, Any]]:
    """(name, module, figures) of each measurement of a part."""
    if part == "kernel":
        yield part, kernel, kernel.measure(args.data)
    elif part == "arena":
        yield part, arena, arena.measure(args.data)
    elif part == "rivals":
        for query in args.query:
            for scale in args.scale:
                yield f"rivals-{query}-sf{scale:g}", rivals, rivals.measure(args.data, query, scale)
    else:
        queries, pipes = ((part,), ("",)) if part in QUERIES else (("q3",), ("empty", "spark"))
        for query, scale, size, pipe in product(queries, args.scale, args.epoch, pipes):
            figures = end_to_end.measure(args.data, query, scale, size, args.epochs, pipe)
            name = f"{pipe}-pipe-{query}" if pipe else query
            yield f"{name}-sf{scale:g}-{size}", end_to_end, figures


def right(figures: dict[str, Any]) -> bool:
    """The answer was compared and equal; nothing grew."""
    return str(figures.get("answer", "match")).startswith("match") and not figures.get("grew")


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure Everview.")
    parser.add_argument("parts", nargs="*", default=USUAL, metavar="PART")
    parser.add_argument("--scale", type=float, nargs="+", default=[0.1, 1])
    parser.add_argument("--epoch", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--query", nargs="+", default=QUERIES, choices=QUERIES)
    parser.add_argument("--epochs", type=int, default=8, help="measured epochs, after two others")
    parser.add_argument(
        "--data", type=Path, help="folder of generated data (default: in the temporary folder)",
        default=Path(tempfile.gettempdir()) / f"everview-bench-{os.getuid()}",
    )  # fmt: skip
    args = parser.parse_args()
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(unknown)}; parts: {', '.join(PARTS)}")
    args.data.mkdir(parents=True, exist_ok=True)
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # Spark's workers know our modules too
    about, done, wrong = machine(), 0, 0
    print(f"machine: {about['cores']} cores, {about['memory_gib']} GiB, {about['cpu']}")
    for part in args.parts:
        for name, module, figures in measured(part, args):
            print(f"{name}", flush=True)
            module.show(figures)
            sys.stdout.flush()
            keep(name, about, figures)
            done, wrong = done + 1, wrong + (not right(figures))
    print(f"bench: {done} measurements, {wrong} with a wrong answer or growth")
    return 1 if wrong or not done else 0


if __name__ == "__main__":
    sys.exit(main())
