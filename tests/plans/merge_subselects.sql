-- Sub-selects without aggregates dissolve, with their expressions; the same table twice stays apart.
SELECT big.name, small.name AS other, big.total + small.total AS both_totals
FROM (SELECT c_custkey AS k, c_name AS name, c_acctbal * 2 AS total, c_nationkey AS nation
      FROM customer WHERE c_acctbal > 100) AS big
JOIN (SELECT n_nationkey AS k, n_name AS name, 1 AS total FROM nation) AS small
  ON big.nation = small.k
WHERE big.total < 500

-- plan ------------------------------------------------------------------------
== answer: bound
project name := big.name, other := small.name, both_totals := big.total + cast(small.total as DECIMAL(10,0))
  filter big.total < 500.00
    join on big.nation = small.k
      project big.k := k, big.name := name, big.total := total, big.nation := nation
        project k := customer.c_custkey, name := customer.c_name, total := customer.c_acctbal * 2, nation := customer.c_nationkey
          filter customer.c_acctbal > 100.00
            scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
      project small.k := k, small.name := name, small.total := total
        project k := nation.n_nationkey, name := nation.n_name, total := 1
          scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: merge
project name := customer.c_name, other := nation.n_name, both_totals := (customer.c_acctbal * 2) + cast(1 as DECIMAL(10,0))
  join on (customer.c_acctbal > 100.00) and (customer.c_nationkey = nation.n_nationkey) and ((customer.c_acctbal * 2) < 500.00)
    scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: simplify
project name := customer.c_name, other := nation.n_name, both_totals := (customer.c_acctbal * 2) + 1
  join on (customer.c_acctbal > 100.00) and (customer.c_nationkey = nation.n_nationkey) and ((customer.c_acctbal * 2) < 500.00)
    scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: push
project name := customer.c_name, other := nation.n_name, both_totals := (customer.c_acctbal * 2) + 1
  join on customer.c_nationkey = nation.n_nationkey
    filter (customer.c_acctbal > 100.00) and ((customer.c_acctbal * 2) < 500.00)
      scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: keyjoin
project name := customer.c_name, other := nation.n_name, both_totals := (customer.c_acctbal * 2) + 1
  keyjoin root customer
    edge customer (customer.c_nationkey) -> nation
    copy customer [key customer.c_custkey]
      filter (customer.c_acctbal > 100.00) and ((customer.c_acctbal * 2) < 500.00)
        scan customer customer [key c_custkey] c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
    copy nation [key nation.n_nationkey]
      scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
== answer: prune
project name := customer.c_name, other := nation.n_name, both_totals := (customer.c_acctbal * 2) + 1
  keyjoin root customer
    edge customer (customer.c_nationkey) -> nation
    copy customer [key customer.c_custkey]
      filter (customer.c_acctbal > 100.00) and ((customer.c_acctbal * 2) < 500.00)
        scan customer customer [key c_custkey] c_custkey, c_name, c_nationkey, c_acctbal
    copy nation [key nation.n_nationkey]
      scan nation nation [key n_nationkey] n_nationkey, n_name
