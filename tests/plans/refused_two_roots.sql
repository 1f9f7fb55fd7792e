-- Two many sides meet at customer: neither reaches the other.
SELECT o_orderkey, c_name, s_name
FROM orders, customer, supplier
WHERE o_custkey = c_custkey AND s_nationkey = c_nationkey

-- plan ------------------------------------------------------------------------
== answer: bound
project o_orderkey := orders.o_orderkey, c_name := customer.c_name, s_name := supplier.s_name
  filter (orders.o_custkey = customer.c_custkey) and (supplier.s_nationkey = customer.c_nationkey)
    join on TRUE
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
      scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
== answer: merge
project o_orderkey := orders.o_orderkey, c_name := customer.c_name, s_name := supplier.s_name
  join on (orders.o_custkey = customer.c_custkey) and (supplier.s_nationkey = customer.c_nationkey)
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
== answer: refused
[UNSUPPORTED.JOIN] at 3:1 the join of orders, customer, supplier is not along keys: from orders, customer there is no way to supplier by its key (s_suppkey)
  FROM orders, customer, supplier
  ^^^^
  fix: one input must reach all others by equalities with their whole PRIMARY KEY; join on the key, declare it, or group the input by the joined columns in a sub-select
