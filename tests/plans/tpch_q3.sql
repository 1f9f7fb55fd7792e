SELECT
  l_orderkey,
  sum(l_extendedprice * (1 - l_discount)) AS revenue,
  o_orderdate,
  o_shippriority
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING'
  AND c_custkey = o_custkey
  AND l_orderkey = o_orderkey
  AND o_orderdate < DATE '1995-03-15'
  AND l_shipdate > DATE '1995-03-15'
GROUP BY l_orderkey, o_orderdate, o_shippriority

-- plan ------------------------------------------------------------------------
== answer: bound
project l_orderkey, revenue, o_orderdate, o_shippriority
  group l_orderkey := lineitem.l_orderkey, o_orderdate := orders.o_orderdate, o_shippriority := orders.o_shippriority | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    filter (customer.c_mktsegment = 'BUILDING') and (customer.c_custkey = orders.o_custkey) and (lineitem.l_orderkey = orders.o_orderkey) and (orders.o_orderdate < DATE '1995-03-15') and (lineitem.l_shipdate > DATE '1995-03-15')
      join on TRUE
        scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: merge
project l_orderkey, revenue, o_orderdate, o_shippriority
  group l_orderkey := lineitem.l_orderkey, o_orderdate := orders.o_orderdate, o_shippriority := orders.o_shippriority | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    join on (customer.c_mktsegment = 'BUILDING') and (customer.c_custkey = orders.o_custkey) and (lineitem.l_orderkey = orders.o_orderkey) and (orders.o_orderdate < DATE '1995-03-15') and (lineitem.l_shipdate > DATE '1995-03-15')
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: push
project l_orderkey, revenue, o_orderdate, o_shippriority
  group l_orderkey := lineitem.l_orderkey, o_orderdate := orders.o_orderdate, o_shippriority := orders.o_shippriority | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    join on (customer.c_custkey = orders.o_custkey) and (lineitem.l_orderkey = orders.o_orderkey)
      filter customer.c_mktsegment = 'BUILDING'
        scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
      filter orders.o_orderdate < DATE '1995-03-15'
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      filter lineitem.l_shipdate > DATE '1995-03-15'
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: keyjoin
project l_orderkey, revenue, o_orderdate, o_shippriority
  group l_orderkey := lineitem.l_orderkey, o_orderdate := orders.o_orderdate, o_shippriority := orders.o_shippriority | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    keyjoin root lineitem
      edge lineitem (lineitem.l_orderkey) -> orders
      edge orders (orders.o_custkey) -> customer
      copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
        filter lineitem.l_shipdate > DATE '1995-03-15'
          scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
      copy orders [key orders.o_orderkey]
        filter orders.o_orderdate < DATE '1995-03-15'
          scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      copy customer [key customer.c_custkey]
        filter customer.c_mktsegment = 'BUILDING'
          scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: prune
project l_orderkey, revenue, o_orderdate, o_shippriority
  group l_orderkey := lineitem.l_orderkey, o_orderdate := orders.o_orderdate, o_shippriority := orders.o_shippriority | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    keyjoin root lineitem
      edge lineitem (lineitem.l_orderkey) -> orders
      edge orders (orders.o_custkey) -> customer
      copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
        project lineitem.l_orderkey, lineitem.l_linenumber, lineitem.l_extendedprice, lineitem.l_discount
          filter lineitem.l_shipdate > DATE '1995-03-15'
            scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_linenumber, l_extendedprice, l_discount, l_shipdate
      copy orders [key orders.o_orderkey]
        filter orders.o_orderdate < DATE '1995-03-15'
          scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderdate, o_shippriority
      copy customer [key customer.c_custkey]
        project customer.c_custkey
          filter customer.c_mktsegment = 'BUILDING'
            scan customer customer [key c_custkey] c_custkey, c_mktsegment
