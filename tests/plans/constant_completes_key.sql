-- Part of a key may be given by a constant: the edge holds it as a computed column.
SELECT l_orderkey, ps_supplycost
FROM lineitem, partsupp
WHERE l_partkey = ps_partkey AND ps_suppkey = 5

-- plan ------------------------------------------------------------------------
== answer: bound
project l_orderkey := lineitem.l_orderkey, ps_supplycost := partsupp.ps_supplycost
  filter (lineitem.l_partkey = partsupp.ps_partkey) and (partsupp.ps_suppkey = 5)
    join on TRUE
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
      scan partsupp partsupp [key ps_partkey, ps_suppkey] ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment
== answer: merge
project l_orderkey := lineitem.l_orderkey, ps_supplycost := partsupp.ps_supplycost
  join on (lineitem.l_partkey = partsupp.ps_partkey) and (partsupp.ps_suppkey = 5)
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    scan partsupp partsupp [key ps_partkey, ps_suppkey] ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment
== answer: push
project l_orderkey := lineitem.l_orderkey, ps_supplycost := partsupp.ps_supplycost
  join on lineitem.l_partkey = partsupp.ps_partkey
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    filter partsupp.ps_suppkey = 5
      scan partsupp partsupp [key ps_partkey, ps_suppkey] ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment
== answer: keyjoin
project l_orderkey := lineitem.l_orderkey, ps_supplycost := partsupp.ps_supplycost
  keyjoin root lineitem
    edge lineitem (lineitem.l_partkey, lineitem.partsupp_key) -> partsupp
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      project lineitem.l_orderkey, lineitem.l_partkey, lineitem.l_suppkey, lineitem.l_linenumber, lineitem.l_quantity, lineitem.l_extendedprice, lineitem.l_discount, lineitem.l_tax, lineitem.l_returnflag, lineitem.l_linestatus, lineitem.l_shipdate, lineitem.l_commitdate, lineitem.l_receiptdate, lineitem.l_shipinstruct, lineitem.l_shipmode, lineitem.l_comment, lineitem.partsupp_key := 5
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    copy partsupp [key partsupp.ps_partkey, partsupp.ps_suppkey]
      filter partsupp.ps_suppkey = 5
        scan partsupp partsupp [key ps_partkey, ps_suppkey] ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment
== answer: prune
project l_orderkey := lineitem.l_orderkey, ps_supplycost := partsupp.ps_supplycost
  keyjoin root lineitem
    edge lineitem (lineitem.l_partkey, lineitem.partsupp_key) -> partsupp
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      project lineitem.l_orderkey, lineitem.l_partkey, lineitem.l_linenumber, lineitem.partsupp_key := 5
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_linenumber
    copy partsupp [key partsupp.ps_partkey, partsupp.ps_suppkey]
      filter partsupp.ps_suppkey = 5
        scan partsupp partsupp [key ps_partkey, ps_suppkey] ps_partkey, ps_suppkey, ps_supplycost
