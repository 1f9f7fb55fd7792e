"""Spark-native peer: Structured Streaming stream-stream joins over the log of signed changes.

usage: python run_spark.py DATA QUERY [--store hdfs|rocksdb] [--join-format 2|3] [--static]
                           [--noop] [--batch-recompute] [--xmx 6g]
Each table is a file stream of (columns, w) with one file per micro-batch.  The inner
joins run in append mode (the only mode Spark allows for them); every joined row carries the
product of the weights.  foreachBatch sums weight*value per group inside the micro-batch and
merges the few changed groups into a dict on the driver.  Q1 (no join) uses Spark's own
streaming aggregation in update mode.  Nothing is ever evicted: state is the log of changes.
--static joins region, nation and supplier as static tables (they never change here).
--noop sends the joined rows to the noop sink: joins only, no answer.
--batch-recompute is the other peer: after each micro-batch, a batch query over the whole
log so far (sum of weight*value over the joined log, no state kept).
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import CSV_COLS, QTABLES, check, updates

ap = argparse.ArgumentParser()
ap.add_argument("data")
ap.add_argument("query")
ap.add_argument("--store", default="hdfs")
ap.add_argument("--join-format", default="2")
ap.add_argument("--static", action="store_true")
ap.add_argument("--noop", action="store_true")
ap.add_argument("--batch-recompute", action="store_true")
ap.add_argument("--xmx", default="6g")
ap.add_argument("--reps", type=int, default=1)
a = ap.parse_args()
from pyspark.sql import SparkSession
from pyspark.sql.functions import expr

# joined rows: (keys..., v.., w); the group-by keys and the values summed with weight w
JOINED = {
    "q1": (
        "select l_returnflag, l_linestatus, l_quantity v1, l_extendedprice v2, l_extendedprice*(100-l_discount) v3, "
        "l_extendedprice*(100-l_discount)*(100+l_tax) v4, l_discount v5, 1L v6, w_lineitem w from lineitem "
        "where l_shipdate <= date '1998-09-02'",
        2,
        6,
    ),
    "q3": (
        "select l_orderkey, o_orderdate, o_shippriority, l_extendedprice*(100-l_discount) v1, w_customer*w_orders*w_lineitem w "
        "from customer join orders on c_custkey = o_custkey join lineitem on l_orderkey = o_orderkey "
        "where c_mktsegment = 'AUTOMOBILE' and o_orderdate < date '1995-03-13' and l_shipdate > date '1995-03-13'",
        3,
        1,
    ),
    "q5": (
        "select n_name, l_extendedprice*(100-l_discount) v1, w_region*w_nation*w_customer*w_orders*w_lineitem*w_supplier w "
        "from region join nation on n_regionkey = r_regionkey join customer on c_nationkey = n_nationkey "
        "join orders on o_custkey = c_custkey join lineitem on l_orderkey = o_orderkey "
        "join supplier on s_suppkey = l_suppkey and s_nationkey = c_nationkey "
        "where r_name = 'ASIA' and o_orderdate >= date '1994-01-01' and o_orderdate < date '1995-01-01'",
        1,
        1,
    ),
    "q7": (
        "select n1.n_name supp_nation, n2.n_name cust_nation, cast(extract(year from l_shipdate) as bigint) l_year, "
        "l_extendedprice*(100-l_discount) v1, n1.w_nation*n2.w_nation*w_customer*w_orders*w_lineitem*w_supplier w "
        "from (select * from nation where n_name in ('ALGERIA','BRAZIL')) n2 join customer on c_nationkey = n2.n_nationkey "
        "join orders on o_custkey = c_custkey join lineitem on l_orderkey = o_orderkey "
        "join supplier on s_suppkey = l_suppkey "
        "join (select * from nation2 where n_name in ('ALGERIA','BRAZIL')) n1 on s_nationkey = n1.n_nationkey "
        "where n1.n_name <> n2.n_name and l_shipdate between date '1995-01-01' and date '1996-12-31'",
        3,
        1,
    ),
    "q10": (
        "select c_custkey, c_name, c_acctbal, n_name, c_address, c_phone, c_comment, l_extendedprice*(100-l_discount) v1, "
        "w_nation*w_customer*w_orders*w_lineitem w from nation join customer on c_nationkey = n_nationkey "
        "join orders on c_custkey = o_custkey join lineitem on l_orderkey = o_orderkey "
        "where o_orderdate >= date '1993-10-01' and o_orderdate < date '1994-01-01' and l_returnflag = 'R'",
        7,
        1,
    ),
}
tmp = tempfile.mkdtemp()
b = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", a.xmx)
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.streaming.join.stateFormatVersion", a.join_format)
    .config("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    .config("spark.local.dir", tmp)
    .config("spark.sql.streaming.numRecentProgressUpdates", "100")
    .config("spark.sql.session.timeZone", "UTC")
)
if a.store == "rocksdb":
    b = b.config(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    )
s = b.getOrCreate()
s.sparkContext.setLogLevel("ERROR")
sql, nk, nv = JOINED[a.query]
nb = json.load(open(f"{a.data}/meta.json"))["batches"]
tabs = QTABLES[a.query] + (["nation2"] if a.query == "q7" else [])
STATIC = {"region", "nation", "nation2", "supplier"} if a.static else set()
srcdir = lambda t: f"{a.data}/batches/{'nation' if t == 'nation2' else t}"


def project(df, t):
    return df.selectExpr(
        *CSV_COLS["nation" if t == "nation2" else t],
        f"cast(w as bigint) w_{'nation' if t == 'nation2' else t}",
    )


def merge(state, rows):
    for r in rows:
        k, v = tuple(r[:nk]), state.get(tuple(r[:nk]), [0] * (nv + 1))
        v = [x + y for x, y in zip(v, r[nk:])]
        if v[-1]:
            state[k] = v
        else:
            state.pop(k, None)


def agg(df):
    cols = df.columns[:nk]
    return df.groupBy(*cols).agg(*[expr(f"sum(v{i + 1}*w)") for i in range(nv)], expr("sum(w)"))


def final(state):
    out = []
    for k, v in state.items():
        if a.query == "q1":
            out.append([*k, *v[:nv]])
        elif a.query == "q10":
            out.append([k[0], k[1], v[0], *k[2:]])
        else:
            out.append([*k, v[0]])
    return out


for rep in range(a.reps):
    state, ck = {}, tempfile.mkdtemp(dir=tmp)
    t0 = time.perf_counter()
    extra = {}
    if a.batch_recompute:
        for bt in range(nb):
            for t in tabs:
                fs = [
                    f"{srcdir(t)}/b{i:02d}.parquet"
                    for i in range(bt + 1)
                    if os.path.exists(f"{srcdir(t)}/b{i:02d}.parquet")
                ]
                project(s.read.parquet(*fs), t).createOrReplaceTempView(t)
            state = {}
            merge(state, agg(s.sql(sql)).collect())
        peer = "spark-recompute"
    else:
        for t in tabs:
            raw = s.read.parquet(srcdir(t))
            if t not in STATIC:
                raw = (
                    s.readStream.schema(raw.schema)
                    .option("maxFilesPerTrigger", 1)
                    .parquet(srcdir(t))
                )
            project(raw, t).createOrReplaceTempView(t)
        j = s.sql(sql)
        if a.noop:
            w = j.writeStream.outputMode("append").format("noop")
        elif a.query == "q1":

            def put(df, _):
                for r in df.collect():
                    state[tuple(r[:nk])] = list(r[nk:])

            w = agg(j).writeStream.outputMode("update").foreachBatch(put)
        else:
            w = j.writeStream.outputMode("append").foreachBatch(
                lambda df, _: merge(state, agg(df).collect())
            )
        q = w.option("checkpointLocation", ck).trigger(availableNow=True).start()
        q.awaitTermination()
        pr = [p for p in q.recentProgress if p["numInputRows"] > 0]
        ops = pr[-1]["stateOperators"]
        extra = {
            "batches": len(pr),
            "state_rows": sum(x["numRowsTotal"] for x in ops),
            "state_mib": sum(x["memoryUsedBytes"] for x in ops) >> 20,
            "last_batch_ms": pr[-1]["batchDuration"],
            "input_rows": sum(p["numInputRows"] for p in pr),
            "duration_ms": {
                k: sum(p["durationMs"].get(k, 0) for p in pr) for k in pr[-1]["durationMs"]
            },
        }
        peer = "spark-streaming"
    el = time.perf_counter() - t0
    u = updates(a.data, a.query)
    var = (
        "whole-log"
        if a.batch_recompute
        else f"{a.store}/join-v{a.join_format}"
        + ("/static-small" if a.static else "")
        + ("/noop" if a.noop else "")
    )
    print(
        "RESULT "
        + json.dumps(
            {
                "peer": peer,
                "data": os.path.basename(os.path.normpath(a.data)),
                "query": a.query,
                "variant": var,
                "rep": rep,
                "process_s": el,
                **extra,
                "updates": u,
                "updates_per_s": round(u / el),
                "answer": "not computed" if a.noop else check(a.data, a.query, final(state)),
            }
        ),
        flush=True,
    )
s.stop()
shutil.rmtree(tmp, ignore_errors=True)
