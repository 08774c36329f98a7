"""The commands to learn from: demo, help, config, completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from semgraph.cli.app import PLACES, cli, command, pass_app, show
from semgraph.cli.text import clean
from semgraph.errors import SemgraphError

if TYPE_CHECKING:
    from collections.abc import Callable

    from semgraph.cli.app import App

__all__ = ["TOPICS"]

_WIDTH: Final = 78
_DATES: Final = """\
Every option and argument that takes a date takes these.

In figures (ISO 8601 and EDTF):
  2024-03-05T09:30Z           a moment; without an offset it needs --timezone
  2024-03-05, 2024-03, 2024   a day, a month, a year
  198X, -0043, Y12024         a decade, 44 BC, a year of five digits
  2024~, 2024?, 2024%         approximate, uncertain, both
  ..                          an open end
  unknown                     it has begun, or ended, and nobody knows when
  always                      without a beginning

In words:
  July 2026, 5 March 2024, Q3 2024, early 2019, the 1990s, 44 BC
  around June 2026, yesterday, last month, two weeks ago, since March
  from 2018 to 2020           with --valid-from: both ends

What was understood is said on standard error. What could mean two things is
refused: 03/04/2024.

A coarse date stands for its first moment: --valid-to 2020 and --valid-from
2020 meet without gap or overlap; --valid-through 2020 includes the year."""
_EXIT: Final = """\
  0    done, also where nothing was found
  1    an error of semgraph: a line on standard error says what was wrong and
       what to do; also verify, conflicts --exit-code and recover where they
       find something, import where it refused a claim, probe on a leak; and,
       without a line, where whoever read the output has closed it (| head)
  2    wrong usage: nothing was done
  130  interrupted with Ctrl-C: a write was kept as a whole or not at all, and
       the line says which"""
_NAMES: Final = """\
A name leads to the entity that bears it; case, width and invisible characters
make no difference. Where several entities bear a name, give the id of one of
them instead (e0123456789abcdef), as the error and `semgraph entities` show it.
A word that begins with a dash comes after --: semgraph about -- -x"""


@command(example="semgraph demo\nsemgraph demo --keep holders.db")
@click.option("--keep", metavar="PATH", help="Keep the file here; without it, it is removed at the end.")
def demo(keep: str | None) -> None:
    """A tour on real data, in a file of its own.

    The presidents and vice presidents of the United States since 1789.
    """
    from semgraph.cli.phrasing import command_words
    from semgraph.cli.text import folded
    from semgraph.demo import tour

    def run(words: list[str]) -> None:
        try:
            cli.main(args=words, prog_name="semgraph", standalone_mode=False)
        except SemgraphError as error:  # some steps show one
            tell(f"semgraph: {clean(command_words(str(error)))}")

    def tell(line: str) -> None:
        if line.startswith("$ "):  # to be copied in one piece
            click.echo(line)
        else:
            for part in folded(line, "# " if line.startswith("# ") else ""):
                click.echo(part)

    tour(run, tell, keep)


def _config_help() -> str:
    from semgraph.cli.settings import KNOWN, default_file
    from semgraph.cli.text import wrapped

    lines = [
        f"Settings are read from {default_file()},",
        "or from the file that SEMGRAPH_CONFIG names (empty: from none).",
        "",
    ]
    lines += ["It is TOML, every value a text:", "", '  db = "~/notes.db"', '  source = "user"', ""]
    for name, (_, meaning) in KNOWN.items():
        first, *more = wrapped(meaning, _WIDTH - 14)
        lines += [f"  {name:<11} {first}", *(" " * 14 + line for line in more)]
    lines += ["", "A flag counts more than an environment variable (SEMGRAPH_DB, SEMGRAPH_SCOPE"]
    lines += ["and so on), that more than the file. `semgraph config` shows what is in force."]
    return "\n".join(lines)


def _json_help() -> str:
    from semgraph.cli.reference import json_lines

    return "\n".join(json_lines())


def _probe_help() -> str:
    from semgraph.cli.probing import FORMAT

    return FORMAT


TOPICS: Final[dict[str, Callable[[], str]]] = {
    "dates": lambda: _DATES,
    "names": lambda: _NAMES,
    "json": _json_help,
    "config": _config_help,
    "exit": lambda: _EXIT,
    "probe": _probe_help,
}


@command(name="help", example="semgraph help add\nsemgraph help json")
@click.argument("topic", required=False)
@click.pass_context
def help_on(ctx: click.Context, topic: str | None) -> None:
    """Help on a command or a topic.

    TOPIC is a command, or dates, names, json, config, exit or probe; without it, the list of commands.
    """
    root = ctx.find_root()
    if topic is None:
        click.echo(root.get_help())
        return
    if topic in TOPICS and topic not in PLACES:
        click.echo(TOPICS[topic]())
        return
    found = cli.get_command(root, topic)
    if found is None:
        raise click.UsageError(f"there is no help on {topic!r}; topics are {', '.join(TOPICS)} and every command")
    with click.Context(found, info_name=topic, parent=root) as own:
        click.echo(found.get_help(own))
    if topic in TOPICS:
        click.echo(f"\n{TOPICS[topic]()}")


@command(example="semgraph config")
@pass_app
def config(app: App) -> None:
    """The settings in force, and where each comes from."""
    from semgraph.cli.app import default_file_path
    from semgraph.cli.settings import KNOWN
    from semgraph.cli.text import table

    found = {name: app.settings[name] for name in KNOWN}
    rows = []
    for name, setting in found.items():
        value = setting.value or (str(default_file_path()) if name == "db" else "-")
        rows.append([name, value, f"from {setting.origin}" if setting.origin != "built in" else setting.origin])
    show(app, found, table(rows, styles=("name", "", "dim")))


@command(
    example="semgraph completion bash >> ~/.bashrc\nsemgraph completion fish > ~/.config/fish/completions/semgraph.fish"
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """The script that completes commands, options and names.

    Put it where your SHELL reads it at its start. Names of entities and predicates come from the store in force.
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    if made is not None:
        click.echo(made(cli, {}, "semgraph", "_SEMGRAPH_COMPLETE").source())
