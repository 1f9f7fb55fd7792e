-- nation is reached although its key is compared with a column of another branch only.
SELECT s_name, c_name, n_name
FROM lineitem, orders, supplier, customer, nation
WHERE l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND o_custkey = c_custkey
  AND c_nationkey = s_nationkey AND c_nationkey = n_nationkey

-- plan ------------------------------------------------------------------------
== answer: bound
project s_name := supplier.s_name, c_name := customer.c_name, n_name := nation.n_name
  filter (lineitem.l_orderkey = orders.o_orderkey) and (lineitem.l_suppkey = supplier.s_suppkey) and (orders.o_custkey = customer.c_custkey) and (customer.c_nationkey = supplier.s_nationkey) and (customer.c_nationkey = nation.n_nationkey)
    join on TRUE
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
      scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: merge
project s_name := supplier.s_name, c_name := customer.c_name, n_name := nation.n_name
  join on (lineitem.l_orderkey = orders.o_orderkey) and (lineitem.l_suppkey = supplier.s_suppkey) and (orders.o_custkey = customer.c_custkey) and (customer.c_nationkey = supplier.s_nationkey) and (customer.c_nationkey = nation.n_nationkey)
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
    scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: keyjoin
project s_name := supplier.s_name, c_name := customer.c_name, n_name := nation.n_name
  keyjoin root lineitem
    edge lineitem (lineitem.l_orderkey) -> orders
    edge lineitem (lineitem.l_suppkey) -> supplier
    edge orders (orders.o_custkey) -> customer
    edge customer (customer.c_nationkey) -> nation
    assert at lineitem: customer.c_nationkey = supplier.s_nationkey
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    copy orders [key orders.o_orderkey]
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    copy supplier [key supplier.s_suppkey]
      scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
    copy customer [key customer.c_custkey]
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    copy nation [key nation.n_nationkey]
      scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: prune
project s_name := supplier.s_name, c_name := customer.c_name, n_name := nation.n_name
  keyjoin root lineitem
    edge lineitem (lineitem.l_orderkey) -> orders
    edge lineitem (lineitem.l_suppkey) -> supplier
    edge orders (orders.o_custkey) -> customer
    edge customer (customer.c_nationkey) -> nation
    assert at lineitem: customer.c_nationkey = supplier.s_nationkey
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_suppkey, l_linenumber
    copy orders [key orders.o_orderkey]
      scan orders orders [key o_orderkey] o_orderkey, o_custkey
    copy supplier [key supplier.s_suppkey]
      scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_nationkey
    copy customer [key customer.c_custkey]
      scan customer customer [key c_custkey] c_custkey, c_name, c_nationkey
    copy nation [key nation.n_nationkey]
      scan nation nation [key n_nationkey] n_nationkey, n_name
