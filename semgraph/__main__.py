"""`semgraph` and `python -m semgraph`: the command line."""

from __future__ import annotations

import os
import sys

from semgraph.single import answer


def main() -> int:
    """The exit status of the command line; a plain question for one value is answered without loading it."""
    line = answer(sys.argv[1:], os.environ)
    if line is not None and sys.stdout is not None:
        try:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
        except OSError:
            pass  # the full command says what is wrong with the output
        else:
            return 0
    from semgraph.cli import main as full

    return full()


if __name__ == "__main__":
    sys.exit(main())
