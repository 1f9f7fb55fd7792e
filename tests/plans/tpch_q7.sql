SELECT
  supp_nation,
  cust_nation,
  l_year,
  sum(volume) AS revenue
FROM (
  SELECT
    n1.n_name AS supp_nation,
    n2.n_name AS cust_nation,
    extract(YEAR FROM l_shipdate) AS l_year,
    l_extendedprice * (1 - l_discount) AS volume
  FROM supplier, lineitem, orders, customer, nation n1, nation n2
  WHERE s_suppkey = l_suppkey
    AND o_orderkey = l_orderkey
    AND c_custkey = o_custkey
    AND s_nationkey = n1.n_nationkey
    AND c_nationkey = n2.n_nationkey
    AND (
      (n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY')
      OR (n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE')
    )
    AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
) AS shipping
GROUP BY supp_nation, cust_nation, l_year

-- plan ------------------------------------------------------------------------
== answer: bound
project supp_nation, cust_nation, l_year, revenue
  group supp_nation := shipping.supp_nation, cust_nation := shipping.cust_nation, l_year := shipping.l_year | revenue := sum(shipping.volume) DECIMAL(38,4)
    project shipping.supp_nation := supp_nation, shipping.cust_nation := cust_nation, shipping.l_year := l_year, shipping.volume := volume
      project supp_nation := n1.n_name, cust_nation := n2.n_name, l_year := year(lineitem.l_shipdate), volume := lineitem.l_extendedprice * (1 - lineitem.l_discount)
        filter (supplier.s_suppkey = lineitem.l_suppkey) and (orders.o_orderkey = lineitem.l_orderkey) and (customer.c_custkey = orders.o_custkey) and (supplier.s_nationkey = n1.n_nationkey) and (customer.c_nationkey = n2.n_nationkey) and (((n1.n_name = 'FRANCE') and (n2.n_name = 'GERMANY')) or ((n1.n_name = 'GERMANY') and (n2.n_name = 'FRANCE'))) and (lineitem.l_shipdate >= DATE '1995-01-01') and (lineitem.l_shipdate <= DATE '1996-12-31')
          join on TRUE
            scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
            scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
            scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
            scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
            scan nation n1 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
            scan nation n2 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: merge
group supp_nation := n1.n_name, cust_nation := n2.n_name, l_year := year(lineitem.l_shipdate) | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
  join on (supplier.s_suppkey = lineitem.l_suppkey) and (orders.o_orderkey = lineitem.l_orderkey) and (customer.c_custkey = orders.o_custkey) and (supplier.s_nationkey = n1.n_nationkey) and (customer.c_nationkey = n2.n_nationkey) and (((n1.n_name = 'FRANCE') and (n2.n_name = 'GERMANY')) or ((n1.n_name = 'GERMANY') and (n2.n_name = 'FRANCE'))) and (lineitem.l_shipdate >= DATE '1995-01-01') and (lineitem.l_shipdate <= DATE '1996-12-31')
    scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    scan nation n1 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
    scan nation n2 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: derive
group supp_nation := n1.n_name, cust_nation := n2.n_name, l_year := year(lineitem.l_shipdate) | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
  join on (supplier.s_suppkey = lineitem.l_suppkey) and (orders.o_orderkey = lineitem.l_orderkey) and (customer.c_custkey = orders.o_custkey) and (supplier.s_nationkey = n1.n_nationkey) and (customer.c_nationkey = n2.n_nationkey) and (((n1.n_name = 'FRANCE') and (n2.n_name = 'GERMANY')) or ((n1.n_name = 'GERMANY') and (n2.n_name = 'FRANCE'))) and (lineitem.l_shipdate >= DATE '1995-01-01') and (lineitem.l_shipdate <= DATE '1996-12-31') and ((n1.n_name = 'FRANCE') or (n1.n_name = 'GERMANY')) and ((n2.n_name = 'GERMANY') or (n2.n_name = 'FRANCE'))
    scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    scan nation n1 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
    scan nation n2 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: push
group supp_nation := n1.n_name, cust_nation := n2.n_name, l_year := year(lineitem.l_shipdate) | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
  join on (supplier.s_suppkey = lineitem.l_suppkey) and (orders.o_orderkey = lineitem.l_orderkey) and (customer.c_custkey = orders.o_custkey) and (supplier.s_nationkey = n1.n_nationkey) and (customer.c_nationkey = n2.n_nationkey) and (((n1.n_name = 'FRANCE') and (n2.n_name = 'GERMANY')) or ((n1.n_name = 'GERMANY') and (n2.n_name = 'FRANCE')))
    scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
    filter (lineitem.l_shipdate >= DATE '1995-01-01') and (lineitem.l_shipdate <= DATE '1996-12-31')
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    filter (n1.n_name = 'FRANCE') or (n1.n_name = 'GERMANY')
      scan nation n1 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
    filter (n2.n_name = 'GERMANY') or (n2.n_name = 'FRANCE')
      scan nation n2 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: keyjoin
group supp_nation := n1.n_name, cust_nation := n2.n_name, l_year := year(lineitem.l_shipdate) | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
  keyjoin root lineitem
    edge lineitem (lineitem.l_suppkey) -> supplier
    edge lineitem (lineitem.l_orderkey) -> orders
    edge orders (orders.o_custkey) -> customer
    edge supplier (supplier.s_nationkey) -> n1
    edge customer (customer.c_nationkey) -> n2
    assert at lineitem: ((n1.n_name = 'FRANCE') and (n2.n_name = 'GERMANY')) or ((n1.n_name = 'GERMANY') and (n2.n_name = 'FRANCE'))
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      filter (lineitem.l_shipdate >= DATE '1995-01-01') and (lineitem.l_shipdate <= DATE '1996-12-31')
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    copy supplier [key supplier.s_suppkey]
      scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
    copy orders [key orders.o_orderkey]
      scan orders orders [key o_orderkey] o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    copy customer [key customer.c_custkey]
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    copy n1 [key n1.n_nationkey]
      filter (n1.n_name = 'FRANCE') or (n1.n_name = 'GERMANY')
        scan nation n1 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
    copy n2 [key n2.n_nationkey]
      filter (n2.n_name = 'GERMANY') or (n2.n_name = 'FRANCE')
        scan nation n2 [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: prune
group supp_nation := n1.n_name, cust_nation := n2.n_name, l_year := year(lineitem.l_shipdate) | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
  keyjoin root lineitem
    edge lineitem (lineitem.l_suppkey) -> supplier
    edge lineitem (lineitem.l_orderkey) -> orders
    edge orders (orders.o_custkey) -> customer
    edge supplier (supplier.s_nationkey) -> n1
    edge customer (customer.c_nationkey) -> n2
    assert at lineitem: ((n1.n_name = 'FRANCE') and (n2.n_name = 'GERMANY')) or ((n1.n_name = 'GERMANY') and (n2.n_name = 'FRANCE'))
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      filter (lineitem.l_shipdate >= DATE '1995-01-01') and (lineitem.l_shipdate <= DATE '1996-12-31')
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_suppkey, l_linenumber, l_extendedprice, l_discount, l_shipdate
    copy supplier [key supplier.s_suppkey]
      scan supplier supplier [key s_suppkey] s_suppkey, s_nationkey
    copy orders [key orders.o_orderkey]
      scan orders orders [key o_orderkey] o_orderkey, o_custkey
    copy customer [key customer.c_custkey]
      scan customer customer [key c_custkey] c_custkey, c_nationkey
    copy n1 [key n1.n_nationkey]
      filter (n1.n_name = 'FRANCE') or (n1.n_name = 'GERMANY')
        scan nation n1 [key n_nationkey] n_nationkey, n_name
    copy n2 [key n2.n_nationkey]
      filter (n2.n_name = 'GERMANY') or (n2.n_name = 'FRANCE')
        scan nation n2 [key n_nationkey] n_nationkey, n_name
