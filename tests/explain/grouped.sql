-- Few groups: partials of each shard, merged by group.
CREATE TABLE item (i_id BIGINT PRIMARY KEY, i_kind STRING, i_price DECIMAL(9,2), i_note STRING);
CREATE VIEW kinds AS SELECT i_kind, avg(i_price) AS mean FROM item GROUP BY i_kind
HAVING avg(i_price) > 1;

-- explain ---------------------------------------------------------------------
view kinds(i_kind STRING, mean DECIMAL(13,6))
  key: i_kind
  changes: net as they leave

plan
  filter mean > 1.000000
    group i_kind := item.i_kind | mean := avg(item.i_price) DECIMAL(13,6)
      scan item item [key i_id] i_id, i_kind, i_price

stages (2), 8 shards
  stage 0
    <- relation item, by item.i_id; policy reject
    gate: knows the rows that are there, to apply the policy
    -> stage 1
  stage 1
    <- stage 0, by i_kind; as partials of each group
    group by i_kind
    keep mean > 1.000000
    -> changes of the view

state
  stage 0: each row of item in one shard, about 76 bytes of index; as many as item has
  stage 1: each group, about 88 bytes; as many as there are groups
