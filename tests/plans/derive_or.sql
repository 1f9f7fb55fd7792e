-- What every branch of an OR demands of one relation becomes its filter; shared parts are factored.
SELECT count(*) AS n
FROM orders, customer
WHERE (o_custkey = c_custkey AND c_mktsegment = 'A' AND o_orderstatus = 'O')
   OR (o_custkey = c_custkey AND c_mktsegment = 'B' AND o_orderstatus = 'F')

-- plan ------------------------------------------------------------------------
== answer: bound
project n
  group () | n := count(*) BIGINT
    filter ((orders.o_custkey = customer.c_custkey) and (customer.c_mktsegment = 'A') and (orders.o_orderstatus = 'O')) or ((orders.o_custkey = customer.c_custkey) and (customer.c_mktsegment = 'B') and (orders.o_orderstatus = 'F'))
      join on TRUE
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
        scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: merge
group () | n := count(*) BIGINT
  join on ((orders.o_custkey = customer.c_custkey) and (customer.c_mktsegment = 'A') and (orders.o_orderstatus = 'O')) or ((orders.o_custkey = customer.c_custkey) and (customer.c_mktsegment = 'B') and (orders.o_orderstatus = 'F'))
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: derive
group () | n := count(*) BIGINT
  join on (orders.o_custkey = customer.c_custkey) and (((customer.c_mktsegment = 'A') and (orders.o_orderstatus = 'O')) or ((customer.c_mktsegment = 'B') and (orders.o_orderstatus = 'F'))) and ((customer.c_mktsegment = 'A') or (customer.c_mktsegment = 'B')) and ((orders.o_orderstatus = 'O') or (orders.o_orderstatus = 'F'))
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: push
group () | n := count(*) BIGINT
  join on (orders.o_custkey = customer.c_custkey) and (((customer.c_mktsegment = 'A') and (orders.o_orderstatus = 'O')) or ((customer.c_mktsegment = 'B') and (orders.o_orderstatus = 'F')))
    filter (orders.o_orderstatus = 'O') or (orders.o_orderstatus = 'F')
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    filter (customer.c_mktsegment = 'A') or (customer.c_mktsegment = 'B')
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: keyjoin
group () | n := count(*) BIGINT
  keyjoin root orders
    edge orders (orders.o_custkey) -> customer
    assert at orders: ((customer.c_mktsegment = 'A') and (orders.o_orderstatus = 'O')) or ((customer.c_mktsegment = 'B') and (orders.o_orderstatus = 'F'))
    copy orders [key orders.o_orderkey]
      filter (orders.o_orderstatus = 'O') or (orders.o_orderstatus = 'F')
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    copy customer [key customer.c_custkey]
      filter (customer.c_mktsegment = 'A') or (customer.c_mktsegment = 'B')
        scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: prune
group () | n := count(*) BIGINT
  keyjoin root orders
    edge orders (orders.o_custkey) -> customer
    assert at orders: ((customer.c_mktsegment = 'A') and (orders.o_orderstatus = 'O')) or ((customer.c_mktsegment = 'B') and (orders.o_orderstatus = 'F'))
    copy orders [key orders.o_orderkey]
      filter (orders.o_orderstatus = 'O') or (orders.o_orderstatus = 'F')
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus
    copy customer [key customer.c_custkey]
      filter (customer.c_mktsegment = 'A') or (customer.c_mktsegment = 'B')
        scan customer customer [key c_custkey] c_custkey, c_mktsegment
