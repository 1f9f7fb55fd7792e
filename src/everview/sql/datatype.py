"""A type of the syntax tree -> a Type, with the usual synonyms.

    INTEGER, LONG, VARCHAR(n), TEXT, NUMERIC(p,s), REAL, TIMESTAMP WITHOUT TIME ZONE, BYTES, ...

Lengths of texts are read and not enforced. DECIMAL alone is DECIMAL(10,0), as in Spark.

Not here: types of expressions (expr), casts (sql/coerce).
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from everview.errors import SchemaError, SqlError
from everview.schema import Type, TypeName, decimal
from everview.sql.dialect import Source
from everview.sql.subset import refuse

_NAMES: Mapping[str, TypeName] = {
    "BOOLEAN": "BOOLEAN", "TINYINT": "TINYINT", "SMALLINT": "SMALLINT", "INT": "INT",
    "BIGINT": "BIGINT", "FLOAT": "FLOAT", "DOUBLE": "DOUBLE", "TEXT": "STRING",
    "VARCHAR": "STRING", "NVARCHAR": "STRING", "CHAR": "STRING", "NCHAR": "STRING",
    "BINARY": "BINARY", "VARBINARY": "BINARY", "DATE": "DATE", "TIMESTAMPTZ": "TIMESTAMP",
    "TIMESTAMPLTZ": "TIMESTAMP", "TIMESTAMPNTZ": "TIMESTAMP_NTZ", "TIMESTAMP": "TIMESTAMP_NTZ",
}  # fmt: skip


def read_type(node: exp.Expr, source: Source) -> Type:
    """The Type a data type of the text stands for."""
    if not isinstance(node, exp.DataType) or not isinstance(node.this, exp.DType):
        raise refuse("UNSUPPORTED.TYPE", source.position(node), str(node.this)[:60])
    name = node.this.value
    sizes = [p.this.name for p in node.expressions if isinstance(p, exp.DataTypeParam)]
    if name == "DECIMAL" and all(s.isdecimal() and len(s) < 4 for s in sizes) and len(sizes) < 3:
        precision, scale = [*map(int, sizes), *(10, 0)[len(sizes) :]]
        try:
            return decimal(precision, scale)
        except SchemaError as e:
            raise SqlError(e.code, e.message, fix=e.fix, position=source.position(node)) from None
    if name not in _NAMES or (sizes and _NAMES[name] not in ("STRING", "BINARY")):
        shown = name + (f"({', '.join(sizes)})" if sizes else "")
        raise refuse("UNSUPPORTED.TYPE", source.position(node, name), shown[:60])
    return Type(_NAMES[name])
