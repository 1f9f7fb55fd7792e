SELECT
  c_custkey,
  c_name,
  sum(l_extendedprice * (1 - l_discount)) AS revenue,
  c_acctbal,
  n_name,
  c_address,
  c_phone,
  c_comment
FROM customer, orders, lineitem, nation
WHERE c_custkey = o_custkey
  AND l_orderkey = o_orderkey
  AND o_orderdate >= DATE '1993-10-01'
  AND o_orderdate < DATE '1993-10-01' + INTERVAL '3' MONTH
  AND l_returnflag = 'R'
  AND c_nationkey = n_nationkey
GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment

-- plan ------------------------------------------------------------------------
== answer: bound
project c_custkey, c_name, revenue, c_acctbal, n_name, c_address, c_phone, c_comment
  group c_custkey := customer.c_custkey, c_name := customer.c_name, c_acctbal := customer.c_acctbal, c_phone := customer.c_phone, n_name := nation.n_name, c_address := customer.c_address, c_comment := customer.c_comment | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    filter (customer.c_custkey = orders.o_custkey) and (lineitem.l_orderkey = orders.o_orderkey) and (orders.o_orderdate >= DATE '1993-10-01') and (orders.o_orderdate < DATE '1994-01-01') and (lineitem.l_returnflag = 'R') and (customer.c_nationkey = nation.n_nationkey)
      join on TRUE
        scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
        scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: merge
project c_custkey, c_name, revenue, c_acctbal, n_name, c_address, c_phone, c_comment
  group c_custkey := customer.c_custkey, c_name := customer.c_name, c_acctbal := customer.c_acctbal, c_phone := customer.c_phone, n_name := nation.n_name, c_address := customer.c_address, c_comment := customer.c_comment | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    join on (customer.c_custkey = orders.o_custkey) and (lineitem.l_orderkey = orders.o_orderkey) and (orders.o_orderdate >= DATE '1993-10-01') and (orders.o_orderdate < DATE '1994-01-01') and (lineitem.l_returnflag = 'R') and (customer.c_nationkey = nation.n_nationkey)
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
      scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: push
project c_custkey, c_name, revenue, c_acctbal, n_name, c_address, c_phone, c_comment
  group c_custkey := customer.c_custkey, c_name := customer.c_name, c_acctbal := customer.c_acctbal, c_phone := customer.c_phone, n_name := nation.n_name, c_address := customer.c_address, c_comment := customer.c_comment | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    join on (customer.c_custkey = orders.o_custkey) and (lineitem.l_orderkey = orders.o_orderkey) and (customer.c_nationkey = nation.n_nationkey)
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
      filter (orders.o_orderdate >= DATE '1993-10-01') and (orders.o_orderdate < DATE '1994-01-01')
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      filter lineitem.l_returnflag = 'R'
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
      scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: keyjoin
project c_custkey, c_name, revenue, c_acctbal, n_name, c_address, c_phone, c_comment
  group c_custkey := customer.c_custkey, c_name := customer.c_name, c_acctbal := customer.c_acctbal, c_phone := customer.c_phone, n_name := nation.n_name, c_address := customer.c_address, c_comment := customer.c_comment | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    keyjoin root lineitem
      edge lineitem (lineitem.l_orderkey) -> orders
      edge orders (orders.o_custkey) -> customer
      edge customer (customer.c_nationkey) -> nation
      copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
        filter lineitem.l_returnflag = 'R'
          scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
      copy orders [key orders.o_orderkey]
        filter (orders.o_orderdate >= DATE '1993-10-01') and (orders.o_orderdate < DATE '1994-01-01')
          scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      copy customer [key customer.c_custkey]
        scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
      copy nation [key nation.n_nationkey]
        scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: prune
project c_custkey, c_name, revenue, c_acctbal, n_name, c_address, c_phone, c_comment
  group c_custkey := customer.c_custkey, c_name := customer.c_name, c_acctbal := customer.c_acctbal, c_phone := customer.c_phone, n_name := nation.n_name, c_address := customer.c_address, c_comment := customer.c_comment | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    keyjoin root lineitem
      edge lineitem (lineitem.l_orderkey) -> orders
      edge orders (orders.o_custkey) -> customer
      edge customer (customer.c_nationkey) -> nation
      copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
        project lineitem.l_orderkey, lineitem.l_linenumber, lineitem.l_extendedprice, lineitem.l_discount
          filter lineitem.l_returnflag = 'R'
            scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_linenumber, l_extendedprice, l_discount, l_returnflag
      copy orders [key orders.o_orderkey]
        project orders.o_orderkey, orders.o_custkey
          filter (orders.o_orderdate >= DATE '1993-10-01') and (orders.o_orderdate < DATE '1994-01-01')
            scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderdate
      copy customer [key customer.c_custkey]
        scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_comment
      copy nation [key nation.n_nationkey]
        scan nation nation [key n_nationkey] n_nationkey, n_name
