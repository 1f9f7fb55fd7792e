-- Two groups joined along the key of one; each keeps its own renaming.
SELECT per_order.n AS n_lines, count(*) AS n_orders
FROM (SELECT o_custkey AS cust, count(*) AS n FROM orders GROUP BY o_custkey) AS per_order,
     (SELECT c_custkey AS cust, sum(c_acctbal) AS balance FROM customer GROUP BY c_custkey) AS money
WHERE per_order.cust = money.cust AND money.balance > 0
GROUP BY per_order.n

-- plan ------------------------------------------------------------------------
== answer: bound
project n_lines, n_orders
  group n_lines := per_order.n | n_orders := count(*) BIGINT
    filter (per_order.cust = money.cust) and (money.balance > 0.00)
      join on TRUE
        project per_order.cust := cust, per_order.n := n
          project cust, n
            group cust := orders.o_custkey | n := count(*) BIGINT
              scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
        project money.cust := cust, money.balance := balance
          project cust, balance
            group cust := customer.c_custkey | balance := sum(customer.c_acctbal) DECIMAL(25,2)
              scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: merge
group n_lines := per_order.n | n_orders := count(*) BIGINT
  join on (per_order.cust = money.cust) and (money.balance > 0.00)
    project per_order.cust := cust, per_order.n := n
      group cust := orders.o_custkey | n := count(*) BIGINT
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    project money.cust := cust, money.balance := balance
      group cust := customer.c_custkey | balance := sum(customer.c_acctbal) DECIMAL(25,2)
        scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: push
group n_lines := per_order.n | n_orders := count(*) BIGINT
  join on per_order.cust = money.cust
    project per_order.cust := cust, per_order.n := n
      group cust := orders.o_custkey | n := count(*) BIGINT
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    project money.cust := cust, money.balance := balance
      filter balance > 0.00
        group cust := customer.c_custkey | balance := sum(customer.c_acctbal) DECIMAL(25,2)
          scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: keyjoin
group n_lines := per_order.n | n_orders := count(*) BIGINT
  keyjoin root per_order
    edge per_order (per_order.cust) -> money
    copy per_order [key per_order.cust]
      project per_order.cust := cust, per_order.n := n
        group cust := orders.o_custkey | n := count(*) BIGINT
          scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    copy money [key money.cust]
      project money.cust := cust, money.balance := balance
        filter balance > 0.00
          group cust := customer.c_custkey | balance := sum(customer.c_acctbal) DECIMAL(25,2)
            scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
== answer: prune
group n_lines := per_order.n | n_orders := count(*) BIGINT
  keyjoin root per_order
    edge per_order (per_order.cust) -> money
    copy per_order [key per_order.cust]
      project per_order.cust := cust, per_order.n := n
        group cust := orders.o_custkey | n := count(*) BIGINT
          scan orders orders [key o_orderkey] o_orderkey, o_custkey
    copy money [key money.cust]
      project money.cust := cust
        filter balance > 0.00
          group cust := customer.c_custkey | balance := sum(customer.c_acctbal) DECIMAL(25,2)
            scan customer customer [key c_custkey] c_custkey, c_acctbal
