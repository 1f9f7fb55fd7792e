-- A table without key can only be the root; its rows count with their multiplicity.
CREATE TABLE clicks (page BIGINT, at TIMESTAMP);
CREATE TABLE page (id BIGINT PRIMARY KEY, url STRING);
CREATE VIEW hits AS SELECT url, count(*) AS n FROM clicks JOIN page ON clicks.page = page.id GROUP BY url

-- plan ------------------------------------------------------------------------
== hits: bound
project url, n
  group url := page.url | n := count(*) BIGINT
    join on clicks.page = page.id
      scan clicks clicks page, at
      scan page page [key id] id, url
== hits: merge
group url := page.url | n := count(*) BIGINT
  join on clicks.page = page.id
    scan clicks clicks page, at
    scan page page [key id] id, url
== hits: keyjoin
group url := page.url | n := count(*) BIGINT
  keyjoin root clicks
    edge clicks (clicks.page) -> page
    copy clicks
      scan clicks clicks page, at
    copy page [key page.id]
      scan page page [key id] id, url
== hits: prune
group url := page.url | n := count(*) BIGINT
  keyjoin root clicks
    edge clicks (clicks.page) -> page
    copy clicks
      project clicks.page
        scan clicks clicks page, at
    copy page [key page.id]
      scan page page [key id] id, url
