-- Three stages: a gate by o_orderkey, customers by c_custkey, lineitems by l_orderkey.
CREATE VIEW q3 AS
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
GROUP BY l_orderkey, o_orderdate, o_shippriority;

-- explain ---------------------------------------------------------------------
view q3(l_orderkey BIGINT, revenue DECIMAL(38,4), o_orderdate DATE, o_shippriority INT)
  key: l_orderkey, o_orderdate, o_shippriority
  changes: net as they leave

plan
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

join graph
  lineitem (root)
     l_orderkey -> orders
        o_custkey -> customer

stages (3), 8 shards
  stage 0
    <- relation orders, by orders.o_orderkey; policy reject; filter orders.o_orderdate < DATE '1995-03-15' (failing rows travel as their key)
    gate: knows the rows that are there, to apply the policy
    -> stage 1
  stage 1
    <- stage 0, by orders.o_custkey
    <- relation customer, by customer.c_custkey; policy reject; filter customer.c_mktsegment = 'BUILDING' (failing rows travel as their key)
    join orders -> customer
    -> stage 2
  stage 2
    <- relation lineitem, by lineitem.l_orderkey; policy reject; filter lineitem.l_shipdate > DATE '1995-03-15' (failing rows travel as their key)
    <- stage 1, by orders.o_orderkey
    join lineitem -> orders
    group by l_orderkey, o_orderdate, o_shippriority
    make l_orderkey, revenue, o_orderdate, o_shippriority
    -> changes of the view

state
  stage 0: each row of orders in one shard, about 84 bytes of index; as many as orders has
  stage 1: each row of orders in one shard, about 96 bytes of index; as many as stage 0 gives
  stage 1: each row of customer in one shard, about 60 bytes of index; as many as customer has
  stage 2: each row of lineitem in one shard, about 104 bytes of index; as many as lineitem has
  stage 2: each row of orders in one shard, about 92 bytes of index; as many as stage 1 gives
  stage 2: each group, about 104 bytes; as many as there are groups
