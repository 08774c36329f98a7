"""The settings of the command line: a flag, else an environment variable, else a TOML file, else what is built in."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from semgraph.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KNOWN", "Setting", "Settings", "config_file"]

COLORS: Final = ("auto", "always", "never")
#: Every setting, with what it is when nobody says, and what it does.
KNOWN: Final[dict[str, tuple[str | None, str]]] = {
    "db": (None, "the file; ~ is the home folder, and a relative path starts at the folder of the configuration"),
    "scope": ("default", "the graph within the file"),
    "source": ("user", "who speaks where --source is left out"),
    "timezone": (None, "the zone in which dates and times without an offset are read, such as Europe/Helsinki"),
    "durability": ("full", "full, or relaxed: faster, and a loss of power may take the last writes"),
    "embedder": ("default", "recall by meaning: default, none, onnx:FOLDER, multilingual, endpoint:MODEL@URL"),
    "color": ("auto", "auto, always or never"),
}
_CHOICES: Final = {"color": COLORS, "durability": ("full", "relaxed")}


@dataclass(frozen=True, slots=True)
class Setting:
    """A value in force, and where it comes from."""

    value: str | None
    origin: str


class Settings:
    """All settings; the file is read once, when something first needs it."""

    def __init__(self, flags: Mapping[str, str | None]) -> None:
        self._flags = {name: value for name, value in flags.items() if value is not None}
        self._file: dict[str, str] | None = None
        self.path: Path | None = None

    def __getitem__(self, name: str) -> Setting:
        if name in self._flags:
            return Setting(self._flags[name], f"--{name}")
        variable = f"SEMGRAPH_{name.upper()}"
        if os.environ.get(variable):
            return Setting(_checked(name, os.environ[variable], variable), variable)
        if name in self._of_file():
            return Setting(self._of_file()[name], str(self.path))
        return Setting(KNOWN[name][0], "built in")

    def get(self, name: str) -> str | None:
        """The value in force."""
        return self[name].value

    def _of_file(self) -> dict[str, str]:
        if self._file is None:
            path = config_file()
            self.path = path
            self._file = {} if path is None else _read(path)
        return self._file


def config_file() -> Path | None:
    """The configuration file: where `SEMGRAPH_CONFIG` says (empty: nowhere), else the user's own if it is there.

    Raises:
        ConfigError: the variable names a file that is not there.
    """
    named = os.environ.get("SEMGRAPH_CONFIG")
    if named is not None:
        if named and not Path(named).exists():
            raise ConfigError(f"there is no configuration file at {named!r}, where SEMGRAPH_CONFIG says it is")
        return Path(named) if named else None
    path = default_file()
    return path if path.exists() else None


def default_file() -> Path:
    """Where people look for it."""
    from platformdirs import user_config_path

    return user_config_path("semgraph", appauthor=False) / "config.toml"


def _read(path: Path) -> dict[str, str]:
    import tomllib

    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"can't read the configuration file {str(path)!r}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the configuration file {str(path)!r} is no TOML: {error}") from None
    return {name: _checked(name, value, str(path), path.parent) for name, value in found.items()}


def _checked(name: str, value: Any, origin: str, folder: Path | None = None) -> str:
    if name not in KNOWN:
        raise ConfigError(f"unknown setting {name!r} in {origin!r}; known are {', '.join(KNOWN)}")
    if not isinstance(value, str) or not value:
        raise ConfigError(f"the setting {name!r} in {origin!r} must be a text, not {value!r}")
    allowed = _CHOICES.get(name)
    if allowed is not None and value not in allowed:
        raise ConfigError(
            f"the setting {name!r} in {origin!r} is {', '.join(allowed[:-1])} or {allowed[-1]}, not {value!r}"
        )
    if name == "db" and folder is not None and "://" not in value:
        return str(folder / Path(value).expanduser())
    return value
