-- A constant goes through an equality to the other side.
SELECT o_orderkey, c_name FROM orders JOIN customer ON o_custkey = c_custkey WHERE c_custkey = 7

-- plan ------------------------------------------------------------------------
== answer: bound
project o_orderkey := orders.o_orderkey, c_name := customer.c_name
  filter customer.c_custkey = 7
    join on orders.o_custkey = customer.c_custkey
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: merge
project o_orderkey := orders.o_orderkey, c_name := customer.c_name
  join on (orders.o_custkey = customer.c_custkey) and (customer.c_custkey = 7)
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: derive
project o_orderkey := orders.o_orderkey, c_name := customer.c_name
  join on (orders.o_custkey = customer.c_custkey) and (customer.c_custkey = 7) and (orders.o_custkey = 7)
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: push
project o_orderkey := orders.o_orderkey, c_name := customer.c_name
  join on orders.o_custkey = customer.c_custkey
    filter orders.o_custkey = 7
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    filter customer.c_custkey = 7
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: keyjoin
project o_orderkey := orders.o_orderkey, c_name := customer.c_name
  keyjoin root orders
    edge orders (orders.o_custkey) -> customer
    copy orders [key orders.o_orderkey]
      filter orders.o_custkey = 7
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    copy customer [key customer.c_custkey]
      filter customer.c_custkey = 7
        scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: prune
project o_orderkey := orders.o_orderkey, c_name := customer.c_name
  keyjoin root orders
    edge orders (orders.o_custkey) -> customer
    copy orders [key orders.o_orderkey]
      filter orders.o_custkey = 7
        scan orders orders [key o_orderkey] o_orderkey, o_custkey
    copy customer [key customer.c_custkey]
      filter customer.c_custkey = 7
        scan customer customer [key c_custkey] c_custkey, c_name
