"""What is refused, by name: one table of refusals, and the walk that finds the first of them.

`REFUSALS` maps a code to its message and its fix. `check` raises for the first construct of a
statement, in the order of the text, that is not supported; whatever it lets pass is either bound
by `select` or refused there with a code of the same table.

Not here: errors of types and names found while binding (they use `refuse` too), the parser.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from sqlglot import exp

from everview.errors import Position, SqlError
from everview.sql.dialect import Source


@dataclass(frozen=True, slots=True)
class Refusal:
    """What to say; `{...}` parts are filled in from the text."""

    message: str
    fix: str


REFUSALS: Mapping[str, Refusal] = {
    # ------------------------------------------------------------- whole constructs
    "UNSUPPORTED.STATEMENT": Refusal(
        "{what} is not a statement of a script",
        "a script holds CREATE TABLE, CREATE VIEW ... AS SELECT, or one SELECT",
    ),
    "SYNTAX.DECLARATION": Refusal(
        "this {what} cannot be read",
        "look for a missing semicolon behind it, or for a word that does not belong there",
    ),
    "UNSUPPORTED.ORDER_BY": Refusal(
        "{what} is not supported in a view: its rows have no order",
        "leave it out and sort the snapshot",
    ),
    "UNSUPPORTED.LIMIT": Refusal(
        "{what} is not supported in a view", "leave it out and cut the snapshot"
    ),
    "UNSUPPORTED.DISTINCT": Refusal(
        "SELECT DISTINCT is not supported", "use GROUP BY on the same columns"
    ),
    "UNSUPPORTED.OUTER_JOIN": Refusal(
        "{what} JOIN is not supported",
        "use an inner JOIN; a row then waits until its partner is there",
    ),
    "UNSUPPORTED.SEMI_JOIN": Refusal(
        "{what} JOIN is not supported", "use an inner JOIN along the key"
    ),
    "UNSUPPORTED.NATURAL_JOIN": Refusal(
        "NATURAL JOIN is not supported", "name the columns with JOIN ... USING (...) or ON"
    ),
    "UNSUPPORTED.LATERAL": Refusal(
        "{what} is not supported", "join a sub-select that does not see the outer columns"
    ),
    "UNSUPPORTED.SET_OPERATION": Refusal(
        "{what} is not supported", "declare one view for each SELECT"
    ),
    "UNSUPPORTED.EXISTS": Refusal(
        "EXISTS is not supported", "join along the key of the other relation"
    ),
    "UNSUPPORTED.IN_SUBQUERY": Refusal(
        "IN (SELECT ...) is not supported",
        "join a sub-select in FROM that is grouped by the column",
    ),
    "UNSUPPORTED.SCALAR_SUBQUERY": Refusal(
        "a SELECT inside an expression is not supported", "join a grouped sub-select in FROM"
    ),
    "UNSUPPORTED.QUANTIFIER": Refusal(
        "{what} is not supported", "spell the comparison out, or join along a key"
    ),
    "UNSUPPORTED.WINDOW": Refusal(
        "window functions (OVER) are not supported", "use GROUP BY in a sub-select and join it"
    ),
    "UNSUPPORTED.QUALIFY": Refusal("QUALIFY is not supported", "filter with WHERE or HAVING"),
    "UNSUPPORTED.AGGREGATE": Refusal(
        "the aggregate {what} is not supported", "SUM, COUNT and AVG are"
    ),
    "UNSUPPORTED.AGGREGATE_DISTINCT": Refusal(
        "an aggregate of DISTINCT values is not supported",
        "group a sub-select by the column, then aggregate it",
    ),
    "UNSUPPORTED.GROUPING_SETS": Refusal(
        "{what} is not supported", "declare one view for each grouping"
    ),
    "UNSUPPORTED.PIVOT": Refusal("PIVOT is not supported", "use SUM(CASE WHEN ... END)"),
    "UNSUPPORTED.TABLESAMPLE": Refusal(
        "TABLESAMPLE is not supported: a view must always give the same answer", "use WHERE"
    ),
    "UNSUPPORTED.NOT_DETERMINISTIC": Refusal(
        "{what} gives another value each time: a view with it could not be kept current",
        "put the value into a column of the input",
    ),
    "UNSUPPORTED.DANGEROUS": Refusal(
        "{what} reaches outside the data and is never allowed", "leave it out"
    ),
    "UNSUPPORTED.PATH_TABLE": Refusal(
        "{what} names a path, not a table", "declare it with CREATE TABLE ... WITH (...)"
    ),
    "UNSUPPORTED.QUALIFIED_TABLE": Refusal(
        "{what}: tables have no catalog or database in front", "write the last part only"
    ),
    "UNSUPPORTED.TABLE_FUNCTION": Refusal(
        "{what} in FROM is not supported", "declare its rows as a table"
    ),
    "UNSUPPORTED.RECURSIVE": Refusal(
        "{what} is not supported: a view cannot read itself", "read another table or view"
    ),
    "UNSUPPORTED.PARAMETER": Refusal(
        "{what} is a parameter, and a view has none", "write the value as a literal"
    ),
    "UNSUPPORTED.NO_FROM": Refusal(
        "a SELECT without FROM is not supported", "read at least one table"
    ),
    "UNSUPPORTED.SYNTAX": Refusal("{what} is not supported here", "leave it out or rephrase it"),
    "UNSUPPORTED.TYPE": Refusal(
        "the type {what} is not supported",
        "use BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, DECIMAL(p,s), FLOAT, DOUBLE, STRING, "
        "BINARY, DATE, TIMESTAMP or TIMESTAMP_NTZ",
    ),
    "UNSUPPORTED.INTERVAL": Refusal("{what}", "{fix}"),
    "UNSUPPORTED.LIKE_PATTERN": Refusal(
        "the pattern of LIKE must be a text literal, not {what}", "write the pattern as '...'"
    ),
    # ------------------------------------------------------------- names
    "UNKNOWN.TABLE": Refusal("there is no table or view {what}", "{fix}"),
    "UNKNOWN.COLUMN": Refusal("there is no column {what} here", "{fix}"),
    "UNKNOWN.FUNCTION": Refusal("there is no function {what}", "{fix}"),
    "AMBIGUOUS.COLUMN": Refusal("column {what} is in several inputs", "say which one: {fix}"),
    "NAME.DUPLICATE": Refusal("the name {what} is used twice", "{fix}"),
    "NAME.INVALID": Refusal(
        "the name {what} cannot be used", "use no dots, no # and no control characters in names"
    ),
    # ------------------------------------------------------------- grouping
    "GROUP.AGGREGATE_HERE": Refusal(
        "an aggregate cannot stand in {what}", "use HAVING, or aggregate in a sub-select"
    ),
    "GROUP.NESTED_AGGREGATE": Refusal(
        "an aggregate cannot stand inside another one", "aggregate in a sub-select first"
    ),
    "GROUP.NOT_GROUPED": Refusal(
        "column {what} is neither grouped nor aggregated",
        "add it to GROUP BY, or wrap it in an aggregate",
    ),
    "GROUP.POSITION": Refusal(
        "GROUP BY {what} names no item of the select list", "use a number from 1 to {fix}"
    ),
    # ------------------------------------------------------------- types and values
    "TYPE.MISMATCH": Refusal("{what}", "{fix}"),
    "TYPE.LITERAL": Refusal("{what}", "{fix}"),
    "ARGUMENTS": Refusal("{what}", "{fix}"),
    "COLUMN_LIST": Refusal("{what} columns are named, {fix} are there", "name each column once"),
    # ------------------------------------------------------------- tables
    "TABLE.DEFINITION": Refusal("{what}", "{fix}"),
    "TABLE.OPTION": Refusal("{what}", "{fix}"),
    "SCRIPT.EMPTY": Refusal("the text holds no statement", "write a CREATE or a SELECT"),
    "SCRIPT.ONE_SELECT": Refusal("{what}", "name each view: CREATE VIEW name AS SELECT ..."),
}


def refuse(code: str, position: Position | None = None, what: str = "", fix: str = "") -> SqlError:
    """The error of a refusal; callers raise it."""
    refusal = REFUSALS[code]
    return SqlError(
        code,
        refusal.message.format(what=what, fix=fix),
        fix=refusal.fix.format(what=what, fix=fix),
        position=position,
    )


def similar(name: str, known: Iterable[str], kind: str) -> str:
    """`did you mean x?`, or the list of what there is."""
    names = sorted(set(known))
    close = difflib.get_close_matches(name[:60], names, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]}?"
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"{kind}: {shown}" if names else f"there are no {kind}"


# ------------------------------------------------------------- functions that are known and refused


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


AGGREGATES = _words(
    """min max stddev stddev_pop stddev_samp std variance var_pop var_samp first first_value last
    last_value any_value collect_list collect_set array_agg list_agg listagg string_agg group_concat
    approx_count_distinct approx_percentile percentile percentile_approx percentile_cont
    percentile_disc median mode corr covar_pop covar_samp skewness kurtosis bool_and bool_or every
    some any bit_and bit_or bit_xor max_by min_by count_if count_min_sketch regr_count regr_slope
    histogram_numeric grouping grouping_id try_sum try_avg product"""
)
NOT_DETERMINISTIC = _words(
    """rand random randn uuid now current_timestamp current_date current_time curdate curtime
    localtimestamp unix_timestamp shuffle monotonically_increasing_id spark_partition_id randstr
    uniform getdate sysdate current_timezone current_user session_user user current_database
    current_catalog current_schema input_file_name input_file_block_start input_file_block_length
    version"""
)
DANGEROUS = _words(
    """java_method reflect try_reflect read_files read_csv read_json read_parquet read_text
    from_file load_file shell system transform ai_query http_request sql_query try_remote"""
)
_PATH_FORMATS = _words("parquet csv json orc text delta avro iceberg binaryfile xml jdbc hudi file")


def function_refusal(name: str) -> str | None:
    """The code under which a known function is refused; None if it is not refused by name."""
    if name in DANGEROUS:
        return "UNSUPPORTED.DANGEROUS"
    if name in NOT_DETERMINISTIC:
        return "UNSUPPORTED.NOT_DETERMINISTIC"
    return "UNSUPPORTED.AGGREGATE" if name in AGGREGATES else None


# ------------------------------------------------------------------------------------- the walk


MAX_FINDS = 50  # the walk follows the text closely enough that the first is among these


@dataclass(frozen=True, slots=True)
class _Find:
    code: str
    node: exp.Expr
    keyword: str = ""
    what: str = ""

    def place(self, source: Source) -> Position:
        return source.position(self.node, *self.keyword.split())


def check(tree: exp.Expr, source: Source) -> None:
    """Raises for the first unsupported construct of a query, in the order of the text."""
    every = (find for node in tree.dfs() for find in _finds(node))
    finds = list(islice(every, MAX_FINDS))
    if not finds:
        return
    placed = [(f.place(source), f) for f in finds]
    position, first = min(placed, key=lambda p: (p[0].line, p[0].column))
    raise refuse(first.code, position, first.what)


_SIMPLE: Mapping[type[exp.Expr], tuple[str, str, str]] = {
    exp.Order: ("UNSUPPORTED.ORDER_BY", "ORDER", "ORDER BY"),
    exp.Sort: ("UNSUPPORTED.ORDER_BY", "SORT", "SORT BY"),
    exp.Cluster: ("UNSUPPORTED.ORDER_BY", "CLUSTER", "CLUSTER BY"),
    exp.Distribute: ("UNSUPPORTED.ORDER_BY", "DISTRIBUTE", "DISTRIBUTE BY"),
    exp.Limit: ("UNSUPPORTED.LIMIT", "LIMIT", "LIMIT"),
    exp.Offset: ("UNSUPPORTED.LIMIT", "OFFSET", "OFFSET"),
    exp.Fetch: ("UNSUPPORTED.LIMIT", "FETCH", "FETCH"),
    exp.Exists: ("UNSUPPORTED.EXISTS", "EXISTS", "EXISTS"),
    exp.Any: ("UNSUPPORTED.QUANTIFIER", "ANY", "ANY"),
    exp.All: ("UNSUPPORTED.QUANTIFIER", "ALL", "ALL"),
    exp.Window: ("UNSUPPORTED.WINDOW", "", "OVER"),
    exp.Qualify: ("UNSUPPORTED.QUALIFY", "QUALIFY", "QUALIFY"),
    exp.Lateral: ("UNSUPPORTED.LATERAL", "LATERAL", "LATERAL"),
    exp.Pivot: ("UNSUPPORTED.PIVOT", "PIVOT", "PIVOT"),
    exp.TableSample: ("UNSUPPORTED.TABLESAMPLE", "TABLESAMPLE", "TABLESAMPLE"),
    exp.Rollup: ("UNSUPPORTED.GROUPING_SETS", "ROLLUP", "ROLLUP"),
    exp.Cube: ("UNSUPPORTED.GROUPING_SETS", "CUBE", "CUBE"),
    exp.GroupingSets: ("UNSUPPORTED.GROUPING_SETS", "GROUPING", "GROUPING SETS"),
    exp.Values: ("UNSUPPORTED.TABLE_FUNCTION", "VALUES", "VALUES"),
    exp.Placeholder: ("UNSUPPORTED.PARAMETER", "? : $ {", "this"),
    exp.Parameter: ("UNSUPPORTED.PARAMETER", "@ $ :", "this"),
    exp.SessionParameter: ("UNSUPPORTED.PARAMETER", "@@ @", "this"),
    exp.CurrentDate: ("UNSUPPORTED.NOT_DETERMINISTIC", "CURRENT_DATE", "CURRENT_DATE"),
    exp.CurrentTime: ("UNSUPPORTED.NOT_DETERMINISTIC", "CURRENT_TIME", "CURRENT_TIME"),
    exp.CurrentTimestamp: (
        "UNSUPPORTED.NOT_DETERMINISTIC", "CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP",
    ),
    exp.CurrentUser: ("UNSUPPORTED.NOT_DETERMINISTIC", "CURRENT_USER", "CURRENT_USER"),
    exp.SessionUser: ("UNSUPPORTED.NOT_DETERMINISTIC", "SESSION_USER", "SESSION_USER"),
    exp.Hint: ("UNSUPPORTED.SYNTAX", "/*+", "a hint"),
}  # fmt: skip

_QUERY_PARENTS = (exp.From, exp.Join, exp.CTE, exp.Create, exp.Subquery)


def _finds(node: exp.Expr) -> Iterable[_Find]:
    simple = _SIMPLE.get(type(node))
    if simple:
        code, keyword, what = simple
        yield _Find(code, node, keyword, what)
    elif isinstance(node, exp.Select):
        yield from _select_finds(node)
    elif isinstance(node, exp.SetOperation):
        what = type(node).__name__.upper()
        yield _Find("UNSUPPORTED.SET_OPERATION", node.args["expression"], what, what)
    elif isinstance(node, exp.Join):
        yield from _join_finds(node)
    elif isinstance(node, exp.Table):
        yield from _table_finds(node)
    elif isinstance(node, exp.Anonymous) and not isinstance(node.parent, exp.Table):
        code = function_refusal(node.name.lower()) or ""
        if code:
            yield _Find(code, node, "", node.name.upper())
    elif isinstance(node, exp.In) and node.args.get("query"):
        yield _Find("UNSUPPORTED.IN_SUBQUERY", node.args["query"], "IN")
    elif isinstance(node, exp.Subquery):
        if node.parent and not isinstance(node.parent, (*_QUERY_PARENTS, exp.In)):
            yield _Find("UNSUPPORTED.SCALAR_SUBQUERY", node, "SELECT")
        yield from _other_parts(node, _SUBQUERY_PARTS)
    elif isinstance(node, exp.Distinct) and isinstance(node.parent, exp.Func | exp.Anonymous):
        yield _Find("UNSUPPORTED.AGGREGATE_DISTINCT", node, "DISTINCT")
    elif isinstance(node, exp.With) and node.args.get("recursive"):
        yield _Find("UNSUPPORTED.RECURSIVE", node, "RECURSIVE", "WITH RECURSIVE")
    elif isinstance(node, exp.Group):
        for what in ("ALL", "TOTALS"):
            if node.args.get(what.lower()):
                yield _Find("UNSUPPORTED.GROUPING_SETS", node, what, f"GROUP BY {what}")


_CLAUSES = {"locks": "FOR UPDATE", "windows": "WINDOW", "kind": "SELECT AS"}
_SELECT_PARTS = _words(
    "with_ hint distinct expressions from_ joins where group having order limit offset "
    "laterals qualify sort cluster distribute pivots sample"
)
_SUBQUERY_PARTS = _words("this alias joins with_ order limit offset pivots sample laterals")
_TABLE_PARTS = _words("this alias db catalog joins pivots sample laterals")
_JOIN_PARTS = _words("this side kind method on using")


def _select_finds(node: exp.Select) -> Iterable[_Find]:
    if node.args.get("distinct"):
        yield _Find("UNSUPPORTED.DISTINCT", node, "DISTINCT")
    if not node.args.get("from_"):
        yield _Find("UNSUPPORTED.NO_FROM", node, "SELECT")
    yield from _other_parts(node, _SELECT_PARTS)


def _other_parts(node: exp.Expr, known: frozenset[str]) -> Iterable[_Find]:
    """Whatever else hangs on a node: nothing is ignored in silence."""
    for part, value in node.args.items():
        if value and part not in known:
            what = _CLAUSES.get(part, part.strip("_").upper())
            yield _Find("UNSUPPORTED.SYNTAX", node, f"{what.split()[0]} SELECT", what)


def _join_finds(node: exp.Join) -> Iterable[_Find]:
    side, kind, method = node.side.upper(), node.kind.upper(), node.method.upper()
    if kind in ("SEMI", "ANTI"):
        what = f"{side} {kind}".strip()
        yield _Find("UNSUPPORTED.SEMI_JOIN", node, side or kind, what)
    elif method == "NATURAL":
        yield _Find("UNSUPPORTED.NATURAL_JOIN", node, "NATURAL")
    elif side:
        yield _Find("UNSUPPORTED.OUTER_JOIN", node, side, f"{side} OUTER")
    elif kind == "OUTER":
        yield _Find("UNSUPPORTED.OUTER_JOIN", node, "OUTER", "OUTER")
    elif method or kind not in ("", "INNER", "CROSS"):
        yield _Find("UNSUPPORTED.SYNTAX", node, "JOIN", f"{method} {kind} JOIN".strip())
    yield from _other_parts(node, _JOIN_PARTS)
    if isinstance(node.this, exp.Unnest):
        yield _Find("UNSUPPORTED.TABLE_FUNCTION", node.this, "UNNEST", "UNNEST")


def _table_finds(node: exp.Table) -> Iterable[_Find]:
    if isinstance(node.this, exp.Anonymous | exp.Func):
        name = node.this.name.lower()
        dangerous = name in DANGEROUS or name.startswith("read_")
        code = "UNSUPPORTED.DANGEROUS" if dangerous else "UNSUPPORTED.TABLE_FUNCTION"
        yield _Find(code, node, "", name.upper())
    elif node.args.get("db") or node.args.get("catalog"):
        path = node.db.lower() in _PATH_FORMATS or "/" in node.name
        code = "UNSUPPORTED.PATH_TABLE" if path else "UNSUPPORTED.QUALIFIED_TABLE"
        what = ".".join(part.name for part in node.parts)
        yield _Find(code, node, "", what)
    for part, value in node.args.items():
        if value and part not in _TABLE_PARTS:
            yield _Find("UNSUPPORTED.SYNTAX", node, "", f"{part.upper()} of a table")
