SELECT
  l_shipmode,
  sum(CASE
    WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1
    ELSE 0
  END) AS high_line_count,
  sum(CASE
    WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1
    ELSE 0
  END) AS low_line_count
FROM orders, lineitem
WHERE o_orderkey = l_orderkey
  AND l_shipmode IN ('MAIL', 'SHIP')
  AND l_commitdate < l_receiptdate
  AND l_shipdate < l_commitdate
  AND l_receiptdate >= DATE '1994-01-01'
  AND l_receiptdate < DATE '1994-01-01' + INTERVAL '1' YEAR
GROUP BY l_shipmode

-- plan ------------------------------------------------------------------------
== answer: bound
project l_shipmode, high_line_count, low_line_count
  group l_shipmode := lineitem.l_shipmode | high_line_count := sum(case when (orders.o_orderpriority = '1-URGENT') or (orders.o_orderpriority = '2-HIGH') then 1 else 0 end) BIGINT, low_line_count := sum(case when (orders.o_orderpriority <> '1-URGENT') and (orders.o_orderpriority <> '2-HIGH') then 1 else 0 end) BIGINT
    filter (orders.o_orderkey = lineitem.l_orderkey) and (lineitem.l_shipmode in ('MAIL', 'SHIP')) and (lineitem.l_commitdate < lineitem.l_receiptdate) and (lineitem.l_shipdate < lineitem.l_commitdate) and (lineitem.l_receiptdate >= DATE '1994-01-01') and (lineitem.l_receiptdate < DATE '1995-01-01')
      join on TRUE
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: merge
group l_shipmode := lineitem.l_shipmode | high_line_count := sum(case when (orders.o_orderpriority = '1-URGENT') or (orders.o_orderpriority = '2-HIGH') then 1 else 0 end) BIGINT, low_line_count := sum(case when (orders.o_orderpriority <> '1-URGENT') and (orders.o_orderpriority <> '2-HIGH') then 1 else 0 end) BIGINT
  join on (orders.o_orderkey = lineitem.l_orderkey) and (lineitem.l_shipmode in ('MAIL', 'SHIP')) and (lineitem.l_commitdate < lineitem.l_receiptdate) and (lineitem.l_shipdate < lineitem.l_commitdate) and (lineitem.l_receiptdate >= DATE '1994-01-01') and (lineitem.l_receiptdate < DATE '1995-01-01')
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: push
group l_shipmode := lineitem.l_shipmode | high_line_count := sum(case when (orders.o_orderpriority = '1-URGENT') or (orders.o_orderpriority = '2-HIGH') then 1 else 0 end) BIGINT, low_line_count := sum(case when (orders.o_orderpriority <> '1-URGENT') and (orders.o_orderpriority <> '2-HIGH') then 1 else 0 end) BIGINT
  join on orders.o_orderkey = lineitem.l_orderkey
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    filter (lineitem.l_shipmode in ('MAIL', 'SHIP')) and (lineitem.l_commitdate < lineitem.l_receiptdate) and (lineitem.l_shipdate < lineitem.l_commitdate) and (lineitem.l_receiptdate >= DATE '1994-01-01') and (lineitem.l_receiptdate < DATE '1995-01-01')
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: keyjoin
group l_shipmode := lineitem.l_shipmode | high_line_count := sum(case when (orders.o_orderpriority = '1-URGENT') or (orders.o_orderpriority = '2-HIGH') then 1 else 0 end) BIGINT, low_line_count := sum(case when (orders.o_orderpriority <> '1-URGENT') and (orders.o_orderpriority <> '2-HIGH') then 1 else 0 end) BIGINT
  keyjoin root lineitem
    edge lineitem (lineitem.l_orderkey) -> orders
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      filter (lineitem.l_shipmode in ('MAIL', 'SHIP')) and (lineitem.l_commitdate < lineitem.l_receiptdate) and (lineitem.l_shipdate < lineitem.l_commitdate) and (lineitem.l_receiptdate >= DATE '1994-01-01') and (lineitem.l_receiptdate < DATE '1995-01-01')
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    copy orders [key orders.o_orderkey]
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
== answer: prune
group l_shipmode := lineitem.l_shipmode | high_line_count := sum(case when (orders.o_orderpriority = '1-URGENT') or (orders.o_orderpriority = '2-HIGH') then 1 else 0 end) BIGINT, low_line_count := sum(case when (orders.o_orderpriority <> '1-URGENT') and (orders.o_orderpriority <> '2-HIGH') then 1 else 0 end) BIGINT
  keyjoin root lineitem
    edge lineitem (lineitem.l_orderkey) -> orders
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      project lineitem.l_orderkey, lineitem.l_linenumber, lineitem.l_shipmode
        filter (lineitem.l_shipmode in ('MAIL', 'SHIP')) and (lineitem.l_commitdate < lineitem.l_receiptdate) and (lineitem.l_shipdate < lineitem.l_commitdate) and (lineitem.l_receiptdate >= DATE '1994-01-01') and (lineitem.l_receiptdate < DATE '1995-01-01')
          scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_linenumber, l_shipdate, l_commitdate, l_receiptdate, l_shipmode
    copy orders [key orders.o_orderkey]
      scan orders orders [key o_orderkey] o_orderkey, o_orderpriority
