-- Without a key rows are counted, and the view has no upsert form.
CREATE TABLE log (at DATE, what STRING);
CREATE VIEW errors AS SELECT at, what FROM log WHERE what LIKE 'error%';

-- explain ---------------------------------------------------------------------
view errors(at DATE, what STRING)
  key: none (rows count; no upsert form)
  changes: net as they leave

plan
  project at := log.at, what := log.what
    filter log.what like 'error%'
      scan log log at, what

stages (1), 8 shards
  stage 0
    <- relation log, by at, what; policy reject; filter log.what like 'error%' (failing rows travel as they are)
    gate: knows the rows that are there, to apply the policy
    -> changes of the view

state
  stage 0: each row of log in one shard, about 76 bytes of index; as many as log has
