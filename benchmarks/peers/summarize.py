"""Turn RESULTS.jsonl (from measure.py) into a Markdown table.

usage: python summarize.py RESULTS.jsonl [--base PEER_AND_VARIANT]
One line per (data, query, peer, variant); JVM peers have a cold line (first run in the
process) and a warm one (second run in the same JVM).  ratio = best updates/s over the best
correct run of the base peer (default: flink) on the same data, query and coldness.
"""

import collections
import json
import sys

rows = [json.loads(l) for l in open(sys.argv[1])]
g = collections.OrderedDict()
for r in rows:
    if r.get("failed"):
        continue
    jvm = r["peer"] in ("flink", "spark-streaming", "spark-recompute")
    k = (
        r["data"],
        r["query"],
        r["peer"],
        r["variant"],
        ("warm" if r["rep"] else "cold") if jvm else "-",
    )
    g.setdefault(k, []).append(r)
ok = lambda rs: all(r["answer"] == "match" for r in rs)
base = {}
for (d, q, p, v, c), rs in g.items():
    if p == "flink" and ok(rs):
        base[d, q, c] = max(base.get((d, q, c), 0), max(r["updates_per_s"] for r in rs))
print(
    "| data | query | peer | variant | JVM | runs | min s | max s | best updates/s | ratio to best Flink | peak RSS MiB | answer | load before |"
)
print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
for k in sorted(
    g,
    key=lambda k: (
        k[0],
        ["q3", "q10", "q5", "q7", "q1"].index(k[1]),
        k[2] != "flink",
        k[2],
        k[3],
        k[4],
    ),
):
    rs = g[k]
    d, q, p, v, c = k
    ts = [r["process_s"] for r in rs]
    best = max(r["updates_per_s"] for r in rs)
    b = base.get((d, q, "cold" if c == "-" else c))
    ans = (
        "ok"
        if ok(rs)
        else "WRONG"
        if any("DIFFERS" in r["answer"] for r in rs)
        else rs[0]["answer"]
    )
    print(
        f"| {d} | {q} | {p} | {v} | {c} | {len(rs)} | {min(ts):.2f} | {max(ts):.2f} | {best:,} | "
        + (f"{best / b:.2f}" if b else "-")
        + f" | {min(r['peak_rss_mib'] for r in rs)}-{max(r['peak_rss_mib'] for r in rs)} | {ans} | "
        + ", ".join(str(r["loadavg_before"][0]) for r in rs)
        + " |"
    )
