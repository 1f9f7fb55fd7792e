"""Following runs from a terminal: a line of progress a second, and an end by Ctrl-C.

    drain(runs)   until all that is there has been processed
    watch(runs)   until they end by themselves

Nothing is raised by Ctrl-C: a call into the JVM that is broken off would fill the terminal with
stacks. Not here: what the lines say (spark/run), drawing answers (connect/live).
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everview.spark.run import Run

SECONDS_BETWEEN_LINES = 1.0


def drain(runs: list[Run], told: list[Run]) -> bool:
    """Processes all there is; tells the progress of `told` meanwhile, and in the end what was not
    read. False if it was interrupted."""
    with _interruptible() as (wake, asked), ThreadPoolExecutor(1) as pool:
        end = pool.submit(_process, runs)
        end.add_done_callback(lambda _: wake.set())
        while not wake.wait(SECONDS_BETWEEN_LINES):
            _tell(told)
        if asked():
            _stopped(runs)
            return False
        end.result()
    _tell(told)
    for note in dict.fromkeys(n for one in runs for n in one.unread()):
        _say(f"note: {note}")
    return True


def _process(runs: list[Run]) -> None:
    for one in runs:
        one.process_available()


def watch(runs: list[Run], told: list[Run]) -> bool:
    """Tells progress until all runs have ended by themselves, or Ctrl-C, which is its usual end."""
    running = list(runs)
    with _interruptible() as (wake, _):
        while running and not wake.wait(SECONDS_BETWEEN_LINES):
            running = [one for one in running if not one.ended()]
            _tell([one for one in running if one in told])
        if running:
            _stopped(running)
    return True


@contextmanager
def _interruptible() -> Iterator[tuple[threading.Event, Callable[[], bool]]]:
    """An event that Ctrl-C sets, and whether it did."""
    wake, asked = threading.Event(), threading.Event()

    def interrupt(*_: object) -> None:
        asked.set()
        wake.set()

    if threading.current_thread() is not threading.main_thread():
        yield wake, asked.is_set
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield wake, asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def _stopped(runs: list[Run]) -> None:
    _say("stopping")
    for one in runs:
        one.stop()


def _tell(runs: list[Run]) -> None:
    for one in runs:
        _say(str(one.progress()))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
