-- An INT key held by a BIGINT column is narrowed, and the other way round widened.
CREATE TABLE small (k INT PRIMARY KEY, name STRING);
CREATE TABLE large (k BIGINT PRIMARY KEY, name STRING);
CREATE TABLE facts (f BIGINT PRIMARY KEY, to_small BIGINT, to_large INT);
CREATE VIEW v AS
SELECT f, small.name, large.name AS other
FROM facts, small, large
WHERE to_small = small.k AND to_large = large.k

-- plan ------------------------------------------------------------------------
== v: bound
project f := facts.f, name := small.name, other := large.name
  filter (facts.to_small = cast(small.k as BIGINT)) and (cast(facts.to_large as BIGINT) = large.k)
    join on TRUE
      scan facts facts [key f] f, to_small, to_large
      scan small small [key k] k, name
      scan large large [key k] k, name
== v: merge
project f := facts.f, name := small.name, other := large.name
  join on (facts.to_small = cast(small.k as BIGINT)) and (cast(facts.to_large as BIGINT) = large.k)
    scan facts facts [key f] f, to_small, to_large
    scan small small [key k] k, name
    scan large large [key k] k, name
== v: keyjoin
project f := facts.f, name := small.name, other := large.name
  keyjoin root facts
    edge facts (facts.small_key) -> small
    edge facts (facts.large_key) -> large
    copy facts [key facts.f]
      project facts.f, facts.to_small, facts.to_large, facts.small_key := try_cast(facts.to_small as INT), facts.large_key := cast(facts.to_large as BIGINT)
        scan facts facts [key f] f, to_small, to_large
    copy small [key small.k]
      scan small small [key k] k, name
    copy large [key large.k]
      scan large large [key k] k, name
== v: prune
project f := facts.f, name := small.name, other := large.name
  keyjoin root facts
    edge facts (facts.small_key) -> small
    edge facts (facts.large_key) -> large
    copy facts [key facts.f]
      project facts.f, facts.small_key := try_cast(facts.to_small as INT), facts.large_key := cast(facts.to_large as BIGINT)
        scan facts facts [key f] f, to_small, to_large
    copy small [key small.k]
      scan small small [key k] k, name
    copy large [key large.k]
      scan large large [key k] k, name
