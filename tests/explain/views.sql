-- A grouped view is a relation keyed by its GROUP BY columns.
CREATE TABLE item (i_id BIGINT PRIMARY KEY, i_kind STRING, i_price DECIMAL(9,2), i_note STRING);
CREATE TABLE kind (k_kind STRING PRIMARY KEY, k_limit DECIMAL(9,2)) WITH (rows = 10);
CREATE VIEW sums AS SELECT i_kind, sum(i_price) AS price FROM item GROUP BY i_kind;
CREATE VIEW over AS SELECT i_kind, price - k_limit AS by FROM sums JOIN kind ON k_kind = i_kind
WHERE price > k_limit;

-- explain ---------------------------------------------------------------------
view sums(i_kind STRING, price DECIMAL(19,2))
  key: i_kind
  changes: net as they leave

plan
  group i_kind := item.i_kind | price := sum(item.i_price) DECIMAL(19,2)
    scan item item [key i_id] i_id, i_kind, i_price

stages (2), 8 shards
  stage 0
    <- relation item, by item.i_id; policy reject
    gate: knows the rows that are there, to apply the policy
    -> stage 1
  stage 1
    <- stage 0, by i_kind; as partials of each group
    group by i_kind
    -> changes of the view

state
  stage 0: each row of item in one shard, about 76 bytes of index; as many as item has
  stage 1: each group, about 88 bytes; as many as there are groups

view over(i_kind STRING, by DECIMAL(20,2))
  key: i_kind
  changes: net as they leave

plan
  project i_kind := sums.i_kind, by := sums.price - kind.k_limit
    keyjoin root sums
      edge sums (sums.i_kind) -> kind
      assert at sums: sums.price > cast(kind.k_limit as DECIMAL(19,2))
      copy sums [key sums.i_kind]
        project sums.i_kind := i_kind, sums.price := price
          group i_kind := item.i_kind | price := sum(item.i_price) DECIMAL(19,2)
            scan item item [key i_id] i_id, i_kind, i_price
      copy kind [key kind.k_kind]
        scan kind kind [key k_kind] k_kind, k_limit

join graph
  sums (root)
     i_kind -> kind
  assert at sums: sums.price > cast(kind.k_limit as DECIMAL(19,2))

stages (3), 8 shards
  stage 0
    <- relation item, by item.i_id; policy reject
    gate: knows the rows that are there, to apply the policy
    -> stage 1
  stage 1
    <- stage 0, by i_kind; as partials of each group
    group by i_kind
    make sums.i_kind, sums.price
    -> stage 2
  stage 2
    <- stage 1, by sums.i_kind
    <- relation kind, to every shard; policy reject
    join sums -> kind
    assert sums.price > cast(kind.k_limit as DECIMAL(19,2))
    make i_kind, by
    -> changes of the view

state
  stage 0: each row of item in one shard, about 76 bytes of index; as many as item has
  stage 1: each group, about 88 bytes; as many as there are groups
  stage 2: each row of sums in one shard, about 88 bytes of index; as many as stage 1 gives
  stage 2: each row of kind in every shard, about 68 bytes of index; as many as kind has
