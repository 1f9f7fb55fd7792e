-- USING merges the column, * shows it once.
CREATE TABLE a (k BIGINT PRIMARY KEY, x INT);
CREATE TABLE b (id BIGINT PRIMARY KEY, k BIGINT, y INT);
CREATE VIEW v AS SELECT * FROM b JOIN a USING (k) WHERE k > 3

-- plan ------------------------------------------------------------------------
== v: bound
project id := b.id, k := b.k, y := b.y, x := a.x
  filter b.k > 3
    join on b.k = a.k
      scan b b [key id] id, k, y
      scan a a [key k] k, x
== v: merge
project id := b.id, k := b.k, y := b.y, x := a.x
  join on (b.k = a.k) and (b.k > 3)
    scan b b [key id] id, k, y
    scan a a [key k] k, x
== v: derive
project id := b.id, k := b.k, y := b.y, x := a.x
  join on (b.k = a.k) and (b.k > 3) and (a.k > 3)
    scan b b [key id] id, k, y
    scan a a [key k] k, x
== v: push
project id := b.id, k := b.k, y := b.y, x := a.x
  join on b.k = a.k
    filter b.k > 3
      scan b b [key id] id, k, y
    filter a.k > 3
      scan a a [key k] k, x
== v: keyjoin
project id := b.id, k := b.k, y := b.y, x := a.x
  keyjoin root b
    edge b (b.k) -> a
    copy b [key b.id]
      filter b.k > 3
        scan b b [key id] id, k, y
    copy a [key a.k]
      filter a.k > 3
        scan a a [key k] k, x
