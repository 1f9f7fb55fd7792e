SELECT
  nation,
  o_year,
  sum(amount) AS sum_profit
FROM (
  SELECT
    n_name AS nation,
    extract(YEAR FROM o_orderdate) AS o_year,
    l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount
  FROM part, supplier, lineitem, partsupp, orders, nation
  WHERE s_suppkey = l_suppkey
    AND ps_suppkey = l_suppkey
    AND ps_partkey = l_partkey
    AND p_partkey = l_partkey
    AND o_orderkey = l_orderkey
    AND s_nationkey = n_nationkey
    AND p_name LIKE '%green%'
) AS profit
GROUP BY nation, o_year

-- plan ------------------------------------------------------------------------
== answer: bound
project nation, o_year, sum_profit
  group nation := profit.nation, o_year := profit.o_year | sum_profit := sum(profit.amount) DECIMAL(38,4)
    project profit.nation := nation, profit.o_year := o_year, profit.amount := amount
      project nation := nation.n_name, o_year := year(orders.o_orderdate), amount := (lineitem.l_extendedprice * (1 - lineitem.l_discount)) - (partsupp.ps_supplycost * lineitem.l_quantity)
        filter (supplier.s_suppkey = lineitem.l_suppkey) and (partsupp.ps_suppkey = lineitem.l_suppkey) and (partsupp.ps_partkey = lineitem.l_partkey) and (part.p_partkey = lineitem.l_partkey) and (orders.o_orderkey = lineitem.l_orderkey) and (supplier.s_nationkey = nation.n_nationkey) and (part.p_name like '%green%')
          join on TRUE
            scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
            scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
            scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
            scan partsupp partsupp [key ps_partkey, ps_suppkey] ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment
            scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
            scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: merge
group nation := nation.n_name, o_year := year(orders.o_orderdate) | sum_profit := sum((lineitem.l_extendedprice * (1 - lineitem.l_discount)) - (partsupp.ps_supplycost * lineitem.l_quantity)) DECIMAL(38,4)
  join on (supplier.s_suppkey = lineitem.l_suppkey) and (partsupp.ps_suppkey = lineitem.l_suppkey) and (partsupp.ps_partkey = lineitem.l_partkey) and (part.p_partkey = lineitem.l_partkey) and (orders.o_orderkey = lineitem.l_orderkey) and (supplier.s_nationkey = nation.n_nationkey) and (part.p_name like '%green%')
    scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
    scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    scan partsupp partsupp [key ps_partkey, ps_suppkey] ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: push
group nation := nation.n_name, o_year := year(orders.o_orderdate) | sum_profit := sum((lineitem.l_extendedprice * (1 - lineitem.l_discount)) - (partsupp.ps_supplycost * lineitem.l_quantity)) DECIMAL(38,4)
  join on (supplier.s_suppkey = lineitem.l_suppkey) and (partsupp.ps_suppkey = lineitem.l_suppkey) and (partsupp.ps_partkey = lineitem.l_partkey) and (part.p_partkey = lineitem.l_partkey) and (orders.o_orderkey = lineitem.l_orderkey) and (supplier.s_nationkey = nation.n_nationkey)
    filter part.p_name like '%green%'
      scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
    scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    scan partsupp partsupp [key ps_partkey, ps_suppkey] ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: keyjoin
group nation := nation.n_name, o_year := year(orders.o_orderdate) | sum_profit := sum((lineitem.l_extendedprice * (1 - lineitem.l_discount)) - (partsupp.ps_supplycost * lineitem.l_quantity)) DECIMAL(38,4)
  keyjoin root lineitem
    edge lineitem (lineitem.l_partkey) -> part
    edge lineitem (lineitem.l_suppkey) -> supplier
    edge lineitem (lineitem.l_partkey, lineitem.l_suppkey) -> partsupp
    edge lineitem (lineitem.l_orderkey) -> orders
    edge supplier (supplier.s_nationkey) -> nation
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    copy part [key part.p_partkey]
      filter part.p_name like '%green%'
        scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
    copy supplier [key supplier.s_suppkey]
      scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
    copy partsupp [key partsupp.ps_partkey, partsupp.ps_suppkey]
      scan partsupp partsupp [key ps_partkey, ps_suppkey] ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment
    copy orders [key orders.o_orderkey]
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    copy nation [key nation.n_nationkey]
      scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: prune
group nation := nation.n_name, o_year := year(orders.o_orderdate) | sum_profit := sum((lineitem.l_extendedprice * (1 - lineitem.l_discount)) - (partsupp.ps_supplycost * lineitem.l_quantity)) DECIMAL(38,4)
  keyjoin root lineitem
    edge lineitem (lineitem.l_partkey) -> part
    edge lineitem (lineitem.l_suppkey) -> supplier
    edge lineitem (lineitem.l_partkey, lineitem.l_suppkey) -> partsupp
    edge lineitem (lineitem.l_orderkey) -> orders
    edge supplier (supplier.s_nationkey) -> nation
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount
    copy part [key part.p_partkey]
      project part.p_partkey
        filter part.p_name like '%green%'
          scan part part [key p_partkey] p_partkey, p_name
    copy supplier [key supplier.s_suppkey]
      scan supplier supplier [key s_suppkey] s_suppkey, s_nationkey
    copy partsupp [key partsupp.ps_partkey, partsupp.ps_suppkey]
      scan partsupp partsupp [key ps_partkey, ps_suppkey] ps_partkey, ps_suppkey, ps_supplycost
    copy orders [key orders.o_orderkey]
      scan orders orders [key o_orderkey] o_orderkey, o_orderdate
    copy nation [key nation.n_nationkey]
      scan nation nation [key n_nationkey] n_nationkey, n_name
