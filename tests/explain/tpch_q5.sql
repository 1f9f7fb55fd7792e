-- Two branches meet: c_nationkey = s_nationkey is asserted where both are seen.
CREATE VIEW q5 AS
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
GROUP BY n_name;

-- explain ---------------------------------------------------------------------
view q5(n_name STRING, revenue DECIMAL(38,4))
  key: n_name
  changes: net as they leave

plan
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

join graph
  lineitem (root)
     l_orderkey -> orders
        o_custkey -> customer
     l_suppkey -> supplier
        s_nationkey -> nation
           n_regionkey -> region
  assert at lineitem: customer.c_nationkey = supplier.s_nationkey

stages (4), 8 shards
  stage 0
    <- relation orders, by orders.o_orderkey; policy reject; filter (orders.o_orderdate >= DATE '1994-01-01') and (orders.o_orderdate < DATE '1995-01-01') (failing rows travel as their key)
    gate: knows the rows that are there, to apply the policy
    -> stage 1
  stage 1
    <- stage 0, by orders.o_custkey
    <- relation customer, by customer.c_custkey; policy reject
    join orders -> customer
    -> stage 2
  stage 2
    <- relation lineitem, by lineitem.l_orderkey; policy reject
    <- relation supplier, to every shard; policy reject
    <- relation nation, to every shard; policy reject
    <- relation region, to every shard; policy reject; filter region.r_name = 'ASIA' (failing rows travel as their key)
    <- stage 1, by orders.o_orderkey
    join lineitem -> supplier, supplier -> nation, nation -> region, lineitem -> orders
    assert customer.c_nationkey = supplier.s_nationkey
    -> stage 3
  stage 3
    <- stage 2, by n_name; as partials of each group
    group by n_name
    -> changes of the view

state
  stage 0: each row of orders in one shard, about 68 bytes of index; as many as orders has
  stage 1: each row of orders in one shard, about 80 bytes of index; as many as stage 0 gives
  stage 1: each row of customer in one shard, about 68 bytes of index; as many as customer has
  stage 2: each row of lineitem in one shard, about 124 bytes of index; as many as lineitem has
  stage 2: each row of supplier in every shard, about 80 bytes of index; as many as supplier has
  stage 2: each row of nation in every shard, about 88 bytes of index; as many as nation has
  stage 2: each row of region in every shard, about 60 bytes of index; as many as region has
  stage 2: each row of orders in one shard, about 84 bytes of index; as many as stage 1 gives
  stage 3: each group, about 88 bytes; as many as there are groups
