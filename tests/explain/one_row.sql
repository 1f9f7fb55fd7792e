-- An aggregate without GROUP BY: one row, in one shard, merged from partials.
CREATE TABLE item (i_id BIGINT PRIMARY KEY, i_kind STRING, i_price DECIMAL(9,2), i_note STRING);
CREATE VIEW total AS SELECT sum(i_price) AS price, count(*) AS n FROM item WHERE i_kind = 'a';

-- explain ---------------------------------------------------------------------
view total(price DECIMAL(19,2), n BIGINT)
  key: none (rows count; no upsert form)
  changes: net as they leave

plan
  group () | price := sum(item.i_price) DECIMAL(19,2), n := count(*) BIGINT
    filter item.i_kind = 'a'
      scan item item [key i_id] i_id, i_kind, i_price

stages (2), 8 shards
  stage 0
    <- relation item, by item.i_id; policy reject; filter item.i_kind = 'a' (failing rows travel as their key)
    gate: knows the rows that are there, to apply the policy
    -> stage 1
  stage 1
    <- stage 0, to one shard; as partials of each group
    group by nothing (one row)
    -> changes of the view

state
  stage 0: each row of item in one shard, about 76 bytes of index; as many as item has
  stage 1: one group, always there, about 88 bytes
