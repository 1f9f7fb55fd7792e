-- Full images of a trusted source pass through: no state at all.
CREATE TABLE item (i_id BIGINT PRIMARY KEY, i_kind STRING, i_price DECIMAL(9,2))
WITH (policy = 'trust');
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
    <- relation item, by i_id; policy trust; filter item.i_price > 10.00 (before the route)
    -> changes of the view

state
  none: rows pass through
