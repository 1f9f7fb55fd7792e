"""The newest results as the figures of the README, between its two marks.

    python benchmarks/report.py            prints them; --write puts them into README.md

Not here: measuring (run).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from machine import RESULTS

README = Path(__file__).parents[1] / "README.md"
BLOCK = re.compile(r"(<!-- figures: begin -->\n).*?(<!-- figures: end -->)", re.DOTALL)


def newest() -> dict[str, dict[str, Any]]:
    """The last result of every part, by its name."""
    found = {}
    for file in sorted(RESULTS.glob("*.json")):
        result = json.loads(file.read_text(encoding="utf-8"))
        found[result["part"]] = result
    return found


def text(results: dict[str, dict[str, Any]]) -> str:
    """The figures in words and tables."""
    runs = [r for r in results.values() if "our_ms" in r["figures"]]
    dates = sorted({r["at"][:10] for r in results.values()})
    about = next(iter(results.values()))
    machine, versions = about["machine"], about["versions"]
    lines = [
        f"`benchmarks/run.py` with the parts below, {' and '.join(dates)}, on "
        f"{machine['cores']} cores ({machine['cpu']}, "
        f"{machine['memory_gib']} GiB), Python {versions['python']}, Spark {versions['pyspark']}. "
        "The change stream is a sliding window of half the orders; it is read from Parquet files, "
        "state is durable, changes go into Parquet files, and the final answer is compared with "
        "DuckDB's. Flink SQL and DuckDB ran on the same machine on the same day "
        "(benchmarks/peers): Flink without checkpoints, its state on the heap, a result for "
        "every change, the filling of the window included; DuckDB applies a twentieth of the "
        "stream (570,000 changes at scale 1) and runs the query anew. "
        "All are single runs; two runs of Flink differed by up to 1.3, so less than that is a tie. "
        "Peak memory is of a process that ran several of these one after the other.",
        "",
        "| query | scale | changes an epoch | key policy | updates/s | freshness | peak memory | "
        "times Flink SQL | times DuckDB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in sorted(runs, key=lambda r: _order(r["figures"])):
        f = r["figures"]
        lines.append(
            f"| {f['query'].upper()} | {f['scale']:g} | {f['epoch_changes']:,} | {f['policy']} | "
            f"{f['updates_per_s']:,} | {f['freshness_s']:.2f} s | {f['peak_mib'] / 1024:.1f} GiB | "
            f"{_ratio(f, results, 'flink')} | {_ratio(f, results, 'duckdb-recompute')} |"
        )
    lines += _pipes(results)
    if kernel := results.get("kernel"):
        f = kernel["figures"]
        lines += [
            "",
            f"The join of {f['query'].upper()} alone, on one core and without Spark: "
            f"{f['kernel_updates_per_s'] / 1e6:.1f} million updates/s in its compiled loops, "
            f"{f['operator_updates_per_s'] / 1e6:.1f} million with all that is around them.",
        ]
    if arena := results.get("arena"):
        first, last = arena["figures"]["after"][0], arena["figures"]["after"][-1]
        lines += [
            "",
            f"After {last['windows']} windows the index takes {last['arena_bytes']:,} bytes and "
            f"the log {last['log_bytes']:,}; after {first['windows']} windows "
            f"{first['arena_bytes']:,} and {first['log_bytes']:,}.",
        ]
    return "\n".join(lines) + "\n"


def _ratio(f: dict[str, Any], results: dict[str, dict[str, Any]], rival: str) -> str:
    """Of these updates/s to the best right run of a rival, where it was measured."""
    rivals = results.get(f"rivals-{f['query']}-sf{f['scale']:g}")
    theirs = rivals["figures"]["rivals"].get(rival) if rivals else None
    return f"{f['updates_per_s'] / theirs['updates_per_s']:.2f}" if theirs else ""


def _pipes(results: dict[str, dict[str, Any]]) -> list[str]:
    """Q3 against its empty pipe and Spark's own."""
    out = []
    for size in ("100000", "1000000"):
        names = [f"{p}q3-sf1-{size}" for p in ("", "empty-pipe-", "spark-pipe-")]
        if all(n in results for n in names):
            ours, empty, spark = (results[n]["figures"]["freshness_s"] for n in names)
            out.append(
                f"Q3 at scale 1 with {int(size):,} changes an epoch runs at {empty / ours:.2f} of "
                "the speed of its empty pipe (the same scan, pack, shuffle and commit with a stage "
                f"that does nothing), and at {spark / ours:.2f} of Spark's own scan, filter, "
                "shuffle and count (medians of an epoch's time)."
            )
    return ["", *out] if out else []


def _order(figures: dict[str, Any]) -> tuple[Any, ...]:
    return len(figures["query"]), figures["query"], figures["scale"], figures["epoch_changes"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="into the README")
    given = parser.parse_args()
    figures = text(newest())
    print(figures, end="")
    if given.write:
        readme = README.read_text(encoding="utf-8")
        README.write_text(BLOCK.sub(lambda m: m[1] + figures + m[2], readme), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
