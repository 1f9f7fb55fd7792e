-- supplier is compared with partsupp only; lineitem = partsupp = supplier holds through the edge.
SELECT l_orderkey, s_name
FROM lineitem, partsupp, supplier
WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey AND ps_suppkey = s_suppkey
  AND l_quantity > ps_availqty

-- plan ------------------------------------------------------------------------
== answer: bound
project l_orderkey := lineitem.l_orderkey, s_name := supplier.s_name
  filter (lineitem.l_partkey = partsupp.ps_partkey) and (lineitem.l_suppkey = partsupp.ps_suppkey) and (partsupp.ps_suppkey = supplier.s_suppkey) and (lineitem.l_quantity > cast(partsupp.ps_availqty as DECIMAL(15,2)))
    join on TRUE
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
      scan partsupp partsupp [key ps_partkey, ps_suppkey] ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment
      scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
== answer: merge
project l_orderkey := lineitem.l_orderkey, s_name := supplier.s_name
  join on (lineitem.l_partkey = partsupp.ps_partkey) and (lineitem.l_suppkey = partsupp.ps_suppkey) and (partsupp.ps_suppkey = supplier.s_suppkey) and (lineitem.l_quantity > cast(partsupp.ps_availqty as DECIMAL(15,2)))
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    scan partsupp partsupp [key ps_partkey, ps_suppkey] ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment
    scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
== answer: keyjoin
project l_orderkey := lineitem.l_orderkey, s_name := supplier.s_name
  keyjoin root lineitem
    edge lineitem (lineitem.l_partkey, lineitem.l_suppkey) -> partsupp
    edge partsupp (partsupp.ps_suppkey) -> supplier
    assert at lineitem: lineitem.l_quantity > cast(partsupp.ps_availqty as DECIMAL(15,2))
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    copy partsupp [key partsupp.ps_partkey, partsupp.ps_suppkey]
      scan partsupp partsupp [key ps_partkey, ps_suppkey] ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment
    copy supplier [key supplier.s_suppkey]
      scan supplier supplier [key s_suppkey] s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
== answer: prune
project l_orderkey := lineitem.l_orderkey, s_name := supplier.s_name
  keyjoin root lineitem
    edge lineitem (lineitem.l_partkey, lineitem.l_suppkey) -> partsupp
    edge partsupp (partsupp.ps_suppkey) -> supplier
    assert at lineitem: lineitem.l_quantity > cast(partsupp.ps_availqty as DECIMAL(15,2))
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity
    copy partsupp [key partsupp.ps_partkey, partsupp.ps_suppkey]
      scan partsupp partsupp [key ps_partkey, ps_suppkey] ps_partkey, ps_suppkey, ps_availqty
    copy supplier [key supplier.s_suppkey]
      scan supplier supplier [key s_suppkey] s_suppkey, s_name
