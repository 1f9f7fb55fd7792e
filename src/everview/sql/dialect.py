"""SQL text -> syntax trees, with sqlglot: Spark SQL, cut to a closed set of syntax.

    text ──tokens──▶ statements (one per `;`) ──▶ Statement(tree, its place in the text)

Functions are not sqlglot's business here: every `f(x)` stays an `Anonymous` node with the name the
user wrote, so `sql/functions` alone decides what a name means. `Source` finds the place of a node.

Not here: which trees are refused (sql/subset), what they mean (sql/select, sql/ddl).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from everview.errors import Position, SqlError

MAX_TEXT = 256 * 1024
MAX_DEPTH = 64
MAX_NODES = 20_000

_KEPT_PARSERS = ("CAST", "TRY_CAST", "EXTRACT", "SUBSTRING", "SUBSTR", "TRIM")
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
_AFTER_COMMA = {TokenType.COMMA, TokenType.R_PAREN, TokenType.FROM, TokenType.WHERE, TokenType.END}


class _Parser(SparkParser):
    STRICT_CAST = True  # CAST and TRY_CAST stay apart
    FUNCTIONS: ClassVar[Any] = {}
    FUNCTION_PARSERS: ClassVar[Any] = {
        name: SparkParser.FUNCTION_PARSERS[name] for name in _KEPT_PARSERS
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar[Any] = {
        name: SparkParser.NO_PAREN_FUNCTION_PARSERS[name] for name in ("ANY", "CASE")
    }

    def _warn_unsupported(self) -> None:
        """A statement sqlglot does not know becomes a Command, which is refused: no log line."""


class Dialect(Spark):
    """Spark SQL as Everview reads it."""

    class Tokenizer(Spark.Tokenizer):
        KEYWORDS: ClassVar[Any] = {
            **Spark.Tokenizer.KEYWORDS,
            "BYTES": TokenType.BINARY,
            "INT2": TokenType.SMALLINT,  # by their bytes, as everywhere but in ClickHouse
            "INT4": TokenType.INT,
            "INT8": TokenType.BIGINT,
            "TIMESTAMP WITHOUT TIME ZONE": TokenType.TIMESTAMPNTZ,
        }
        STRING_ESCAPES: ClassVar[Any] = ["'", '"', "\\"]  # 'it''s' is one text, as in Spark 4

    Parser = _Parser

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        """JSON paths are refused later, so they are not read (and not complained about) here."""
        return path


_DIALECT = Dialect()


@dataclass(frozen=True, slots=True)
class Source:
    """The whole text and the tokens of one statement: enough to point at any node of its tree."""

    text: str
    tokens: tuple[Token, ...] = ()

    def at(self, start: int, end: int) -> Position:
        """The place of the characters start..end (inclusive)."""
        before = self.text[:start]
        line = len(before.splitlines()) + (1 if not before or before[-1] in "\r\n" else 0)
        column = start - max(before.rfind("\n"), before.rfind("\r")) - 1
        width = max(1, end - start + 1)
        rest = self.text[start : start + width].splitlines() or [""]
        return Position(self.text, max(1, line), column + 1, max(1, len(rest[0])))

    def position(self, node: exp.Expr, *keywords: str) -> Position:
        """Where `node` stands; with keywords, the last such word at or before its first name."""
        spans = [
            (part.meta["start"], part.meta["end"])
            for part in node.walk()
            if part.meta and "start" in part.meta
        ]
        if not keywords:
            return self.at(*min(spans)) if spans else self.first()
        words = [t for t in self.tokens if t.text.upper().partition(" ")[0] in keywords]
        if words:
            limit = min(spans)[0] if spans else -1
            word = next((t for t in reversed(words) if t.start <= limit), words[0])
            return self.at(word.start, word.end)
        return self.at(*min(spans)) if spans else self.first()

    def first(self) -> Position:
        """Where the statement begins."""
        if self.tokens:
            return self.at(self.tokens[0].start, self.tokens[0].end)
        return self.at(0, 0)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its tree and where it came from."""

    tree: exp.Expr
    source: Source

    def query(self) -> tuple[str, Position]:
        """The text of its SELECT, and where that begins: all of it, or what a CREATE VIEW has after
        its first top-level AS."""
        tokens = self.source.tokens
        start, depth = tokens[0].start, 0
        for token, following in pairwise(tokens if isinstance(self.tree, exp.Create) else ()):
            depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
            if depth == 0 and token.token_type == TokenType.ALIAS:
                start = following.start
                break
        return self.source.text[start : tokens[-1].end + 1], self.source.at(start, start)


def parse(text: str) -> list[Statement]:
    """The statements of a script, in order; SqlError with a place for text that cannot be read."""
    if len(text) > MAX_TEXT:
        raise SqlError(
            "TOO_LARGE",
            f"the text has {len(text)} characters, the limit is {MAX_TEXT}",
            fix="split it into several scripts",
        )
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise SqlError("SYNTAX", "the text is not Unicode: it holds half a surrogate pair")
    try:
        tokens = _DIALECT.tokenize(text)
    except TokenError as e:
        raise SqlError(
            "SYNTAX",
            "the text cannot be cut into words: a quote or comment is not closed",
            fix="close it",
            position=Source(text).at(*[max(0, len(text.rstrip()) - 1)] * 2),
        ) from e
    except Exception as e:  # a bug of the tokenizer is still the text's problem
        raise SqlError("SYNTAX", f"the text cannot be read ({type(e).__name__})") from None
    return [_statement(text, group) for group in _split(tokens)]


def _split(tokens: list[Token]) -> list[tuple[Token, ...]]:
    groups: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            groups.append([])
        else:
            groups[-1].append(token)
    return [tuple(g) for g in groups if g]


def _statement(text: str, tokens: tuple[Token, ...]) -> Statement:
    source = Source(text, tokens)
    _check_depth(source)
    _check_commas(source)
    try:
        trees = _DIALECT.parser(error_level=ErrorLevel.IMMEDIATE, max_nodes=MAX_NODES).parse(
            list(tokens), text
        )
    except ParseError as e:
        raise _syntax_error(source, e) from None
    except RecursionError:
        raise too_deep(source.first()) from None
    except Exception as e:  # a bug of the parser is still the text's problem
        raise SqlError(
            "SYNTAX", f"the statement cannot be read ({type(e).__name__})", position=source.first()
        ) from None
    if len(trees) != 1 or trees[0] is None:
        raise SqlError("SYNTAX", "the statement cannot be read", position=source.first())
    return Statement(trees[0], source)


def _check_depth(source: Source) -> None:
    depth = 0
    for token in source.tokens:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth > MAX_DEPTH:
            raise too_deep(source.at(token.start, token.end))


def _check_commas(source: Source) -> None:
    """The parser passes over commas with nothing before or behind them, and closes parentheses with
    any closing word."""
    opened: list[TokenType] = []
    for token, following in pairwise((*source.tokens, None)):
        assert token is not None
        kind, next_kind = token.token_type, following.token_type if following else None
        if kind in _OPENING:
            opened.append(kind)
        elif (
            kind in _CLOSING
            and opened
            and (opened.pop() == TokenType.CASE) != (kind == TokenType.END)
        ):
            raise _stray(source, token)
        if kind == TokenType.COMMA and (next_kind is None or next_kind in _AFTER_COMMA):
            raise _stray(source, token)
        if kind == TokenType.L_PAREN and next_kind == TokenType.COMMA:
            raise _stray(source, token)


def _stray(source: Source, token: Token) -> SqlError:
    return SqlError(
        "SYNTAX",
        f"{token.text!r} stands where it cannot",
        fix="look at what is missing before or after it",
        position=source.at(token.start, token.end),
    )


def too_deep(position: Position | None) -> SqlError:
    return SqlError(
        "TOO_DEEP",
        f"the statement is nested more than {MAX_DEPTH} levels deep",
        fix="break it into several views",
        position=position,
    )


def _syntax_error(source: Source, error: ParseError) -> SqlError:
    detail = error.errors[0] if error.errors else {}
    message = _plain(detail.get("description") or "the statement cannot be read")
    highlight = detail.get("highlight") or ""
    position = source.first()
    for token in source.tokens:
        if token.line == detail.get("line") and token.col == detail.get("col"):
            position = source.at(token.start, token.end)
    fix = f"look at or before {highlight!r}" if highlight else "look at the end of the statement"
    return SqlError("SYNTAX", message, fix=fix, position=position)


def _incomplete(match: re.Match[str]) -> str:
    return f"something is missing in {match[1].upper()}"


def _plain(message: str) -> str:
    """One line, without terminal colours, class names or internals of the parser."""
    message = re.sub(r"\x1b\[[0-9;]*m", "", message).split("\n")[0]
    message = re.sub(r" but got <Token.*", "", message)
    message = re.sub(r"^Required keyword: '\w+' missing for (\w+)", _incomplete, message)
    message = re.sub(r"<class '[\w.]+\.(\w+)'>", r"\1", message)
    return message[:200].rstrip(". ") or "the statement cannot be read"
