-- Not along a key of either side.
SELECT a.l_orderkey FROM lineitem a, lineitem b WHERE a.l_orderkey = b.l_orderkey

-- plan ------------------------------------------------------------------------
== answer: bound
project l_orderkey := a.l_orderkey
  filter a.l_orderkey = b.l_orderkey
    join on TRUE
      scan lineitem a [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
      scan lineitem b [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: merge
project l_orderkey := a.l_orderkey
  join on a.l_orderkey = b.l_orderkey
    scan lineitem a [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    scan lineitem b [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
== answer: refused
[UNSUPPORTED.JOIN] at 2:21 the join of a, b is not along keys: from a there is no way to b by its key (l_orderkey, l_linenumber)
  SELECT a.l_orderkey FROM lineitem a, lineitem b WHERE a.l_orderkey = b.l_orderkey
                      ^^^^
  fix: one input must reach all others by equalities with their whole PRIMARY KEY; join on the key, declare it, or group the input by the joined columns in a sub-select
