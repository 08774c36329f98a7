"""Print the lowest release that each dependency may have, as pip constraints."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def main() -> None:
    for line in tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]:
        found = re.match(r"([\w-]+)>=([\w.]+)", line)
        if found is None:
            message = f"no floor in {line!r}: write name>=version"
            raise SystemExit(message)
        print(f"{found[1]}=={found[2]}")


if __name__ == "__main__":
    main()
