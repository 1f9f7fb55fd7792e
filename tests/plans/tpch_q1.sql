SELECT
  l_returnflag,
  l_linestatus,
  sum(l_quantity) AS sum_qty,
  sum(l_extendedprice) AS sum_base_price,
  sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
  sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,
  avg(l_quantity) AS avg_qty,
  avg(l_extendedprice) AS avg_price,
  avg(l_discount) AS avg_disc,
  count(*) AS count_order
FROM lineitem
WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY
GROUP BY l_returnflag, l_linestatus

-- plan ------------------------------------------------------------------------
== answer: bound
project l_returnflag, l_linestatus, sum_qty, sum_base_price, sum_disc_price, sum_charge, avg_qty, avg_price, avg_disc, count_order
  group l_returnflag := lineitem.l_returnflag, l_linestatus := lineitem.l_linestatus | sum_qty := sum(lineitem.l_quantity) DECIMAL(25,2), sum_base_price := sum(lineitem.l_extendedprice) DECIMAL(25,2), sum_disc_price := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4), sum_charge := sum((lineitem.l_extendedprice * (1 - lineitem.l_discount)) * (1 + lineitem.l_tax)) DECIMAL(38,6), avg_qty := avg(lineitem.l_quantity) DECIMAL(19,6), avg_price := avg(lineitem.l_extendedprice) DECIMAL(19,6), avg_disc := avg(lineitem.l_discount) DECIMAL(19,6), count_order := count(*) BIGINT
    filter lineitem.l_shipdate <= DATE '1998-09-02'
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: merge
group l_returnflag := lineitem.l_returnflag, l_linestatus := lineitem.l_linestatus | sum_qty := sum(lineitem.l_quantity) DECIMAL(25,2), sum_base_price := sum(lineitem.l_extendedprice) DECIMAL(25,2), sum_disc_price := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4), sum_charge := sum((lineitem.l_extendedprice * (1 - lineitem.l_discount)) * (1 + lineitem.l_tax)) DECIMAL(38,6), avg_qty := avg(lineitem.l_quantity) DECIMAL(19,6), avg_price := avg(lineitem.l_extendedprice) DECIMAL(19,6), avg_disc := avg(lineitem.l_discount) DECIMAL(19,6), count_order := count(*) BIGINT
  filter lineitem.l_shipdate <= DATE '1998-09-02'
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: prune
group l_returnflag := lineitem.l_returnflag, l_linestatus := lineitem.l_linestatus | sum_qty := sum(lineitem.l_quantity) DECIMAL(25,2), sum_base_price := sum(lineitem.l_extendedprice) DECIMAL(25,2), sum_disc_price := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4), sum_charge := sum((lineitem.l_extendedprice * (1 - lineitem.l_discount)) * (1 + lineitem.l_tax)) DECIMAL(38,6), avg_qty := avg(lineitem.l_quantity) DECIMAL(19,6), avg_price := avg(lineitem.l_extendedprice) DECIMAL(19,6), avg_disc := avg(lineitem.l_discount) DECIMAL(19,6), count_order := count(*) BIGINT
  filter lineitem.l_shipdate <= DATE '1998-09-02'
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate
