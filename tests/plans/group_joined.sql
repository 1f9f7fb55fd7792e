-- A grouped sub-select is a relation keyed by its GROUP BY: an edge can lead to it.
SELECT o_orderkey, lines.total, lines.n
FROM orders, (
  SELECT l_orderkey AS k, sum(l_quantity) AS total, count(*) AS n
  FROM lineitem
  GROUP BY l_orderkey
  HAVING sum(l_quantity) > 30
) AS lines
WHERE o_orderkey = lines.k AND lines.k < 1000

-- plan ------------------------------------------------------------------------
== answer: bound
project o_orderkey := orders.o_orderkey, total := lines.total, n := lines.n
  filter (orders.o_orderkey = lines.k) and (lines.k < 1000)
    join on TRUE
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      project lines.k := k, lines.total := total, lines.n := n
        project k, total, n
          filter total > 30.00
            group k := lineitem.l_orderkey | total := sum(lineitem.l_quantity) DECIMAL(25,2), n := count(*) BIGINT
              scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: merge
project o_orderkey := orders.o_orderkey, total := lines.total, n := lines.n
  join on (orders.o_orderkey = lines.k) and (lines.k < 1000)
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    project lines.k := k, lines.total := total, lines.n := n
      filter total > 30.00
        group k := lineitem.l_orderkey | total := sum(lineitem.l_quantity) DECIMAL(25,2), n := count(*) BIGINT
          scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: derive
project o_orderkey := orders.o_orderkey, total := lines.total, n := lines.n
  join on (orders.o_orderkey = lines.k) and (lines.k < 1000) and (orders.o_orderkey < 1000)
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    project lines.k := k, lines.total := total, lines.n := n
      filter total > 30.00
        group k := lineitem.l_orderkey | total := sum(lineitem.l_quantity) DECIMAL(25,2), n := count(*) BIGINT
          scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: push
project o_orderkey := orders.o_orderkey, total := lines.total, n := lines.n
  join on orders.o_orderkey = lines.k
    filter orders.o_orderkey < 1000
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    project lines.k := k, lines.total := total, lines.n := n
      filter total > 30.00
        group k := lineitem.l_orderkey | total := sum(lineitem.l_quantity) DECIMAL(25,2), n := count(*) BIGINT
          filter lineitem.l_orderkey < 1000
            scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: keyjoin
project o_orderkey := orders.o_orderkey, total := lines.total, n := lines.n
  keyjoin root orders
    edge orders (orders.o_orderkey) -> lines
    copy orders [key orders.o_orderkey]
      filter orders.o_orderkey < 1000
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    copy lines [key lines.k]
      project lines.k := k, lines.total := total, lines.n := n
        filter total > 30.00
          group k := lineitem.l_orderkey | total := sum(lineitem.l_quantity) DECIMAL(25,2), n := count(*) BIGINT
            filter lineitem.l_orderkey < 1000
              scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: prune
project o_orderkey := orders.o_orderkey, total := lines.total, n := lines.n
  keyjoin root orders
    edge orders (orders.o_orderkey) -> lines
    copy orders [key orders.o_orderkey]
      filter orders.o_orderkey < 1000
        scan orders orders [key o_orderkey] o_orderkey
    copy lines [key lines.k]
      project lines.k := k, lines.total := total, lines.n := n
        filter total > 30.00
          group k := lineitem.l_orderkey | total := sum(lineitem.l_quantity) DECIMAL(25,2), n := count(*) BIGINT
            filter lineitem.l_orderkey < 1000
              scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_linenumber, l_quantity
