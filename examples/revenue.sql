-- Revenue per year, kept current from folders of CSV change files.
--
--     everview run    examples/revenue.sql --once
--     everview verify examples/revenue.sql
--
-- Each file has a header; the column `op` says what its rows do: + inserts, - deletes, u updates by
-- key. Add a file while `everview run` is going and the answer follows. Paths are relative to this
-- file.

CREATE TABLE orders (
    o_orderkey BIGINT PRIMARY KEY, o_orderdate DATE
) WITH (connector = 'csv', path = 'revenue/orders', change_column = 'op');

CREATE TABLE lineitem (
    l_orderkey BIGINT REFERENCES orders, l_linenumber INT, l_price DECIMAL(15,2),
    PRIMARY KEY (l_orderkey, l_linenumber)
) WITH (connector = 'csv', path = 'revenue/lineitem', change_column = 'op');

CREATE VIEW revenue AS
SELECT year(o_orderdate) AS year, sum(l_price) AS revenue, count(*) AS items
FROM lineitem, orders
WHERE l_orderkey = o_orderkey
GROUP BY year(o_orderdate);
