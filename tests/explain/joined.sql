-- Lineitems wait beside their order in one stage; the order's shard is part of the key.
CREATE TABLE orders (o_orderkey BIGINT PRIMARY KEY, o_orderdate DATE);
CREATE TABLE lineitem (
    l_orderkey BIGINT REFERENCES orders, l_linenumber INT, l_price DECIMAL(15,2),
    PRIMARY KEY (l_orderkey, l_linenumber)
);
CREATE VIEW revenue AS
SELECT o_orderkey, o_orderdate, sum(l_price) AS revenue FROM orders
JOIN lineitem ON l_orderkey = o_orderkey GROUP BY o_orderkey, o_orderdate;

-- explain ---------------------------------------------------------------------
view revenue(o_orderkey BIGINT, o_orderdate DATE, revenue DECIMAL(25,2))
  key: o_orderkey, o_orderdate
  changes: net as they leave

plan
  group o_orderkey := orders.o_orderkey, o_orderdate := orders.o_orderdate | revenue := sum(lineitem.l_price) DECIMAL(25,2)
    keyjoin root lineitem
      edge lineitem (lineitem.l_orderkey) -> orders
      copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_linenumber, l_price
      copy orders [key orders.o_orderkey]
        scan orders orders [key o_orderkey] o_orderkey, o_orderdate

join graph
  lineitem (root)
     l_orderkey -> orders

stages (1), 8 shards
  stage 0
    <- relation lineitem, by lineitem.l_orderkey; policy reject
    <- relation orders, by orders.o_orderkey; policy reject
    join lineitem -> orders
    group by o_orderkey, o_orderdate
    -> changes of the view

state
  stage 0: each row of lineitem in one shard, about 96 bytes of index; as many as lineitem has
  stage 0: each row of orders in one shard, about 68 bytes of index; as many as orders has
  stage 0: each group, about 96 bytes; as many as there are groups
