"""Work done in a forked child, whose answer comes back; by another user, or while others do theirs."""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

NOBODY: Final = 65534


@dataclass(slots=True)
class Child:
    """A forked process, and where its answer comes from."""

    pid: int
    source: int

    def answer(self) -> Any:
        """What its work returned, when it is done; AssertionError with its traceback where it raised."""
        content = b""
        while more := os.read(self.source, 1 << 16):
            content += more
        os.close(self.source)
        os.waitpid(self.pid, 0)
        assert content, "the child died"
        failed, answer = pickle.loads(content)  # noqa: S301  # of our own child
        assert not failed, answer
        return answer

    def kill(self) -> None:
        """End it, whatever it is doing."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.source)


def begun(work: Callable[[], Any], *, user: int | None = None) -> Child:
    """A child that does the work; as the user of that number, if root starts it."""
    source, told = os.pipe()
    pid = os.fork()
    if pid:
        os.close(told)
        return Child(pid, source)
    try:
        os.close(source)
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        answer = (False, work())
    except BaseException:  # noqa: BLE001  # told to the parent
        answer = (True, traceback.format_exc())
    finally:
        content = pickle.dumps(answer)
        while content:
            content = content[os.write(told, content) :]
        os._exit(0)


def in_child(work: Callable[[], Any], *, user: int | None = None) -> Any:
    """What the work returns when a child does it."""
    return begun(work, user=user).answer()
