SELECT sum(l_extendedprice * l_discount) AS revenue
FROM lineitem
WHERE l_shipdate >= DATE '1994-01-01'
  AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR
  AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01
  AND l_quantity < 24

-- plan ------------------------------------------------------------------------
== answer: bound
project revenue
  group () | revenue := sum(lineitem.l_extendedprice * lineitem.l_discount) DECIMAL(38,4)
    filter (lineitem.l_shipdate >= DATE '1994-01-01') and (lineitem.l_shipdate < DATE '1995-01-01') and (lineitem.l_discount >= cast(0.06 - 0.01 as DECIMAL(15,2))) and (lineitem.l_discount <= cast(0.06 + 0.01 as DECIMAL(15,2))) and (lineitem.l_quantity < 24.00)
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: simplify
project revenue
  group () | revenue := sum(lineitem.l_extendedprice * lineitem.l_discount) DECIMAL(38,4)
    filter (lineitem.l_shipdate >= DATE '1994-01-01') and (lineitem.l_shipdate < DATE '1995-01-01') and (lineitem.l_discount >= 0.05) and (lineitem.l_discount <= 0.07) and (lineitem.l_quantity < 24.00)
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: merge
group () | revenue := sum(lineitem.l_extendedprice * lineitem.l_discount) DECIMAL(38,4)
  filter (lineitem.l_shipdate >= DATE '1994-01-01') and (lineitem.l_shipdate < DATE '1995-01-01') and (lineitem.l_discount >= 0.05) and (lineitem.l_discount <= 0.07) and (lineitem.l_quantity < 24.00)
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: prune
group () | revenue := sum(lineitem.l_extendedprice * lineitem.l_discount) DECIMAL(38,4)
  filter (lineitem.l_shipdate >= DATE '1994-01-01') and (lineitem.l_shipdate < DATE '1995-01-01') and (lineitem.l_discount >= 0.05) and (lineitem.l_discount <= 0.07) and (lineitem.l_quantity < 24.00)
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_shipdate
