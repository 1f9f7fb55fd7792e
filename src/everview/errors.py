"""One small family of errors: a code, a place, and what to do next.

Every refusal and every failure a user can cause is an `EverviewError`. Its code is stable and
documented; its text says what is wrong, where (line:column with a caret where there is a source
text) and how to mend it. Nothing here formats Java or Python stacks.
"""

from __future__ import annotations

from dataclasses import dataclass

SHOWN = 160  # characters of a line of text


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a source text: line and column count from 1."""

    text: str
    line: int
    column: int
    length: int = 1

    def caret(self) -> str:
        """The line of the text (of a long one, what is around the place), and a second line with
        carets under the place."""
        lines = self.text.splitlines() or [""]
        line, at = lines[min(self.line, len(lines)) - 1], self.column - 1
        length = max(1, min(self.length, SHOWN))
        if len(line) > SHOWN:
            start = max(0, at - SHOWN // 2)
            cut = line[start : start + SHOWN]
            before, after = "... " if start else "", " ..." if start + SHOWN < len(line) else ""
            line, at = before + cut + after, at - start + len(before)
        return f"  {line}\n  {' ' * at}{'^' * length}"


class EverviewError(Exception):
    """The base: `code` (upper case, dotted), `message`, `fix` and an optional `position`."""

    def __init__(
        self, code: str, message: str, *, fix: str = "", position: Position | None = None
    ) -> None:
        self.code, self.message, self.fix, self.position = code, message, fix, position
        super().__init__(self.render())

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.code, self.message, self.fix, self.position)

    def render(self) -> str:
        """The text shown to a person."""
        place = f" at {self.position.line}:{self.position.column}" if self.position else ""
        parts = [f"[{self.code}]{place} {self.message}"]
        if self.position:
            parts.append(self.position.caret())
        if self.fix:
            parts.append(f"  fix: {self.fix}")
        return "\n".join(parts)


def _rebuild(
    kind: type[EverviewError], code: str, message: str, fix: str, position: Position | None
) -> EverviewError:
    return kind(code, message, fix=fix, position=position)


class SqlError(EverviewError):
    """SQL text that cannot be read, does not bind, or is refused by name."""


class SchemaError(EverviewError):
    """A relation, key or type that cannot be built."""


class PlanError(EverviewError):
    """A plan (often one read from JSON) that is not legal."""


class InputError(EverviewError):
    """A source, its files or its rows, where rejecting the row is not enough."""


class ValueOverflow(EverviewError):
    """A value left the range of its type; names the column."""


class StateError(EverviewError):
    """A log, arena or checkpoint that cannot be used."""


class ConfigError(EverviewError):
    """A setting that cannot be read or makes no sense."""
