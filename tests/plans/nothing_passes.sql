-- A condition without columns goes to every input; FALSE decides an AND.
SELECT o_orderkey FROM orders, customer WHERE o_custkey = c_custkey AND 1 = 0 AND o_orderkey > 5

-- plan ------------------------------------------------------------------------
== answer: bound
project o_orderkey := orders.o_orderkey
  filter (orders.o_custkey = customer.c_custkey) and (1 = 0) and (orders.o_orderkey > 5)
    join on TRUE
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: simplify
project o_orderkey := orders.o_orderkey
  filter (orders.o_custkey = customer.c_custkey) and FALSE and (orders.o_orderkey > 5)
    join on TRUE
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: merge
project o_orderkey := orders.o_orderkey
  join on (orders.o_custkey = customer.c_custkey) and FALSE and (orders.o_orderkey > 5)
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: push
project o_orderkey := orders.o_orderkey
  join on orders.o_custkey = customer.c_custkey
    filter FALSE and (orders.o_orderkey > 5)
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    filter FALSE
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: keyjoin
project o_orderkey := orders.o_orderkey
  keyjoin root orders
    edge orders (orders.o_custkey) -> customer
    copy orders [key orders.o_orderkey]
      filter FALSE and (orders.o_orderkey > 5)
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    copy customer [key customer.c_custkey]
      filter FALSE
        scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: prune
project o_orderkey := orders.o_orderkey
  keyjoin root orders
    edge orders (orders.o_custkey) -> customer
    copy orders [key orders.o_orderkey]
      filter FALSE and (orders.o_orderkey > 5)
        scan orders orders [key o_orderkey] o_orderkey, o_custkey
    copy customer [key customer.c_custkey]
      filter FALSE
        scan customer customer [key c_custkey] c_custkey
