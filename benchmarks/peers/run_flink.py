"""Flink SQL peer (apache-flink-libraries from PyPI; only its JVM side).

usage: python run_flink.py DATA QUERY [--variant binary|multi|plain] [--order asis|hand]
       [--backend hashmap|rocksdb] [--reps 2] [--xmx 6g] [--plan FILE]
env:   FLINK_LIB  directory with the Flink jars (site-packages/pyflink/lib)
       FLINK_BUILD  scratch directory for the compiled source/sink (javac runs once)
variants: plain = no mini-batch; binary = mini-batch, two-phase aggregation, two-way
joins; multi = the same with table.optimizer.multi-join.enabled.
order hand = joins written in a hand-picked order (small filtered tables first).
--reps N runs the whole job N times in one JVM: rep 0 is cold, later ones warm.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
from common import CSV_COLS, PK, QTABLES, QUERIES, STR_COLS, check, updates

HAND = {
    "q5": """select n_name, sum(l_extendedprice*(100-l_discount)) as revenue
  from region join nation on n_regionkey = r_regionkey join customer on c_nationkey = n_nationkey
  join orders on o_custkey = c_custkey join lineitem on l_orderkey = o_orderkey
  join supplier on s_suppkey = l_suppkey and s_nationkey = c_nationkey
  where r_name = 'ASIA' and o_orderdate >= date '1994-01-01' and o_orderdate < date '1995-01-01' group by n_name""",
    "q7": """select n1.n_name, n2.n_name, extract(year from l_shipdate), sum(l_extendedprice*(100-l_discount))
  from (select * from nation where n_name in ('ALGERIA','BRAZIL')) n2 join customer on c_nationkey = n2.n_nationkey
  join orders on o_custkey = c_custkey
  join (select * from lineitem where l_shipdate between date '1995-01-01' and date '1996-12-31') lineitem on l_orderkey = o_orderkey
  join (select s_suppkey, n_name from supplier join nation on s_nationkey = n_nationkey where n_name in ('ALGERIA','BRAZIL')) n1
   on s_suppkey = l_suppkey
  where n1.n_name <> n2.n_name group by n1.n_name, n2.n_name, extract(year from l_shipdate)""",
    "q10": """select c_custkey, c_name, sum(l_extendedprice*(100-l_discount)) as revenue, c_acctbal, n_name, c_address, c_phone, c_comment
  from (select o_custkey, l_extendedprice, l_discount from orders join lineitem on l_orderkey = o_orderkey
   where o_orderdate >= date '1993-10-01' and o_orderdate < date '1994-01-01' and l_returnflag = 'R') ol
  join (select customer.*, n_name from nation join customer on c_nationkey = n_nationkey) cn on c_custkey = o_custkey
  group by c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment""",
}
SINK = {
    "q1": (
        "l_returnflag string, l_linestatus string, a bigint, b bigint, c bigint, d bigint, e bigint, f bigint",
        "l_returnflag, l_linestatus",
        2,
    ),
    "q3": (
        "l_orderkey bigint, o_orderdate date, o_shippriority bigint, revenue bigint",
        "l_orderkey, o_orderdate, o_shippriority",
        3,
    ),
    "q5": ("n_name string, revenue bigint", "n_name", 1),
    "q7": ("s string, c string, y bigint, revenue bigint", "s, c, y", 3),
    "q10": (
        "c_custkey bigint, c_name string, revenue bigint, c_acctbal bigint, n_name string, c_address string, c_phone string, c_comment string",
        "c_custkey",
        1,
    ),
}
ap = argparse.ArgumentParser()
ap.add_argument("data")
ap.add_argument("query")
ap.add_argument("--variant", default="binary")
ap.add_argument("--order", default="asis")
ap.add_argument("--backend", default="hashmap")
ap.add_argument("--reps", type=int, default=2)
ap.add_argument("--xmx", default="6g")
ap.add_argument("--plan")
ap.add_argument("--slack", default="5000")
ap.add_argument("--parallelism", default="2")
ap.add_argument("--conf", action="append", default=[])
a = ap.parse_args()
lib, build = os.environ["FLINK_LIB"], os.environ["FLINK_BUILD"]
if not os.path.exists(f"{build}/FlinkPeer.class"):
    os.makedirs(build, exist_ok=True)
    subprocess.check_call(
        ["javac", "-nowarn", "-cp", f"{lib}/*", "-d", build, f"{here}/flink/FlinkPeer.java"]
    )
    subprocess.check_call(["cp", "-r", f"{here}/flink/META-INF", build])


def ddl(t):
    ty = lambda x: "date" if x.endswith("date") else "string" if x in STR_COLS else "bigint"
    cols = ", ".join(f"{x} {ty(x)} not null" for x in CSV_COLS[t])
    return (
        f"create temporary table {t} ({cols}, primary key ({', '.join(PK[t])}) not enforced) "
        f"with ('connector'='peer-changes', 'path'='{os.path.abspath(a.data)}/csv/{t}.csv');\n"
    )


cols, pk, k = SINK[a.query]
script = "".join(ddl(t) for t in QTABLES[a.query])
script += f"create temporary table answer ({cols}, primary key ({pk}) not enforced) with ('connector'='peer-answer', 'keys'='{k}');\n"
script += (
    "insert into answer "
    + (HAND.get(a.query, QUERIES[a.query]) if a.order == "hand" else QUERIES[a.query])
    + ";\n"
)
conf = {
    "pipeline.object-reuse": "true",
    "state.backend.type": a.backend,
    "table.exec.sink.upsert-materialize": "NONE",
    "taskmanager.memory.network.min": "256m",
    "taskmanager.memory.network.max": "256m",
}
if a.variant != "plain":
    conf |= {
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "1 s",
        "table.exec.mini-batch.size": "50000",
        "table.optimizer.agg-phase-strategy": "TWO_PHASE",
    }
if a.variant == "multi":
    conf["table.optimizer.multi-join.enabled"] = "true"
if a.backend == "rocksdb":
    conf["taskmanager.memory.managed.size"] = "1g"
conf |= dict(x.split("=", 1) for x in a.conf)
with tempfile.TemporaryDirectory() as tmp:
    open(f"{tmp}/script.sql", "w").write(script)
    opens = [
        f"--add-opens=java.base/{p}=ALL-UNNAMED"
        for p in (
            "java.lang",
            "java.util",
            "java.time",
            "java.nio",
            "java.net",
            "java.io",
            "java.text",
            "java.lang.reflect",
            "java.util.concurrent",
            "java.util.concurrent.atomic",
            "java.util.concurrent.locks",
            "sun.nio.ch",
        )
    ]
    cmd = [
        "java",
        f"-Xmx{a.xmx}",
        f"-Djava.io.tmpdir={tmp}",
        *opens,
        "-Dlog4j2.level=ERROR",
        "-cp",
        f"{build}:{lib}/*",
        "FlinkPeer",
        f"script={tmp}/script.sql",
        f"answer={tmp}/answer",
        f"reps={a.reps}",
        f"parallelism={a.parallelism}",
        f"slack={a.slack}",
    ]
    cmd += [f"conf.{x}={y}" for x, y in conf.items()] + ([f"plan={a.plan}"] if a.plan else [])
    p = subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in p.stdout:
        if not line.startswith("RUN "):
            print(line, end="")
            continue
        r = json.loads(line[4:])
        rows = [l.rstrip("\n").split("|") for l in open(f"{tmp}/answer.{r['rep']}")]
        if a.query == "q3":  # DATE comes out of the sink as days
            import datetime

            rows = [
                [x[0], str(datetime.date(1970, 1, 1) + datetime.timedelta(int(x[1]))), *x[2:]]
                for x in rows
            ]
        u = updates(a.data, a.query)
        print(
            "RESULT "
            + json.dumps(
                {
                    "peer": "flink",
                    "data": os.path.basename(os.path.normpath(a.data)),
                    "query": a.query,
                    "variant": f"{a.variant}/{a.order}/{a.backend}"
                    + "".join("/" + x for x in a.conf),
                    **r,
                    "updates": u,
                    "updates_per_s": round(u / r["process_s"]),
                    "answer": check(a.data, a.query, rows),
                }
            ),
            flush=True,
        )
    sys.exit(p.wait())
