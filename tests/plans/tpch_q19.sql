SELECT sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM lineitem, part
WHERE (
    p_partkey = l_partkey
    AND p_brand = 'Brand#12'
    AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
    AND l_quantity >= 1 AND l_quantity <= 1 + 10
    AND p_size BETWEEN 1 AND 5
    AND l_shipmode IN ('AIR', 'AIR REG')
    AND l_shipinstruct = 'DELIVER IN PERSON'
  )
  OR (
    p_partkey = l_partkey
    AND p_brand = 'Brand#23'
    AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
    AND l_quantity >= 10 AND l_quantity <= 10 + 10
    AND p_size BETWEEN 1 AND 10
    AND l_shipmode IN ('AIR', 'AIR REG')
    AND l_shipinstruct = 'DELIVER IN PERSON'
  )
  OR (
    p_partkey = l_partkey
    AND p_brand = 'Brand#34'
    AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
    AND l_quantity >= 20 AND l_quantity <= 20 + 10
    AND p_size BETWEEN 1 AND 15
    AND l_shipmode IN ('AIR', 'AIR REG')
    AND l_shipinstruct = 'DELIVER IN PERSON'
  )

-- plan ------------------------------------------------------------------------
== answer: bound
project revenue
  group () | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    filter ((part.p_partkey = lineitem.l_partkey) and (part.p_brand = 'Brand#12') and (part.p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')) and (lineitem.l_quantity >= 1.00) and (lineitem.l_quantity <= cast(1 + 10 as DECIMAL(15,2))) and (part.p_size >= 1) and (part.p_size <= 5) and (lineitem.l_shipmode in ('AIR', 'AIR REG')) and (lineitem.l_shipinstruct = 'DELIVER IN PERSON')) or ((part.p_partkey = lineitem.l_partkey) and (part.p_brand = 'Brand#23') and (part.p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')) and (lineitem.l_quantity >= 10.00) and (lineitem.l_quantity <= cast(10 + 10 as DECIMAL(15,2))) and (part.p_size >= 1) and (part.p_size <= 10) and (lineitem.l_shipmode in ('AIR', 'AIR REG')) and (lineitem.l_shipinstruct = 'DELIVER IN PERSON')) or ((part.p_partkey = lineitem.l_partkey) and (part.p_brand = 'Brand#34') and (part.p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')) and (lineitem.l_quantity >= 20.00) and (lineitem.l_quantity <= cast(20 + 10 as DECIMAL(15,2))) and (part.p_size >= 1) and (part.p_size <= 15) and (lineitem.l_shipmode in ('AIR', 'AIR REG')) and (lineitem.l_shipinstruct = 'DELIVER IN PERSON'))
      join on TRUE
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
        scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
== answer: simplify
project revenue
  group () | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
    filter ((part.p_partkey = lineitem.l_partkey) and (part.p_brand = 'Brand#12') and (part.p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')) and (lineitem.l_quantity >= 1.00) and (lineitem.l_quantity <= 11.00) and (part.p_size >= 1) and (part.p_size <= 5) and (lineitem.l_shipmode in ('AIR', 'AIR REG')) and (lineitem.l_shipinstruct = 'DELIVER IN PERSON')) or ((part.p_partkey = lineitem.l_partkey) and (part.p_brand = 'Brand#23') and (part.p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')) and (lineitem.l_quantity >= 10.00) and (lineitem.l_quantity <= 20.00) and (part.p_size >= 1) and (part.p_size <= 10) and (lineitem.l_shipmode in ('AIR', 'AIR REG')) and (lineitem.l_shipinstruct = 'DELIVER IN PERSON')) or ((part.p_partkey = lineitem.l_partkey) and (part.p_brand = 'Brand#34') and (part.p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')) and (lineitem.l_quantity >= 20.00) and (lineitem.l_quantity <= 30.00) and (part.p_size >= 1) and (part.p_size <= 15) and (lineitem.l_shipmode in ('AIR', 'AIR REG')) and (lineitem.l_shipinstruct = 'DELIVER IN PERSON'))
      join on TRUE
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
        scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
== answer: merge
group () | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
  join on ((part.p_partkey = lineitem.l_partkey) and (part.p_brand = 'Brand#12') and (part.p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')) and (lineitem.l_quantity >= 1.00) and (lineitem.l_quantity <= 11.00) and (part.p_size >= 1) and (part.p_size <= 5) and (lineitem.l_shipmode in ('AIR', 'AIR REG')) and (lineitem.l_shipinstruct = 'DELIVER IN PERSON')) or ((part.p_partkey = lineitem.l_partkey) and (part.p_brand = 'Brand#23') and (part.p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')) and (lineitem.l_quantity >= 10.00) and (lineitem.l_quantity <= 20.00) and (part.p_size >= 1) and (part.p_size <= 10) and (lineitem.l_shipmode in ('AIR', 'AIR REG')) and (lineitem.l_shipinstruct = 'DELIVER IN PERSON')) or ((part.p_partkey = lineitem.l_partkey) and (part.p_brand = 'Brand#34') and (part.p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')) and (lineitem.l_quantity >= 20.00) and (lineitem.l_quantity <= 30.00) and (part.p_size >= 1) and (part.p_size <= 15) and (lineitem.l_shipmode in ('AIR', 'AIR REG')) and (lineitem.l_shipinstruct = 'DELIVER IN PERSON'))
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
== answer: derive
group () | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
  join on (part.p_partkey = lineitem.l_partkey) and (part.p_size >= 1) and (lineitem.l_shipmode in ('AIR', 'AIR REG')) and (lineitem.l_shipinstruct = 'DELIVER IN PERSON') and (((part.p_brand = 'Brand#12') and (part.p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')) and (lineitem.l_quantity >= 1.00) and (lineitem.l_quantity <= 11.00) and (part.p_size <= 5)) or ((part.p_brand = 'Brand#23') and (part.p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')) and (lineitem.l_quantity >= 10.00) and (lineitem.l_quantity <= 20.00) and (part.p_size <= 10)) or ((part.p_brand = 'Brand#34') and (part.p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')) and (lineitem.l_quantity >= 20.00) and (lineitem.l_quantity <= 30.00) and (part.p_size <= 15))) and (((lineitem.l_quantity >= 1.00) and (lineitem.l_quantity <= 11.00)) or ((lineitem.l_quantity >= 10.00) and (lineitem.l_quantity <= 20.00)) or ((lineitem.l_quantity >= 20.00) and (lineitem.l_quantity <= 30.00))) and (((part.p_brand = 'Brand#12') and (part.p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')) and (part.p_size <= 5)) or ((part.p_brand = 'Brand#23') and (part.p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')) and (part.p_size <= 10)) or ((part.p_brand = 'Brand#34') and (part.p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')) and (part.p_size <= 15)))
    scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
== answer: push
group () | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
  join on (part.p_partkey = lineitem.l_partkey) and (((part.p_brand = 'Brand#12') and (part.p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')) and (lineitem.l_quantity >= 1.00) and (lineitem.l_quantity <= 11.00) and (part.p_size <= 5)) or ((part.p_brand = 'Brand#23') and (part.p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')) and (lineitem.l_quantity >= 10.00) and (lineitem.l_quantity <= 20.00) and (part.p_size <= 10)) or ((part.p_brand = 'Brand#34') and (part.p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')) and (lineitem.l_quantity >= 20.00) and (lineitem.l_quantity <= 30.00) and (part.p_size <= 15)))
    filter (lineitem.l_shipmode in ('AIR', 'AIR REG')) and (lineitem.l_shipinstruct = 'DELIVER IN PERSON') and (((lineitem.l_quantity >= 1.00) and (lineitem.l_quantity <= 11.00)) or ((lineitem.l_quantity >= 10.00) and (lineitem.l_quantity <= 20.00)) or ((lineitem.l_quantity >= 20.00) and (lineitem.l_quantity <= 30.00)))
      scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    filter (part.p_size >= 1) and (((part.p_brand = 'Brand#12') and (part.p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')) and (part.p_size <= 5)) or ((part.p_brand = 'Brand#23') and (part.p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')) and (part.p_size <= 10)) or ((part.p_brand = 'Brand#34') and (part.p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')) and (part.p_size <= 15)))
      scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
== answer: keyjoin
group () | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
  keyjoin root lineitem
    edge lineitem (lineitem.l_partkey) -> part
    assert at lineitem: ((part.p_brand = 'Brand#12') and (part.p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')) and (lineitem.l_quantity >= 1.00) and (lineitem.l_quantity <= 11.00) and (part.p_size <= 5)) or ((part.p_brand = 'Brand#23') and (part.p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')) and (lineitem.l_quantity >= 10.00) and (lineitem.l_quantity <= 20.00) and (part.p_size <= 10)) or ((part.p_brand = 'Brand#34') and (part.p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')) and (lineitem.l_quantity >= 20.00) and (lineitem.l_quantity <= 30.00) and (part.p_size <= 15))
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      filter (lineitem.l_shipmode in ('AIR', 'AIR REG')) and (lineitem.l_shipinstruct = 'DELIVER IN PERSON') and (((lineitem.l_quantity >= 1.00) and (lineitem.l_quantity <= 11.00)) or ((lineitem.l_quantity >= 10.00) and (lineitem.l_quantity <= 20.00)) or ((lineitem.l_quantity >= 20.00) and (lineitem.l_quantity <= 30.00)))
        scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    copy part [key part.p_partkey]
      filter (part.p_size >= 1) and (((part.p_brand = 'Brand#12') and (part.p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')) and (part.p_size <= 5)) or ((part.p_brand = 'Brand#23') and (part.p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')) and (part.p_size <= 10)) or ((part.p_brand = 'Brand#34') and (part.p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')) and (part.p_size <= 15)))
        scan part part [key p_partkey] p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
== answer: prune
group () | revenue := sum(lineitem.l_extendedprice * (1 - lineitem.l_discount)) DECIMAL(38,4)
  keyjoin root lineitem
    edge lineitem (lineitem.l_partkey) -> part
    assert at lineitem: ((part.p_brand = 'Brand#12') and (part.p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')) and (lineitem.l_quantity >= 1.00) and (lineitem.l_quantity <= 11.00) and (part.p_size <= 5)) or ((part.p_brand = 'Brand#23') and (part.p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')) and (lineitem.l_quantity >= 10.00) and (lineitem.l_quantity <= 20.00) and (part.p_size <= 10)) or ((part.p_brand = 'Brand#34') and (part.p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')) and (lineitem.l_quantity >= 20.00) and (lineitem.l_quantity <= 30.00) and (part.p_size <= 15))
    copy lineitem [key lineitem.l_orderkey, lineitem.l_linenumber]
      project lineitem.l_orderkey, lineitem.l_partkey, lineitem.l_linenumber, lineitem.l_quantity, lineitem.l_extendedprice, lineitem.l_discount
        filter (lineitem.l_shipmode in ('AIR', 'AIR REG')) and (lineitem.l_shipinstruct = 'DELIVER IN PERSON') and (((lineitem.l_quantity >= 1.00) and (lineitem.l_quantity <= 11.00)) or ((lineitem.l_quantity >= 10.00) and (lineitem.l_quantity <= 20.00)) or ((lineitem.l_quantity >= 20.00) and (lineitem.l_quantity <= 30.00)))
          scan lineitem lineitem [key l_orderkey, l_linenumber] l_orderkey, l_partkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_shipinstruct, l_shipmode
    copy part [key part.p_partkey]
      filter (part.p_size >= 1) and (((part.p_brand = 'Brand#12') and (part.p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')) and (part.p_size <= 5)) or ((part.p_brand = 'Brand#23') and (part.p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')) and (part.p_size <= 10)) or ((part.p_brand = 'Brand#34') and (part.p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')) and (part.p_size <= 15)))
        scan part part [key p_partkey] p_partkey, p_brand, p_size, p_container
