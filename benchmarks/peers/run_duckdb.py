"""Recompute peer: DuckDB applies each micro-batch of changes, then re-runs the query.

usage: python run_duckdb.py DATA QUERY [--threads 2] [--indexed] [--batches N]
Every micro-batch: delete the deleted primary keys, insert the inserted rows, run the
query and fetch its answer.  --indexed declares the primary keys on the tables.
--batches N cuts the sequence anew (by seq, from changes/) instead of using batches/.
Timed: from the first micro-batch's read to the last answer (all tables start empty).
"""

import argparse
import json
import os
import sys
import time

import duckdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import CSV_COLS, PK, QTABLES, QUERIES, check, updates

ap = argparse.ArgumentParser()
ap.add_argument("data")
ap.add_argument("query")
ap.add_argument("--threads", type=int, default=2)
ap.add_argument("--indexed", action="store_true")
ap.add_argument("--memory", default="8GB")
ap.add_argument("--batches", type=int)
a = ap.parse_args()
c = duckdb.connect(config={"threads": a.threads, "memory_limit": a.memory})
meta = json.load(open(f"{a.data}/meta.json"))
nb = a.batches or meta["batches"]
lo = sum(sum(n) for t, n in meta["counts"].items() if t not in ("orders", "lineitem"))
tot = sum(sum(meta["counts"][t]) for t in ("orders", "lineitem"))


def f(t, b):
    """The FROM item with table t's changes of micro-batch b, or None."""
    if not a.batches:
        p = f"{a.data}/batches/{t}/b{b:02d}.parquet"
        return f"'{p}'" if os.path.exists(p) else None
    if t not in ("orders", "lineitem"):
        return f"'{a.data}/changes/{t}.parquet'" if b == 0 else None
    return f"(from '{a.data}/changes/{t}.parquet' where seq >= {lo + b * tot // nb} and seq < {lo + (b + 1) * tot // nb})"


cols = {t: ", ".join(CSV_COLS[t]) for t in QTABLES[a.query]}
for t in cols:
    c.execute(f"create table {t} as select {cols[t]} from {f(t, 0)} limit 0")
    if a.indexed:
        c.execute(f"alter table {t} add primary key ({', '.join(PK[t])})")
t0 = time.perf_counter()
tq = 0.0
rows = None
for b in range(nb):
    c.execute("begin")
    for t in cols:
        src = f(t, b)
        if src is None:
            continue
        # a key inserted and deleted within one micro-batch nets out; otherwise it is only one of the two
        key = ", ".join(PK[t])
        c.execute(f"create or replace temp table d as select {cols[t]}, w from {src}")
        if b and c.execute("select count(*) from d where w<0").fetchall()[0][0]:
            c.execute(
                f"delete from {t} using d where d.w<0 and "
                + " and ".join(f"{t}.{k}=d.{k}" for k in PK[t])
            )
        c.execute(
            f"insert into {t} select {cols[t]} from d where w>0"
            + (f" and ({key}) not in (select ({key}) from d where w<0)" if b else "")
        )
    c.execute("commit")
    q0 = time.perf_counter()
    rows = c.execute(QUERIES[a.query]).fetchall()
    tq += time.perf_counter() - q0
el = time.perf_counter() - t0
u = updates(a.data, a.query)
print(
    "RESULT "
    + json.dumps(
        {
            "peer": "duckdb-recompute",
            "data": os.path.basename(os.path.normpath(a.data)),
            "query": a.query,
            "variant": f"{nb} batches" + ("/indexed" if a.indexed else ""),
            "rep": 0,
            "process_s": el,
            "query_s": tq,
            "updates": u,
            "updates_per_s": round(u / el),
            "answer": check(a.data, a.query, rows),
        }
    )
)
