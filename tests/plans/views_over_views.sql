-- A view over views is one plan; aliases that meet are renamed apart.
CREATE VIEW open_orders AS SELECT o_orderkey, o_custkey FROM orders o WHERE o_orderstatus = 'O';
CREATE VIEW per_customer (cust, n) AS SELECT o_custkey, count(*) FROM open_orders GROUP BY 1;
CREATE VIEW named AS
SELECT c_name, n, o.o_orderkey
FROM orders o, customer c, per_customer p
WHERE o.o_custkey = c.c_custkey AND p.cust = c.c_custkey AND o.o_orderdate > '1995-01-01'

-- plan ------------------------------------------------------------------------
== open_orders: bound
project o_orderkey := o.o_orderkey, o_custkey := o.o_custkey
  filter o.o_orderstatus = 'O'
    scan orders o [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
== open_orders: prune
project o_orderkey := o.o_orderkey, o_custkey := o.o_custkey
  filter o.o_orderstatus = 'O'
    scan orders o [key o_orderkey] o_orderkey, o_custkey, o_orderstatus

== per_customer: bound
project cust := o_custkey, n := count
  project o_custkey, count
    group o_custkey := open_orders.o_custkey | count := count(*) BIGINT
      project open_orders.o_orderkey := o_orderkey, open_orders.o_custkey := o_custkey
        project o_orderkey := o.o_orderkey, o_custkey := o.o_custkey
          filter o.o_orderstatus = 'O'
            scan orders o [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
== per_customer: merge
project cust := o_custkey, n := count
  group o_custkey := o.o_custkey | count := count(*) BIGINT
    filter o.o_orderstatus = 'O'
      scan orders o [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
== per_customer: prune
project cust := o_custkey, n := count
  group o_custkey := o.o_custkey | count := count(*) BIGINT
    filter o.o_orderstatus = 'O'
      scan orders o [key o_orderkey] o_orderkey, o_custkey, o_orderstatus

== named: bound
project c_name := c.c_name, n := p.n, o_orderkey := o.o_orderkey
  filter (o.o_custkey = c.c_custkey) and (p.cust = c.c_custkey) and (o.o_orderdate > DATE '1995-01-01')
    join on TRUE
      scan orders o [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      scan customer c [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
      project p.cust := cust, p.n := n
        project cust := o_custkey, n := count
          project o_custkey, count
            group o_custkey := open_orders.o_custkey | count := count(*) BIGINT
              project open_orders.o_orderkey := o_orderkey, open_orders.o_custkey := o_custkey
                project o_orderkey := o_2.o_orderkey, o_custkey := o_2.o_custkey
                  filter o_2.o_orderstatus = 'O'
                    scan orders o_2 [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
== named: merge
project c_name := c.c_name, n := p.n, o_orderkey := o.o_orderkey
  join on (o.o_custkey = c.c_custkey) and (p.cust = c.c_custkey) and (o.o_orderdate > DATE '1995-01-01')
    scan orders o [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan customer c [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    project p.cust := o_custkey, p.n := count
      group o_custkey := o_2.o_custkey | count := count(*) BIGINT
        filter o_2.o_orderstatus = 'O'
          scan orders o_2 [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
== named: push
project c_name := c.c_name, n := p.n, o_orderkey := o.o_orderkey
  join on (o.o_custkey = c.c_custkey) and (p.cust = c.c_custkey)
    filter o.o_orderdate > DATE '1995-01-01'
      scan orders o [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan customer c [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    project p.cust := o_custkey, p.n := count
      group o_custkey := o_2.o_custkey | count := count(*) BIGINT
        filter o_2.o_orderstatus = 'O'
          scan orders o_2 [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
== named: keyjoin
project c_name := c.c_name, n := p.n, o_orderkey := o.o_orderkey
  keyjoin root o
    edge o (o.o_custkey) -> c
    edge c (c.c_custkey) -> p
    copy o [key o.o_orderkey]
      filter o.o_orderdate > DATE '1995-01-01'
        scan orders o [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    copy c [key c.c_custkey]
      scan customer c [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    copy p [key p.cust]
      project p.cust := o_custkey, p.n := count
        group o_custkey := o_2.o_custkey | count := count(*) BIGINT
          filter o_2.o_orderstatus = 'O'
            scan orders o_2 [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
== named: prune
project c_name := c.c_name, n := p.n, o_orderkey := o.o_orderkey
  keyjoin root o
    edge o (o.o_custkey) -> c
    edge c (c.c_custkey) -> p
    copy o [key o.o_orderkey]
      project o.o_orderkey, o.o_custkey
        filter o.o_orderdate > DATE '1995-01-01'
          scan orders o [key o_orderkey] o_orderkey, o_custkey, o_orderdate
    copy c [key c.c_custkey]
      scan customer c [key c_custkey] c_custkey, c_name
    copy p [key p.cust]
      project p.cust := o_custkey, p.n := count
        group o_custkey := o_2.o_custkey | count := count(*) BIGINT
          filter o_2.o_orderstatus = 'O'
            scan orders o_2 [key o_orderkey] o_orderkey, o_custkey, o_orderstatus
