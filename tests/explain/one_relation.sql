-- Rows of one relation pass a filter: a gate, for only the key of a deleted row may be known.
CREATE TABLE item (i_id BIGINT PRIMARY KEY, i_kind STRING, i_price DECIMAL(9,2), i_note STRING);
CREATE VIEW dear AS SELECT i_id, i_price * 2 AS twice FROM item WHERE i_price > 10;

-- explain ---------------------------------------------------------------------
view dear(i_id BIGINT, twice DECIMAL(11,2))
  key: i_id
  changes: net as they leave

plan
  project i_id := item.i_id, twice := item.i_price * 2
    filter item.i_price > 10.00
      scan item item [key i_id] i_id, i_price

stages (1), 8 shards
  stage 0
    <- relation item, by i_id; policy reject; filter item.i_price > 10.00 (failing rows travel as their key)
    gate: knows the rows that are there, to apply the policy
    -> changes of the view

state
  stage 0: each row of item in one shard, about 68 bytes of index; as many as item has
