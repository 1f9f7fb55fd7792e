"""Pathway peer: Table API joins over change streams.

usage: PATHWAY_THREADS=2 python run_pathway.py DATA QUERY [--input csv|pandas] [--load-only]
--input csv (default): pw.io.csv (the engine's own reader, streaming mode) reads one log with
  the changes of all tables, narrow columns, cut into --files files (written once under
  DATA/pathway, untimed; --prepare writes them and stops; the reader commits whole files, so
  one big file would be one commit); filter and Table.stream_to_table turn it into tables with deletions.
  Timed: from pw.run() to the last change seen.  --backlog and --commit-ms bound a commit: a row
  must not be inserted and deleted in one commit (Pathway leaves that order open).
--input pandas: tables with __time__ (the micro-batch) and __diff__, handed over as
  pw.debug.table_from_pandas does (the documented way to replay a stream with deletions; that
  function's per-row fingerprint, used only to name the table, is skipped).  Timed: reading
  the files, and pw.run().  The hand-over is row by row and takes most of the time.
--load-only counts the rows of each table instead of running the query: the cost of input.
"""

import argparse
import itertools
import json
import os
import sys
import threading
import time

os.environ.setdefault("PATHWAY_THREADS", "2")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import CSV_COLS, PK, QTABLES, STR_COLS, check, updates

ap = argparse.ArgumentParser()
ap.add_argument("data")
ap.add_argument("query")
ap.add_argument("--input", default="csv")
ap.add_argument("--load-only", action="store_true")
ap.add_argument("--commit-ms", type=int, default=100)
ap.add_argument("--backlog", type=int, default=20000)
ap.add_argument("--files", type=int, default=20)
ap.add_argument("--prepare", action="store_true")
a = ap.parse_args()
import datetime

import pandas as pd
import pathway as pw
from pathway.internals.api import PANDAS_PSEUDOCOLUMNS
from pathway.internals.datasource import DataSourceOptions, PandasDataSource
from pathway.internals.schema import schema_from_pandas

try:
    from pathway.internals.table_io import table_from_datasource
except ImportError:
    from pathway.debug import table_from_datasource
D = lambda x: (datetime.date.fromisoformat(x) - datetime.date(1970, 1, 1)).days
NEED = {
    "q1": {
        "lineitem": [
            "l_quantity",
            "l_extendedprice",
            "l_discount",
            "l_tax",
            "l_returnflag",
            "l_linestatus",
            "l_shipdate",
        ]
    },
    "q3": {
        "customer": ["c_mktsegment"],
        "orders": ["o_custkey", "o_orderdate", "o_shippriority"],
        "lineitem": ["l_extendedprice", "l_discount", "l_shipdate"],
    },
    "q5": {
        "region": ["r_name"],
        "nation": ["n_name", "n_regionkey"],
        "supplier": ["s_nationkey"],
        "customer": ["c_nationkey"],
        "orders": ["o_custkey", "o_orderdate"],
        "lineitem": ["l_suppkey", "l_extendedprice", "l_discount"],
    },
    "q7": {
        "nation": ["n_name"],
        "supplier": ["s_nationkey"],
        "customer": ["c_nationkey"],
        "orders": ["o_custkey"],
        "lineitem": ["l_suppkey", "l_extendedprice", "l_discount", "l_shipdate"],
    },
    "q10": {
        "nation": ["n_name"],
        "customer": CSV_COLS["customer"][1:6] + ["c_comment"],
        "orders": ["o_custkey", "o_orderdate"],
        "lineitem": ["l_extendedprice", "l_discount", "l_returnflag"],
    },
}
T, progress = {}, {}
t0 = time.perf_counter()
t_read = 0.0
if a.input == "pandas":
    for t in QTABLES[a.query]:
        cols = PK[t] + NEED[a.query][t]
        df = pd.read_parquet(f"{a.data}/changes/{t}.parquet", columns=["seq", "batch", "w"] + cols)
        df["__time__"] = (df["batch"].astype("int64") + 1) * 2
        df["__diff__"] = df["w"].astype("int64")
        for c in cols:
            if c.endswith("date"):
                df[c] = (pd.to_datetime(df[c]) - pd.Timestamp("1970-01-01")).dt.days.astype("int64")
        df = df[cols + ["__time__", "__diff__"]]
        schema = schema_from_pandas(df, id_from=PK[t], exclude_columns=PANDAS_PSEUDOCOLUMNS)
        T[t] = table_from_datasource(
            PandasDataSource(
                schema=schema,
                data=df,
                data_source_options=DataSourceOptions(unsafe_trusted_ids=False),
            )
        )
    t_read = time.perf_counter() - t0
else:
    # one log for all tables: seq|op|rel|k1|k2|i0..|s0.. ; written once, outside the timing
    need, log = NEED[a.query], f"{a.data}/pathway/{a.query}.{a.files}"
    ints = {t: [c for c in need[t] if c not in STR_COLS] for t in need}
    strs = {t: [c for c in need[t] if c in STR_COLS] for t in need}
    ni, ns = max(map(len, ints.values())), max(map(len, strs.values()))
    head = (
        ["seq", "op", "rel", "k1", "k2"]
        + [f"i{i}" for i in range(ni)]
        + [f"s{i}" for i in range(ns)]
    )
    if not os.path.exists(log):
        import heapq

        def rows(t):
            pos = {c: i + 2 for i, c in enumerate(CSV_COLS[t])}
            ix = ([pos[c] for c in PK[t]], [pos[c] for c in ints[t]], [pos[c] for c in strs[t]])
            pad = (
                ["0"] * (2 - len(PK[t])),
                ["0"] * (ni - len(ints[t])),
                [""] * (ns - len(strs[t])),
            )
            for l in open(f"{a.data}/csv/{t}.csv"):
                r = l.rstrip("\n").split("|")
                yield (
                    int(r[0]),
                    "|".join(
                        [r[0], r[1], t]
                        + [v for x, p in zip(ix, pad) for v in [r[i] for i in x] + p]
                    )
                    + "\n",
                )

        os.makedirs(log)
        lines = (l for _, l in heapq.merge(*(rows(t) for t in QTABLES[a.query])))
        per = -(-updates(a.data, a.query) // a.files)
        for i in range(a.files):  # files are read in the order of their modification times
            with open(f"{log}/{i:04d}.csv", "w") as f:
                f.write("|".join(head) + "\n")
                f.writelines(itertools.islice(lines, per))
            os.utime(f"{log}/{i:04d}.csv", (1_700_000_000 + 10 * i,) * 2)
    if a.prepare:
        sys.exit()
    cols = {
        c: pw.column_definition(
            dtype=str if c in ("op", "rel") or (c[:1] == "s" and c != "seq") else int,
            primary_key=c in ("rel", "k1", "k2"),
        )
        for c in head
    }
    raw = pw.io.csv.read(
        log,
        schema=pw.schema_builder(cols),
        mode="streaming",
        autocommit_duration_ms=a.commit_ms,
        max_backlog_size=a.backlog or None,
        csv_settings=pw.io.CsvParserSettings(delimiter="|", enable_quoting=False),
    )
    for t in QTABLES[a.query]:
        r = raw.filter(pw.this.rel == t) if len(QTABLES[a.query]) > 1 else raw
        names = {
            **{c: r[k] for c, k in zip(PK[t], ("k1", "k2"))},
            **{c: r[f"i{i}"] for i, c in enumerate(ints[t])},
            **{c: r[f"s{i}"] for i, c in enumerate(strs[t])},
        }
        T[t] = r.select(**names, up=r.op == "+").stream_to_table(pw.this.up)
    total = updates(a.data, a.query)
this = pw.this


def q1():
    l = T["lineitem"].filter(this.l_shipdate <= D("1998-09-02"))
    dp = l.l_extendedprice * (100 - l.l_discount)
    l = l.select(
        l.l_returnflag,
        l.l_linestatus,
        l.l_quantity,
        l.l_extendedprice,
        l.l_discount,
        dp=dp,
        ch=dp * (100 + l.l_tax),
    )
    return l.groupby(l.l_returnflag, l.l_linestatus).reduce(
        l.l_returnflag,
        l.l_linestatus,
        a=pw.reducers.sum(l.l_quantity),
        b=pw.reducers.sum(l.l_extendedprice),
        c=pw.reducers.sum(l.dp),
        d=pw.reducers.sum(l.ch),
        e=pw.reducers.sum(l.l_discount),
        f=pw.reducers.count(),
    )


def rev(j, *keys):
    return j.groupby(*[j[k] for k in keys]).reduce(*[j[k] for k in keys], v=pw.reducers.sum(j.v))


def q3():
    c = T["customer"].filter(this.c_mktsegment == "AUTOMOBILE")
    o = T["orders"].filter(this.o_orderdate < D("1995-03-13"))
    l = T["lineitem"].filter(this.l_shipdate > D("1995-03-13"))
    co = o.join(c, o.o_custkey == c.c_custkey, id=o.id).select(
        o.o_orderkey, o.o_orderdate, o.o_shippriority
    )
    j = l.join(co, l.l_orderkey == co.o_orderkey, id=l.id).select(
        l.l_orderkey, co.o_orderdate, co.o_shippriority, v=l.l_extendedprice * (100 - l.l_discount)
    )
    return rev(j, "l_orderkey", "o_orderdate", "o_shippriority")


def q5():
    r = T["region"].filter(this.r_name == "ASIA")
    n = T["nation"]
    c = T["customer"]
    s = T["supplier"]
    l = T["lineitem"]
    o = T["orders"].filter(
        (this.o_orderdate >= D("1994-01-01")) & (this.o_orderdate < D("1995-01-01"))
    )
    n = n.join(r, n.n_regionkey == r.r_regionkey, id=n.id).select(n.n_nationkey, n.n_name)
    c = c.join(n, c.c_nationkey == n.n_nationkey, id=c.id).select(
        c.c_custkey, c.c_nationkey, n.n_name
    )
    o = o.join(c, o.o_custkey == c.c_custkey, id=o.id).select(o.o_orderkey, c.c_nationkey, c.n_name)
    l = l.join(o, l.l_orderkey == o.o_orderkey, id=l.id).select(
        l.l_suppkey, o.c_nationkey, o.n_name, v=l.l_extendedprice * (100 - l.l_discount)
    )
    j = l.join(s, l.l_suppkey == s.s_suppkey, l.c_nationkey == s.s_nationkey, id=l.id).select(
        l.n_name, l.v
    )
    return rev(j, "n_name")


def q7():
    n = T["nation"].filter((this.n_name == "ALGERIA") | (this.n_name == "BRAZIL"))
    c = T["customer"]
    s = T["supplier"]
    o = T["orders"]
    l = T["lineitem"].filter(
        (this.l_shipdate >= D("1995-01-01")) & (this.l_shipdate <= D("1996-12-31"))
    )
    c = c.join(n, c.c_nationkey == n.n_nationkey, id=c.id).select(c.c_custkey, cn=n.n_name)
    s = s.join(n, s.s_nationkey == n.n_nationkey, id=s.id).select(s.s_suppkey, sn=n.n_name)
    o = o.join(c, o.o_custkey == c.c_custkey, id=o.id).select(o.o_orderkey, c.cn)
    l = l.join(o, l.l_orderkey == o.o_orderkey, id=l.id).select(
        l.l_suppkey, o.cn, l.l_shipdate, v=l.l_extendedprice * (100 - l.l_discount)
    )
    j = (
        l.join(s, l.l_suppkey == s.s_suppkey, id=l.id)
        .select(s.sn, l.cn, l.l_shipdate, l.v)
        .filter(this.sn != this.cn)
    )
    j = j.select(
        this.sn, this.cn, y=pw.if_else(this.l_shipdate < D("1996-01-01"), 1995, 1996), v=this.v
    )
    return rev(j, "sn", "cn", "y")


def q10():
    n = T["nation"]
    c = T["customer"]
    o = T["orders"].filter(
        (this.o_orderdate >= D("1993-10-01")) & (this.o_orderdate < D("1994-01-01"))
    )
    l = T["lineitem"].filter(this.l_returnflag == "R")
    l = l.join(o, l.l_orderkey == o.o_orderkey, id=l.id).select(
        o.o_custkey, v=l.l_extendedprice * (100 - l.l_discount)
    )
    c = c.join(n, c.c_nationkey == n.n_nationkey, id=c.id).select(
        c.c_custkey, c.c_name, c.c_acctbal, n.n_name, c.c_address, c.c_phone, c.c_comment
    )
    j = l.join(c, l.o_custkey == c.c_custkey, id=l.id).select(
        c.c_custkey, c.c_name, c.c_acctbal, c.n_name, c.c_address, c.c_phone, c.c_comment, l.v
    )
    return rev(j, "c_custkey", "c_name", "c_acctbal", "n_name", "c_address", "c_phone", "c_comment")


state, last, changes = {}, [0.0], [0]
clock = time.perf_counter


def on_change(key, row, time, is_addition):
    changes[0] += 1
    last[0] = clock()
    if is_addition:
        state[key] = row
    elif state.get(key) == row:
        del state[key]


if a.load_only:
    for t in T.values():
        pw.io.subscribe(t.reduce(c=pw.reducers.count()), on_change=on_change)
else:
    pw.io.subscribe(globals()[a.query](), on_change=on_change)


def watch():  # streaming readers never end: stop when every change has been seen and 2 s passed quietly
    while True:
        time.sleep(0.1)
        if progress.get("n") == total and clock() - last[0] > 2:
            report(last[0])
            sys.stdout.flush()
            os._exit(0)


def out(r):
    v = list(r.values())
    if a.query == "q3":
        v[1] = str(datetime.date(1970, 1, 1) + datetime.timedelta(v[1]))
    if a.query == "q10":
        v = [v[0], v[1], v[-1], *v[2:-1]]
    return v


u = updates(a.data, a.query)


def report(t2):
    print(
        "RESULT "
        + json.dumps(
            {
                "peer": "pathway",
                "data": os.path.basename(os.path.normpath(a.data)),
                "query": a.query,
                "variant": f"{a.input}/{a.files} files/threads={os.environ['PATHWAY_THREADS']}"
                + ("/load-only" if a.load_only else ""),
                "rep": 0,
                "process_s": t_read + t2 - t1,
                "read_s": t_read,
                "run_s": t2 - t1,
                "changes_out": changes[0],
                "commits": progress.get("commits"),
                "updates": u,
                "updates_per_s": round(u / (t_read + t2 - t1)),
                "answer": "load only"
                if a.load_only
                else check(a.data, a.query, [out(r) for r in state.values()]),
            }
        ),
        flush=True,
    )


if a.input == "csv":

    def seen(key, row, time, is_addition):
        if is_addition:
            progress["n"] = row["n"]
            progress["commits"] = progress.get("commits", 0) + 1
            last[0] = clock()

    pw.io.subscribe(raw.reduce(n=pw.reducers.count()), on_change=seen)
    threading.Thread(target=watch, daemon=True).start()
t1 = clock()
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
report(clock())
