"""Write a TPC-H sliding-window (FIFO) update sequence for the peers.

usage: python gen.py TPCH_PARQUET_DIR OUT_DIR [--window 0.5] [--batches 20]

TPCH_PARQUET_DIR comes from `tpchgen-cli parquet -s SF --output-dir DIR`.
Sequence: every row of region, nation, supplier, part, partsupp, customer in
primary-key order; then orders in o_orderkey order, each followed by its
lineitems; once W = window * |orders| orders are in, each further order (with
its lineitems) is followed by the deletion of the oldest order's lineitems and
then of that order.  Nothing is deleted after the last insertion's own
eviction, so exactly W orders remain.

Written under OUT_DIR (decimals become scaled 64-bit integers: money in cents,
discount and tax in percent, so that every peer is exact without decimals):
  changes/TABLE.parquet        seq, batch, op ('+'/'-'), w (+1/-1), columns
  batches/TABLE/b00.parquet    the same rows cut into `batches` micro-batches
                               (small tables lie wholly in batch 0)
  csv/TABLE.csv                '|'-separated, no header: seq, op, columns used by
                               the queries; dates as days since 1970-01-01
  answers/qN.csv               DuckDB's answer over the rows that remain
  meta.json                    update counts
"""

import argparse
import csv
import json
import os
import sys

import duckdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import CSV_COLS, QTABLES, QUERIES, answer_rows

ap = argparse.ArgumentParser()
ap.add_argument("src")
ap.add_argument("out")
ap.add_argument("--window", type=float, default=0.5)
ap.add_argument("--batches", type=int, default=20)
a = ap.parse_args()
NB = a.batches
c = duckdb.connect()
c.execute("set memory_limit='10GB'")
SMALL = [
    ("region", "r_regionkey"),
    ("nation", "n_nationkey"),
    ("supplier", "s_suppkey"),
    ("part", "p_partkey"),
    ("partsupp", "ps_partkey, ps_suppkey"),
    ("customer", "c_custkey"),
]
SCALED = {
    "l_extendedprice",
    "l_discount",
    "l_tax",
    "o_totalprice",
    "c_acctbal",
    "s_acctbal",
    "p_retailprice",
    "ps_supplycost",
    "l_quantity",
}
UNSCALED_TO_INT = {"l_quantity"}  # whole numbers


def cols(t, prefix=""):
    out = []
    for n, ty, *_ in c.execute(f"describe select * from '{a.src}/{t}.parquet'").fetchall():
        if n in UNSCALED_TO_INT:
            out.append(f"{prefix}{n}::bigint {n}")
        elif n in SCALED:
            out.append(f"({prefix}{n}*100)::bigint {n}")
        elif ty.endswith("INT") or ty.startswith("INT") or ty == "BIGINT":
            out.append(f"{prefix}{n}::bigint {n}")
        else:
            out.append(f"{prefix}{n}")
    return ", ".join(out)


for d in ("changes", "batches", "csv", "answers"):
    os.makedirs(f"{a.out}/{d}", exist_ok=True)
seq = 0
for t, pk in SMALL:
    c.execute(
        f"create table ch_{t} as select {seq}+row_number() over (order by {pk})-1 seq, 0 batch, "
        f"'+' op, 1 w, {cols(t)} from '{a.src}/{t}.parquet'"
    )
    seq += c.execute(f"select count(*) from ch_{t}").fetchall()[0][0]
c.execute(
    f"create table o as select row_number() over (order by o_orderkey) rn, {cols('orders')} from '{a.src}/orders.parquet'"
)
c.execute(
    f"create table l as select o.rn, {cols('lineitem', 'x.')} from '{a.src}/lineitem.parquet' x join o on l_orderkey=o_orderkey"
)
n = c.execute("select count(*) from o").fetchall()[0][0]
W = int(n * a.window)
# event key (t2, sub): an insertion at t2=2*rn, the eviction that follows it at 2*(rn+W)+1
c.execute(f"""create table ev as
 select 2*rn t2, 0 sub, 0 rel, o_orderkey k, 0 ln from o union all
 select 2*rn, l_linenumber, 1, l_orderkey, l_linenumber from l union all
 select 2*(rn+{W})+1, l_linenumber, 1, l_orderkey, l_linenumber from l where rn+{W}<={n} union all
 select 2*(rn+{W})+1, 99, 0, o_orderkey, 0 from o where rn+{W}<={n}""")
tot = c.execute("select count(*) from ev").fetchall()[0][0]
c.execute("create table sq as select *, row_number() over (order by t2, sub)-1 i from ev")
for t, rel, on in (
    ("orders", 0, "k=o_orderkey"),
    ("lineitem", 1, "k=l_orderkey and ln=l_linenumber"),
):
    base = "o" if t == "orders" else "l"
    c.execute(f"""create table ch_{t} as select i+{seq} seq, (i*{NB}//{tot})::int batch,
      case when t2%2=0 then '+' else '-' end op, case when t2%2=0 then 1 else -1 end w, b.* exclude(rn)
      from sq join {base} b on {on} where rel={rel} order by seq""")
counts = {}
for t in [x for x, _ in SMALL] + ["orders", "lineitem"]:
    c.execute(f"copy (select * from ch_{t} order by seq) to '{a.out}/changes/{t}.parquet'")
    os.makedirs(f"{a.out}/batches/{t}", exist_ok=True)
    for b in range(NB):
        if c.execute(f"select count(*) from ch_{t} where batch={b}").fetchall()[0][0]:
            f = f"{a.out}/batches/{t}/b{b:02d}.parquet"
            c.execute(f"copy (select * from ch_{t} where batch={b} order by seq) to '{f}'")
            os.utime(f, (1_700_000_000 + b * 10,) * 2)  # file sources order by mtime
    if t in CSV_COLS:
        sel = ", ".join(
            f"date_diff('day', date '1970-01-01', {x})" if x.endswith("date") else x
            for x in CSV_COLS[t]
        )
        c.execute(
            f"copy (select seq, op, {sel} from ch_{t} order by seq) to '{a.out}/csv/{t}.csv' "
            f"(format csv, header false, delimiter '|', quote '')"
        )
    p, m = c.execute(
        f"select count(*) filter (op='+'), count(*) filter (op='-') from ch_{t}"
    ).fetchall()[0]
    counts[t] = [p, m]
    c.execute(
        f"create view {t} as select * from ch_{t} where op='+' and seq not in (select 0 where false)"
        if t not in ("orders", "lineitem")
        else f"create view {t} as select * from {'o' if t == 'orders' else 'l'} where rn>{n - W}"
    )
for q in QUERIES:
    rows = answer_rows(c.execute(QUERIES[q]).fetchall())
    with open(f"{a.out}/answers/{q}.csv", "w", newline="") as f:
        csv.writer(f, delimiter="|").writerows(rows)
    print(q, "rows", len(rows))
meta = {
    "counts": counts,
    "orders": n,
    "window": W,
    "batches": NB,
    "updates": {q: sum(sum(counts[t]) for t in QTABLES[q]) for q in QUERIES},
}
json.dump(meta, open(f"{a.out}/meta.json", "w"), indent=1)
print(json.dumps(meta))
