"""Queries, schemas and the answer check, shared by the runners.

Money is in cents and discount/tax in percent (64-bit integers), so
revenue = l_extendedprice * (100 - l_discount), in 1/10000 of the currency.
"""

import csv
import json

QTABLES = {
    "q1": ["lineitem"],
    "q3": ["customer", "orders", "lineitem"],
    "q5": ["region", "nation", "supplier", "customer", "orders", "lineitem"],
    "q7": ["nation", "supplier", "customer", "orders", "lineitem"],
    "q10": ["nation", "customer", "orders", "lineitem"],
}
PK = {
    "region": ["r_regionkey"],
    "nation": ["n_nationkey"],
    "supplier": ["s_suppkey"],
    "customer": ["c_custkey"],
    "orders": ["o_orderkey"],
    "lineitem": ["l_orderkey", "l_linenumber"],
}
CSV_COLS = {
    "region": ["r_regionkey", "r_name"],
    "nation": ["n_nationkey", "n_name", "n_regionkey"],
    "supplier": ["s_suppkey", "s_nationkey"],
    "customer": [
        "c_custkey",
        "c_name",
        "c_address",
        "c_nationkey",
        "c_phone",
        "c_acctbal",
        "c_mktsegment",
        "c_comment",
    ],
    "orders": ["o_orderkey", "o_custkey", "o_orderdate", "o_shippriority"],
    "lineitem": [
        "l_orderkey",
        "l_linenumber",
        "l_suppkey",
        "l_quantity",
        "l_extendedprice",
        "l_discount",
        "l_tax",
        "l_returnflag",
        "l_linestatus",
        "l_shipdate",
    ],
}
STR_COLS = {
    "r_name",
    "n_name",
    "c_name",
    "c_address",
    "c_phone",
    "c_mktsegment",
    "c_comment",
    "l_returnflag",
    "l_linestatus",
}
QUERIES = {
    "q1": """select l_returnflag, l_linestatus, sum(l_quantity) as sum_qty, sum(l_extendedprice) as sum_base_price,
   sum(l_extendedprice*(100-l_discount)) as sum_disc_price,
   sum(l_extendedprice*(100-l_discount)*(100+l_tax)) as sum_charge,
   sum(l_discount) as sum_disc, count(*) as count_order
  from lineitem where l_shipdate <= date '1998-09-02' group by l_returnflag, l_linestatus""",
    "q3": """select l_orderkey, o_orderdate, o_shippriority, sum(l_extendedprice*(100-l_discount)) as revenue
  from customer, orders, lineitem
  where c_mktsegment = 'AUTOMOBILE' and c_custkey = o_custkey and l_orderkey = o_orderkey
   and o_orderdate < date '1995-03-13' and l_shipdate > date '1995-03-13'
  group by l_orderkey, o_orderdate, o_shippriority""",
    "q5": """select n_name, sum(l_extendedprice*(100-l_discount)) as revenue
  from customer, orders, lineitem, supplier, nation, region
  where c_custkey = o_custkey and l_orderkey = o_orderkey and l_suppkey = s_suppkey
   and c_nationkey = s_nationkey and s_nationkey = n_nationkey and n_regionkey = r_regionkey
   and r_name = 'ASIA' and o_orderdate >= date '1994-01-01' and o_orderdate < date '1995-01-01'
  group by n_name""",
    "q7": """select supp_nation, cust_nation, l_year, sum(volume) as revenue from (
   select n1.n_name as supp_nation, n2.n_name as cust_nation, extract(year from l_shipdate) as l_year,
    l_extendedprice*(100-l_discount) as volume
   from supplier, lineitem, orders, customer, nation n1, nation n2
   where s_suppkey = l_suppkey and o_orderkey = l_orderkey and c_custkey = o_custkey
    and s_nationkey = n1.n_nationkey and c_nationkey = n2.n_nationkey
    and ((n1.n_name = 'ALGERIA' and n2.n_name = 'BRAZIL') or (n1.n_name = 'BRAZIL' and n2.n_name = 'ALGERIA'))
    and l_shipdate between date '1995-01-01' and date '1996-12-31') shipping
  group by supp_nation, cust_nation, l_year""",
    "q10": """select c_custkey, c_name, sum(l_extendedprice*(100-l_discount)) as revenue, c_acctbal, n_name,
   c_address, c_phone, c_comment
  from customer, orders, lineitem, nation
  where c_custkey = o_custkey and l_orderkey = o_orderkey and o_orderdate >= date '1993-10-01'
   and o_orderdate < date '1994-01-01' and l_returnflag = 'R' and c_nationkey = n_nationkey
  group by c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment""",
}


def answer_rows(rows):
    return sorted([str(v) for v in r] for r in rows)


def expected(data, q):
    with open(f"{data}/answers/{q}.csv", newline="") as f:
        return sorted(csv.reader(f, delimiter="|"))


def check(data, q, rows):
    """rows: iterable of result rows in the query's column order -> 'match' or what differs."""
    got, exp = answer_rows(rows), expected(data, q)
    if got == exp:
        return "match"
    d = [(g, e) for g, e in zip(got, exp) if g != e][:1]
    return f"DIFFERS got {len(got)} rows, expected {len(exp)}; first {d}"


def updates(data, q):
    return json.load(open(f"{data}/meta.json"))["updates"][q]
