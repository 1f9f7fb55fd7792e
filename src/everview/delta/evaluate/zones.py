"""Instants and wall clocks: microseconds in UTC to and from those of a time zone, by arrays.

The changes of a zone's offset are found once per zone and year (by asking the zone at every
midnight and halving the day in which it changed) and kept; conversion is then one binary search.
Where clocks are set forward, a wall-clock time that never was moves on by the gap; where they are
set back, a time that was twice is the earlier one: as Java, hence Spark. From 2100 on the rules
repeat every 400 years, before 1800 the first known offset holds.

Not here: parsing of timestamps (parse), fields of dates (dates).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np

from everview.delta.vector import Array
from everview.errors import ConfigError

DAY, SECOND = 86_400_000_000, 1_000_000
_CYCLE = 146_097 * 86_400  # seconds of 400 years
_FIRST, _PERIODIC = 1800, 2100
_UTC_NAMES = frozenset({"UTC", "Z", "GMT", "UT", "Etc/UTC", "Etc/GMT", "+00:00"})
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?")


def is_utc(zone: str) -> bool:
    return zone in _UTC_NAMES


def known(zone: str) -> bool:
    """Whether the name says a zone."""
    try:
        _changes(zone, _PERIODIC)
    except ConfigError:
        return False
    return True


def to_local(micros: Array, zone: str) -> Array:
    """Microseconds in UTC -> those that the zone's clocks show."""
    if is_utc(zone) or not len(micros):
        return micros
    seconds = micros // SECOND
    table = _table(seconds, zone)
    index = np.searchsorted(table.at, _folded(seconds), side="right")
    out: Array = micros + table.offset[index] * SECOND
    return out


def to_utc(local: Array, zone: str, *, midnight: bool = False) -> Array:
    """What the zone's clocks show -> UTC. `midnight`: a missing one is the day's first instant."""
    if is_utc(zone) or not len(local):
        return local
    seconds = local // SECOND
    table = _table(seconds, zone)
    until = table.at + np.maximum(table.offset[:-1], table.offset[1:])
    folded = _folded(seconds)
    index = np.searchsorted(until, folded, side="right")
    out: Array = local - table.offset[index] * SECOND
    if midnight and len(table.at):
        following = np.minimum(index, len(table.at) - 1)
        change = table.at[following] + (seconds - folded)
        gap = (index < len(table.at)) & (out > change * SECOND)
        out = np.where(gap, change * SECOND, out)
    return out


@dataclass(frozen=True, slots=True)
class _Table:
    """`offset[i]` seconds hold until the instant `at[i]`; the last one from there on."""

    at: Array
    offset: Array


def _folded(seconds: Array) -> Array:
    """Seconds with whole 400-year cycles after the start of the periodic part taken off."""
    start = _year_start(_PERIODIC)
    out: Array = seconds - np.maximum((seconds - start) // _CYCLE, 0) * _CYCLE
    return out


def _table(seconds: Array, zone: str) -> _Table:
    ends = _folded(np.array([seconds.min(), seconds.max()]))
    if seconds.max() >= _year_start(_PERIODIC):  # folding does not keep the order: all its years
        ends = np.array([min(ends[0], _year_start(_PERIODIC)), _year_start(_PERIODIC) + _CYCLE])
    low, high = (int(np.clip(e // 31_556_952 + 1970, _FIRST, 2501)) for e in ends)
    years = range(max(low - 1, _FIRST), high + 2)
    changes = [c for y in years for c in _changes(zone, y)[1]]
    offsets = [_changes(zone, years[0])[0], *(offset for _, offset in changes)]
    return _Table(np.array([at for at, _ in changes], np.int64), np.array(offsets, np.int64))


def _year_start(year: int) -> int:
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp())


@lru_cache(maxsize=4096)
def _changes(zone: str, year: int) -> tuple[int, tuple[tuple[int, int], ...]]:
    """The offset at the start of the year, and the instants in it from which another one holds."""
    fixed = _fixed_offset(zone)
    if fixed is not None:
        return fixed, ()
    try:
        info = ZoneInfo(zone)
    except (KeyError, ValueError, OSError) as error:
        raise ConfigError(
            "CONFIG.ZONE", f"there is no time zone {zone!r}", fix="use a name like Europe/Paris"
        ) from error

    def offset(second: int) -> int:
        delta = datetime.fromtimestamp(second, info).utcoffset()
        assert delta is not None
        return delta.days * 86_400 + delta.seconds

    start, end = _year_start(year), _year_start(year + 1)
    held = first = offset(start)
    found = []
    for day in range(start, end, 86_400):
        then = offset(day + 86_400)
        if then != held:
            low, high = day, day + 86_400
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(middle) == held else (low, middle)
            found.append((high, then))
            held = then
    return first, tuple(found)


def _fixed_offset(zone: str) -> int | None:
    if is_utc(zone):
        return 0
    match = _OFFSET.fullmatch(zone)
    if match is None:
        return None
    hours, minutes, seconds = (int(g or 0) for g in match.groups()[1:])
    total = hours * 3600 + minutes * 60 + seconds
    if total > 18 * 3600 or minutes > 59 or seconds > 59:
        return None
    return -total if match[1] == "-" else total
