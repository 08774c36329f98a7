"""What the tests of the servers share: a service in memory, and servers as real processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

from mcp import StdioServerParameters

from semgraph.serving.desk import Desk
from semgraph.serving.limits import Rate
from semgraph.serving.service import Service
from semgraph.serving.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from semgraph import KnowledgeGraph

ROOT = Path(__file__).parents[1]
ENV = {"PYTHONPATH": str(ROOT), "SEMGRAPH_CONFIG": "", "PATH": os.environ.get("PATH", "")}


class Hands:
    """A clock that somebody turns."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def wall(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def seconds(self) -> float:
        return self.now.timestamp()

    def turn(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def service_of(kg: KnowledgeGraph, hands: Hands, *, removing: bool = True, rate: int = 60_000, **more: Any) -> Service:
    source = kg._session.config.source
    return Service(Desk(kg, source, Tokens(hands.seconds), removing=removing), Rate(rate, hands.seconds), **more)


def run(work: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any) -> Any:
    """What a coroutine gives; the ways of the older protocol are in use, and the SDK says so."""

    async def bounded() -> Any:
        with anyio.fail_after(60):
            return await work(*arguments)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return anyio.run(bounded)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "semgraph", *words]


def stdio(*words: str, **env: str) -> StdioServerParameters:
    head, *rest = command(*words)
    return StdioServerParameters(command=head, args=rest, env=ENV | env)


@contextmanager
def http(*words: str, **env: str) -> Iterator[str]:
    """The address of a server that runs meanwhile; afterwards it has ended well, as a signal asked it to."""
    asked = command(*words, "--http", "--port", "0")
    with subprocess.Popen(asked, env=ENV | env, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stderr.readline()
            found = re.search(r"http://\S+", line)
            assert found, line
            yield found[0]
        finally:
            process.terminate()
            deadline = time.monotonic() + 20
            while process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            if process.returncode is None:
                process.kill()
        assert process.returncode == 0, process.stderr.read()
