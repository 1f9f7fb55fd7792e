-- The schema has a cycle, the query has none.
CREATE TABLE employee (id BIGINT PRIMARY KEY, name STRING, manager BIGINT REFERENCES employee);
CREATE VIEW bosses AS
SELECT e.name, b.name AS boss, bb.name AS boss_of_boss
FROM employee e JOIN employee b ON e.manager = b.id JOIN employee bb ON b.manager = bb.id

-- plan ------------------------------------------------------------------------
== bosses: bound
project name := e.name, boss := b.name, boss_of_boss := bb.name
  join on (e.manager = b.id) and (b.manager = bb.id)
    scan employee e [key id] id, name, manager
    scan employee b [key id] id, name, manager
    scan employee bb [key id] id, name, manager
== bosses: keyjoin
project name := e.name, boss := b.name, boss_of_boss := bb.name
  keyjoin root e
    edge e (e.manager) -> b
    edge b (b.manager) -> bb
    copy e [key e.id]
      scan employee e [key id] id, name, manager
    copy b [key b.id]
      scan employee b [key id] id, name, manager
    copy bb [key bb.id]
      scan employee bb [key id] id, name, manager
== bosses: prune
project name := e.name, boss := b.name, boss_of_boss := bb.name
  keyjoin root e
    edge e (e.manager) -> b
    edge b (b.manager) -> bb
    copy e [key e.id]
      scan employee e [key id] id, name, manager
    copy b [key b.id]
      scan employee b [key id] id, name, manager
    copy bb [key bb.id]
      scan employee bb [key id] id, name
