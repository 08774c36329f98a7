"""Write the command reference of the README, between its markers, from the commands themselves.

With `--check`, exit with 1 where it is out of date instead.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from semgraph.cli.reference import commands_markdown

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- commands: written by tools/reference.py -->", "<!-- end of commands -->"


def written(text: str) -> str:
    """The text with the reference of now."""
    found = re.compile(f"{re.escape(BEGIN)}\n.*?{re.escape(END)}", re.DOTALL)
    head = "<details>\n<summary>Every command, with its options</summary>"
    changed, count = found.subn(lambda _: f"{BEGIN}\n{head}\n\n{commands_markdown()}\n</details>\n{END}", text)
    if count != 1:
        message = f"the README has the markers {count} times, not once"
        raise SystemExit(message)
    return changed


def main() -> int:
    text = README.read_text(encoding="utf-8")
    wanted = written(text)
    if "--check" in sys.argv[1:]:
        if wanted != text:
            print("the command reference is out of date: run python tools/reference.py", file=sys.stderr)
        return int(wanted != text)
    README.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
