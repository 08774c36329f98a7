"""Every step of an operation at which something can be made to happen: its statements, and what it does to files."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: What is done to files, as the interpreter tells it before it happens.
_FILES: Final = frozenset({"open", "os.rename", "os.link", "os.remove", "os.chmod"})


class _Steps:
    """Counts steps while it is armed, and strikes at some of them."""

    def __init__(self) -> None:
        self.armed = False
        self.hooked = False
        self.count = 0
        self.strike: Callable[[int, str], None] = lambda _number, _kind: None

    def statement(self, _cursor: object, _text: str, _values: object) -> bool:
        self._step("statement")
        return True

    def event(self, name: str, given: tuple[Any, ...]) -> None:
        if self.armed and name in _FILES and not (given and isinstance(given[0], str) and "/semgraph/" in given[0]):
            self._step("file")

    def _step(self, kind: str) -> None:
        if self.armed:
            self.count += 1
            self.strike(self.count, kind)


_STEPS: Final = _Steps()


@contextmanager
def watching(strike: Callable[[int, str], None]) -> Iterator[_Steps]:
    """Connections opened inside tell of each statement, once `armed` is set; `strike` hears of number and kind."""
    if not _STEPS.hooked:
        sys.addaudithook(_STEPS.event)
        _STEPS.hooked = True
    _STEPS.count, _STEPS.strike = 0, strike

    def follow(connection: apsw.Connection) -> None:
        connection.exec_trace = _STEPS.statement

    apsw.connection_hooks.append(follow)
    try:
        yield _STEPS
    finally:
        _STEPS.armed = False
        apsw.connection_hooks.remove(follow)


def kill_at(wanted: int) -> Callable[[int, str], None]:
    """A strike that kills this process at the step of that number."""

    def strike(number: int, _kind: str) -> None:
        if number == wanted:
            os.kill(os.getpid(), signal.SIGKILL)

    return strike


def raise_at(
    wanted: int, errors: dict[str, Callable[[], BaseException]], *, on: bool = False
) -> Callable[[int, str], None]:
    """A strike that raises the error for the kind of step at that number, and, with `on`, at every later one too."""

    def strike(number: int, kind: str) -> None:
        if number == wanted or (on and number > wanted):
            error = errors[kind]()
            raise error

    return strike
