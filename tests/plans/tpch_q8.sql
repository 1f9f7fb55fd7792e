SELECT
  o_year,
  sum(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / sum(volume) AS mkt_share
FROM (
  SELECT
    extract(YEAR FROM o_orderdate) AS o_year,
    l_extendedprice * (1 - l_discount) AS volume,
    n2.n_name AS nation
  FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region
  WHERE p_partkey = l_partkey
    AND s_suppkey = l_suppkey
    AND l_orderkey = o_orderkey
    AND o_custkey = c_custkey
    AND c_nationkey = n1.n_nationkey
    AND n1.n_regionkey = r_regionkey
    AND r_name = 'AMERICA'
    AND s_nationkey = n2.n_nationkey
    AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
    AND p_type = 'ECONOMY ANODIZED STEEL'
) AS all_nations
GROUP BY o_year

-- plan ------------------------------------------------------------------------
== answer: bound
project o_year, mkt_share := sum / sum_2
  group o_year := all_nations.o_year | sum := sum(case when all_nations.nation = 'BRAZIL' then all_nations.volume else 0.0000 end) DECIMAL(38,4), sum_2 := sum(all_nations.volume) DECIMAL(38,4)
    project all_nations.o_year := o_year, all_nations.volume := volume, all_nations.nation := nation
      project o_year := year(orders.o_orderdate), volume := lineitem.l_extendedprice * (1 - lineitem.l_discount), nation := n2.n_name
        filter (part.p_partkey = lineitem.l_partkey) and (supplier.s_suppkey = lineitem.l_suppkey) and (lineitem.l_orderkey = orders.o_orderkey) and (orders.o_custkey = customer.c_custkey) and (customer.c_nationkey = n1.n_nationkey) and (n1.n_regionkey = region.r_regionkey) and (region.r_name = 'AMERICA') and (supplier.s_nationkey = n2.n_nationkey) and (orders.o_orderdate >= DATE '1995-01-01') and (orders.o_orderdate <= DATE '1996-12-31') and (part.p_type = 'ECONOMY ANODIZED STEEL')
          join on TRUE
            scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
            scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
            scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
            scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
            scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
            scan nation n1 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
            scan nation n2 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
            scan region region [key r_regionkey] r_regionkey, r_name, r_comment
== answer: merge
project o_year, mkt_share := sum / sum_2
  group o_year := year(orders.o_orderdate) | sum := sum(case when n2.n_name = 'BRAZIL' then lineitem.l_extendedprice * (1 - lineitem.l_discount) else 0.0000 end) DECIMAL(38,4), sum_2 := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    join on (part.p_partkey = lineitem.l_partkey) and (supplier.s_suppkey = lineitem.l_suppkey) and (lineitem.l_orderkey = orders.o_orderkey) and (orders.o_custkey = customer.c_custkey) and (customer.c_nationkey = n1.n_nationkey) and (n1.n_regionkey = region.r_regionkey) and (region.r_name = 'AMERICA') and (supplier.s_nationkey = n2.n_nationkey) and (orders.o_orderdate >= DATE '1995-01-01') and (orders.o_orderdate <= DATE '1996-12-31') and (part.p_type = 'ECONOMY ANODIZED STEEL')
      scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
      scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
      scan nation n1 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
      scan nation n2 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
      scan region region [key r_regionkey] r_regionkey, r_name, r_comment
== answer: push
project o_year, mkt_share := sum / sum_2
  group o_year := year(orders.o_orderdate) | sum := sum(case when n2.n_name = 'BRAZIL' then lineitem.l_extendedprice * (1 - lineitem.l_discount) else 0.0000 end) DECIMAL(38,4), sum_2 := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    join on (part.p_partkey = lineitem.l_partkey) and (supplier.s_suppkey = lineitem.l_suppkey) and (lineitem.l_orderkey = orders.o_orderkey) and (orders.o_custkey = customer.c_custkey) and (customer.c_nationkey = n1.n_nationkey) and (n1.n_regionkey = region.r_regionkey) and (supplier.s_nationkey = n2.n_nationkey)
      filter part.p_type = 'ECONOMY ANODIZED STEEL'
        scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
      scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
      filter (orders.o_orderdate >= DATE '1995-01-01') and (orders.o_orderdate <= DATE '1996-12-31')
        scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
      scan nation n1 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
      scan nation n2 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
      filter region.r_name = 'AMERICA'
        scan region region [key r_regionkey] r_regionkey, r_name, r_comment
== answer: keyjoin
project o_year, mkt_share := sum / sum_2
  group o_year := year(orders.o_orderdate) | sum := sum(case when n2.n_name = 'BRAZIL' then lineitem.l_extendedprice * (1 - lineitem.l_discount) else 0.0000 end) DECIMAL(38,4), sum_2 := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    keyjoin root lineitem
      edge lineitem (lineitem.l_partkey) -> part
      edge lineitem (lineitem.l_suppkey) -> supplier
      edge lineitem (lineitem.l_orderkey) -> orders
      edge orders (orders.o_custkey) -> customer
      edge supplier (supplier.s_nationkey) -> n2
      edge customer (customer.c_nationkey) -> n1
      edge n1 (n1.n_regionkey) -> region
      copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
      copy part [key part.p_partkey]
        filter part.p_type = 'ECONOMY ANODIZED STEEL'
          scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
      copy supplier [key supplier.s_suppkey]
        scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
      copy orders [key orders.o_orderkey]
        filter (orders.o_orderdate >= DATE '1995-01-01') and (orders.o_orderdate <= DATE '1996-12-31')
          scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
      copy customer [key customer.c_custkey]
        scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
      copy n2 [key n2.n_nationkey]
        scan nation n2 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
      copy n1 [key n1.n_nationkey]
        scan nation n1 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
      copy region [key region.r_regionkey]
        filter region.r_name = 'AMERICA'
          scan region region [key r_regionkey] r_regionkey, r_name, r_comment
== answer: prune
project o_year, mkt_share := sum / sum_2
  group o_year := year(orders.o_orderdate) | sum := sum(case when n2.n_name = 'BRAZIL' then lineitem.l_extendedprice * (1 - lineitem.l_discount) else 0.0000 end) DECIMAL(38,4), sum_2 := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    keyjoin root lineitem
      edge lineitem (lineitem.l_partkey) -> part
      edge lineitem (lineitem.l_suppkey) -> supplier
      edge lineitem (lineitem.l_orderkey) -> orders
      edge orders (orders.o_custkey) -> customer
      edge supplier (supplier.s_nationkey) -> n2
      edge customer (customer.c_nationkey) -> n1
      edge n1 (n1.n_regionkey) -> region
      copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_extendedprice, l_discount
      copy part [key part.p_partkey]
        project part.p_partkey
          filter part.p_type = 'ECONOMY ANODIZED STEEL'
            scan part part [key p_partkey] p_partkey, p_type
      copy supplier [key supplier.s_suppkey]
        scan supplier supplier [key s_suppkey] s_suppkey, s_nationkey
      copy orders [key orders.o_orderkey]
        filter (orders.o_orderdate >= DATE '1995-01-01') and (orders.o_orderdate <= DATE '1996-12-31')
          scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderdate
      copy customer [key customer.c_custkey]
        scan customer customer [key c_custkey] c_custkey, c_nationkey
      copy n2 [key n2.n_nationkey]
        scan nation n2 [key n_nationkey] n_nationkey, n_name
      copy n1 [key n1.n_nationkey]
        scan nation n1 [key n_nationkey] n_nationkey, n_regionkey
      copy region [key region.r_regionkey]
        project region.r_regionkey
          filter region.r_name = 'AMERICA'
            scan region region [key r_regionkey] r_regionkey, r_name
