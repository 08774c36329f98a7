"""The command line: `main` runs one command and turns whatever happens into an exit status and at most one line."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from semgraph.cli.app import Interrupted, cli
from semgraph.cli.text import clean
from semgraph.errors import SemgraphError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["main"]

_INTERRUPTED: Final = 130


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status of a command line: 0, 1 for an error of semgraph, 2 for wrong usage, 130 when interrupted."""
    _ready_streams()
    with _ending_tidily():
        return _status(lambda: _run(argv))


@contextmanager
def _ending_tidily() -> Iterator[None]:
    """Who asks the process to end (SIGTERM) interrupts it first, so that no half of a file is left; then it ends so."""
    asked: list[int] = []

    def end(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)  # asked again it ends at once
        asked.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if asked:
            os.kill(os.getpid(), signal.SIGTERM)


def _run(argv: Sequence[str] | None) -> int:
    done = cli.main(args=None if argv is None else list(argv), prog_name="semgraph", standalone_mode=False)
    sys.stdout.flush()
    return done if isinstance(done, int) else 0


def _status(run: Callable[[], int]) -> int:
    try:
        return run()
    except Interrupted as error:
        _say(error.message)
        return _INTERRUPTED
    except click.ClickException as error:
        return _misused(error)
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        _drop_output()  # whoever read has had enough
        return 1
    except Exception as error:  # noqa: BLE001 - no traceback, ever
        return _failed(error)


def _misused(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return error.exit_code
    if isinstance(error, click.NoSuchOption) and any(error.option_name in one.opts for one in cli.params):
        name = error.option_name
        _say(f"{name} goes before the command: semgraph {name} … {'' if error.ctx is None else error.ctx.info_name}")
        return error.exit_code
    message = error.format_message().rstrip(".")
    if isinstance(error, click.UsageError) and error.ctx:
        message += f"{' See' if message.endswith('?') else '; see'} `{error.ctx.command_path} --help`"
    _say(message)
    return error.exit_code


def _failed(error: Exception) -> int:
    if isinstance(error, SemgraphError):
        from semgraph.cli.phrasing import command_words

        _say(command_words(str(error)))
    elif isinstance(error, OSError):  # of standard output: all others are semgraph's own
        _say(f"can't write the output: {error.strerror or error}")
        _drop_output()
    elif os.environ.get("SEMGRAPH_DEBUG"):
        raise error
    else:
        _say(f"internal error, please report it: {type(error).__name__}: {error} (SEMGRAPH_DEBUG=1 shows where)")
    return 1


def _say(message: str) -> None:
    """One line for people, whatever the message is made of."""
    if sys.stderr is not None:
        sys.stderr.write(f"semgraph: {clean(' '.join(message.split()))}\n")


def _ready_streams() -> None:
    """What a terminal's encoding can't show is escaped rather than an error; a closed stream swallows, or is empty."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - open until the process ends
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - open until the process ends
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Let the last flush of the interpreter go nowhere, instead of failing once more."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
