SELECT
  n_name,
  sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem, supplier, nation, region
WHERE c_custkey = o_custkey
  AND l_orderkey = o_orderkey
  AND l_suppkey = s_suppkey
  AND c_nationkey = s_nationkey
  AND s_nationkey = n_nationkey
  AND n_regionkey = r_regionkey
  AND r_name = 'ASIA'
  AND o_orderdate >= DATE '1994-01-01'
  AND o_orderdate < DATE '1994-01-01' + INTERVAL '1' YEAR
GROUP BY n_name

-- plan ------------------------------------------------------------------------
== answer: bound
project n_name, revenue
  group n_name := nation.n_name | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    filter (customer.c_custkey = orders.o_custkey) and (lineitem.l_orderkey = orders.o_orderkey) and (lineitem.l_suppkey = supplier.s_suppkey) and (customer.c_nationkey = supplier.s_nationkey) and (supplier.s_nationkey = nation.n_nationkey) and (nation.n_regionkey = region.r_regionkey) and (region.r_name = 'ASIA') and (orders.o_orderdate >= DATE '1994-01-01') and (orders.o_orderdate < DATE '1995-01-01')
      join on TRUE
        scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
        scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
        scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
        scan region region [key r_regionkey] r_regionkey, r_name, r_comment
== answer: merge
group n_name := nation.n_name | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
  join on (customer.c_custkey = orders.o_custkey) and (lineitem.l_orderkey = orders.o_orderkey) and (lineitem.l_suppkey = supplier.s_suppkey) and (customer.c_nationkey = supplier.s_nationkey) and (supplier.s_nationkey = nation.n_nationkey) and (nation.n_regionkey = region.r_regionkey) and (region.r_name = 'ASIA') and (orders.o_orderdate >= DATE '1994-01-01') and (orders.o_orderdate < DATE '1995-01-01')
    scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
    scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
    scan region region [key r_regionkey] r_regionkey, r_name, r_comment
== answer: push
group n_name := nation.n_name | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
  join on (customer.c_custkey = orders.o_custkey) and (lineitem.l_orderkey = orders.o_orderkey) and (lineitem.l_suppkey = supplier.s_suppkey) and (customer.c_nationkey = supplier.s_nationkey) and (supplier.s_nationkey = nation.n_nationkey) and (nation.n_regionkey = region.r_regionkey)
    scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    filter (orders.o_orderdate >= DATE '1994-01-01') and (orders.o_orderdate < DATE '1995-01-01')
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
    scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
    filter region.r_name = 'ASIA'
      scan region region [key r_regionkey] r_regionkey, r_name, r_comment
== answer: keyjoin
group n_name := nation.n_name | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
  keyjoin root lineitem
    edge lineitem (lineitem.l_orderkey) -> orders
    edge lineitem (lineitem.l_suppkey) -> supplier
    edge orders (orders.o_custkey) -> customer
    edge supplier (supplier.s_nationkey) -> nation
    edge nation (nation.n_regionkey) -> region
    assert at lineitem: customer.c_nationkey = supplier.s_nationkey
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    copy orders [key orders.o_orderkey]
      filter (orders.o_orderdate >= DATE '1994-01-01') and (orders.o_orderdate < DATE '1995-01-01')
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    copy supplier [key supplier.s_suppkey]
      scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
    copy customer [key customer.c_custkey]
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    copy nation [key nation.n_nationkey]
      scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
    copy region [key region.r_regionkey]
      filter region.r_name = 'ASIA'
        scan region region [key r_regionkey] r_regionkey, r_name, r_comment
== answer: prune
group n_name := nation.n_name | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
  keyjoin root lineitem
    edge lineitem (lineitem.l_orderkey) -> orders
    edge lineitem (lineitem.l_suppkey) -> supplier
    edge orders (orders.o_custkey) -> customer
    edge supplier (supplier.s_nationkey) -> nation
    edge nation (nation.n_regionkey) -> region
    assert at lineitem: customer.c_nationkey = supplier.s_nationkey
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_suppkey, l_linenumber, l_extendedprice, l_discount
    copy orders [key orders.o_orderkey]
      project orders.o_orderkey, orders.o_custkey
        filter (orders.o_orderdate >= DATE '1994-01-01') and (orders.o_orderdate < DATE '1995-01-01')
          scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderdate
    copy supplier [key supplier.s_suppkey]
      scan supplier supplier [key s_suppkey] s_suppkey, s_nationkey
    copy customer [key customer.c_custkey]
      scan customer customer [key c_custkey] c_custkey, c_nationkey
    copy nation [key nation.n_nationkey]
      scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey
    copy region [key region.r_regionkey]
      project region.r_regionkey
        filter region.r_name = 'ASIA'
          scan region region [key r_regionkey] r_regionkey, r_name
