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
        f"`make bench`, {' and '.join(dates)}, on {machine['cores']} cores ({machine['cpu']}, "
        f"{machine['memory_gib']} GiB), Python {versions['python']}, Spark {versions['pyspark']}. "
        "The change stream is a sliding window of half the orders; it is read from Parquet files, "
        "state is durable, changes go into Parquet files, and the final answer is compared with "
        "DuckDB's. Flink SQL ran on the same machine on the same day, without checkpoints, its "
        "state on the heap (benchmarks/peers).",
        "",
        "| query | scale | changes an epoch | key policy | updates/s | freshness | peak memory | "
        "times Flink SQL |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in sorted(runs, key=lambda r: _order(r["figures"])):
        f = r["figures"]
        lines.append(
            f"| {f['query'].upper()} | {f['scale']:g} | {f['epoch_changes']:,} | {f['policy']} | "
            f"{f['updates_per_s']:,} | {f['freshness_s']:.2f} s | {f['peak_mib'] / 1024:.1f} GiB | "
            f"{_ratio(f, results)} |"
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


def _ratio(f: dict[str, Any], results: dict[str, dict[str, Any]]) -> str:
    """Of these updates/s to the best right run of Flink SQL, where it was measured."""
    rivals = results.get(f"rivals-{f['query']}-sf{f['scale']:g}")
    flink = rivals["figures"]["rivals"].get("flink") if rivals else None
    return f"{f['updates_per_s'] / flink['updates_per_s']:.2f}" if flink else ""


def _pipes(results: dict[str, dict[str, Any]]) -> list[str]:
    """Q3 against its empty pipe and Spark's own."""
    out = []
    for size in ("100000", "1000000"):
        names = [f"{p}q3-sf1-{size}" for p in ("", "empty-pipe-", "spark-pipe-")]
        if all(n in results for n in names):
            ours, empty, spark = (results[n]["figures"]["updates_per_s"] for n in names)
            out.append(
                f"Q3 at scale 1 with {int(size):,} changes an epoch runs at {ours / empty:.2f} of "
                "the speed of its empty pipe (the same scan, pack, shuffle and commit with a stage "
                f"that does nothing), and at {ours / spark:.2f} of Spark's own scan, filter, "
                "shuffle and count."
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
