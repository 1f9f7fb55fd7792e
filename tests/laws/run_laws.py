"""Many random cases against the laws: `python -m tests.laws.run_laws --cases 20000 --seed 1`.

Every case is held to `scratch`; each other law gets its share of them. Ends with what was covered
and how many differences there were; every difference names its seed and prints a small case that
still shows it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context

from tests.histories import case_of
from tests.laws.laws import LAWS, Broken, Checked, examine, shrunk, verdict

SHARES = ("split", "order", "undo", "shards", "restart", "wire", "quiet", "cost", "undo", "restart")
SHOWN = 3


@dataclass
class Report:
    """What some cases covered."""

    cases: int = 0
    epochs: int = 0
    changes: int = 0
    changes_out: int = 0
    rows: int = 0
    rejects: int = 0
    filled: int = 0  # cases whose answer is not always empty
    features: Counter[str] = field(default_factory=Counter)
    laws: Counter[str] = field(default_factory=Counter)
    stages: Counter[int] = field(default_factory=Counter)
    broken: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, other: Report) -> None:
        for name in ("cases", "epochs", "changes", "changes_out", "rows", "rejects", "filled"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.features += other.features
        self.laws += other.laws
        self.stages += other.stages
        self.broken += other.broken

    def met(self, c: Checked, law: str) -> None:
        answers = c.truth.answers
        self.epochs += len(c.run.nets)
        self.changes += sum(map(len, c.case.epochs))
        self.changes_out += sum(map(len, c.run.nets))
        self.rows += sum(a.total() for a in answers)
        self.rejects += sum(r.total() for r in c.truth.refused)
        self.filled += any(answers)
        self.features.update(c.case.features)
        self.laws.update(("scratch", law))
        self.stages[len(c.run.host.dataflow.stages)] += 1

    def __str__(self) -> str:
        features = sorted(self.features.items())
        lines = [", ".join(f"{n} {k}" for k, n in features[i : i + 6])
                 for i in range(0, len(features), 6)]  # fmt: skip
        return "\n".join(
            ["covered (cases):", *(f"  {x}" for x in lines),
             "  stages: " + ", ".join(f"{n} with {k}" for k, n in sorted(self.stages.items())),
             "laws: " + ", ".join(f"{n} {k}" for k, n in sorted(self.laws.items())),
             f"{self.cases} cases ({self.filled} with rows in the answer), {self.epochs} epochs, "
             f"{self.changes} changes in, {self.changes_out} out, {self.rejects} rejects, "
             f"{self.rows} rows compared, {len(self.broken)} differences"]
        )  # fmt: skip


def law_of(seed: int) -> str:
    return SHARES[seed % len(SHARES)]


def run_range(seeds: range) -> Report:
    """The cases of these seeds."""
    report = Report()
    for seed in seeds:
        law = law_of(seed)
        case = case_of(seed)
        report.cases += 1
        try:
            report.met(examine(case, [law]), law)
        except Broken as e:
            report.broken.append((seed, e.law, str(e)))
        except Exception as e:
            report.broken.append((seed, "runs", f"{type(e).__name__}: {e}"))
    return report


def reports(seed: int, cases: int, jobs: int) -> Iterator[Report]:
    """Reports of consecutive ranges, as they come."""
    size = 50
    ranges = [range(s, min(s + size, seed + cases)) for s in range(seed, seed + cases, size)]
    if jobs == 1:
        yield from map(run_range, ranges)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(run_range, ranges)


def run_laws(*, seed: int, cases: int, jobs: int = 1, progress: bool = False) -> Report:
    """Run the cases with seeds seed, seed + 1, ..."""
    total, start = Report(), time.monotonic()
    for r in reports(seed, cases, jobs):
        total.add(r)
        for s, law, text in r.broken:
            print(f"seed {s} breaks {law}: {text[:2000]}", flush=True)
        if progress and total.cases % 1000 == 0:
            print(f"{total.cases} cases, {len(total.broken)} differences, "
                  f"{time.monotonic() - start:.0f} s", flush=True)  # fmt: skip
    return total


def explain(broken: list[tuple[int, str, str]]) -> str:
    """Small reproductions of the first few different failures."""
    out: list[str] = []
    seen: set[tuple[str, str]] = set()
    for seed, law, text in broken:
        kind = (law, text[:60])
        if kind in seen or len(seen) == SHOWN:
            continue
        seen.add(kind)
        small = shrunk(case_of(seed), [law_of(seed)], law)
        out.append(f"----- {law}\n{small.reproduction()}# {verdict(small, [law_of(seed)])}\n")
    return "\n".join(out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    report = run_laws(seed=args.seed, cases=args.cases, jobs=args.jobs, progress=True)
    print(explain(report.broken))
    print(report)
    return 1 if report.broken else 0


if __name__ == "__main__":
    assert set(SHARES) | {"scratch"} == set(LAWS)
    sys.exit(main())
