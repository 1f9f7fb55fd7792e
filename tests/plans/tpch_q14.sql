SELECT
  100.00 * sum(CASE
    WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount)
    ELSE 0
  END) / sum(l_extendedprice * (1 - l_discount)) AS promo_revenue
FROM lineitem, part
WHERE l_partkey = p_partkey
  AND l_shipdate >= DATE '1995-09-01'
  AND l_shipdate < DATE '1995-09-01' + INTERVAL '1' MONTH

-- plan ------------------------------------------------------------------------
== answer: bound
project promo_revenue := (100.00 * sum) / sum_2
  group () | sum := sum(case when part.p_type like 'PROMO%' then lineitem.l_extendedprice * (1 - lineitem.l_discount) else 0.0000 end) DECIMAL(38,4), sum_2 := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    filter (lineitem.l_partkey = part.p_partkey) and (lineitem.l_shipdate >= DATE '1995-09-01') and (lineitem.l_shipdate < DATE '1995-10-01')
      join on TRUE
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
        scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
== answer: merge
project promo_revenue := (100.00 * sum) / sum_2
  group () | sum := sum(case when part.p_type like 'PROMO%' then lineitem.l_extendedprice * (1 - lineitem.l_discount) else 0.0000 end) DECIMAL(38,4), sum_2 := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    join on (lineitem.l_partkey = part.p_partkey) and (lineitem.l_shipdate >= DATE '1995-09-01') and (lineitem.l_shipdate < DATE '1995-10-01')
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
      scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
== answer: push
project promo_revenue := (100.00 * sum) / sum_2
  group () | sum := sum(case when part.p_type like 'PROMO%' then lineitem.l_extendedprice * (1 - lineitem.l_discount) else 0.0000 end) DECIMAL(38,4), sum_2 := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    join on lineitem.l_partkey = part.p_partkey
      filter (lineitem.l_shipdate >= DATE '1995-09-01') and (lineitem.l_shipdate < DATE '1995-10-01')
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
      scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
== answer: keyjoin
project promo_revenue := (100.00 * sum) / sum_2
  group () | sum := sum(case when part.p_type like 'PROMO%' then lineitem.l_extendedprice * (1 - lineitem.l_discount) else 0.0000 end) DECIMAL(38,4), sum_2 := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    keyjoin root lineitem
      edge lineitem (lineitem.l_partkey) -> part
      copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
        filter (lineitem.l_shipdate >= DATE '1995-09-01') and (lineitem.l_shipdate < DATE '1995-10-01')
          scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
      copy part [key part.p_partkey]
        scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
== answer: prune
project promo_revenue := (100.00 * sum) / sum_2
  group () | sum := sum(case when part.p_type like 'PROMO%' then lineitem.l_extendedprice * (1 - lineitem.l_discount) else 0.0000 end) DECIMAL(38,4), sum_2 := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    keyjoin root lineitem
      edge lineitem (lineitem.l_partkey) -> part
      copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
        project lineitem.l_orderkey, lineitem.l_partkey, lineitem.l_linenumber, lineitem.l_extendedprice, lineitem.l_discount
          filter (lineitem.l_shipdate >= DATE '1995-09-01') and (lineitem.l_shipdate < DATE '1995-10-01')
            scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_linenumber, l_extendedprice, l_discount, l_shipdate
      copy part [key part.p_partkey]
        scan part part [key p_partkey] p_partkey, p_type
