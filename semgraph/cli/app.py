"""What all commands share: the group with its options, the graph they open, and how a command is declared."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from semgraph.engine import KnowledgeGraph
    from semgraph.model import Entity
    from semgraph.view import GraphView

    Function = Callable[..., Any]

_ENTITY_ID: Final = re.compile(r"e[0-9a-f]{16}")
_EPILOG: Final = """\b
Examples:
  semgraph add Maya works_at Stripe --valid-from 2021-03
  semgraph --at 2022 about Maya
  semgraph demo
"""


@dataclass(slots=True)
class App:
    """The options of the group, and what they lead to."""

    db: str | None
    scope: str
    at: str | None
    known_at: str | None
    json: bool
    _graph: KnowledgeGraph | None = None

    def graph(self, *, writing: bool = False) -> KnowledgeGraph:
        """The graph, open until the command ends; one that is only read is never made or changed by that."""
        if self._graph is None:
            from semgraph.engine import KnowledgeGraph

            target, made = (self.db, False) if self.db else _default_file()
            read_only = not (writing or made or target == ":memory:")
            self._graph = KnowledgeGraph(target, scope=self.scope, read_only=read_only)
            click.get_current_context().find_root().call_on_close(self._graph.close)
        return self._graph

    def view(self) -> GraphView:
        """The graph at the times of `--at` and `--known-at`."""
        graph = self.graph()
        if self.at is None and self.known_at is None:
            return graph
        return graph.at(when(self.at), known_at=when(self.known_at))

    def name(self, text: str) -> str | Entity:
        """A name as given; an id, as lists of candidates show it, stands for its entity."""
        if not _ENTITY_ID.fullmatch(text):
            return text
        from semgraph.model import Entity

        graph = self.graph()
        return graph.entity(Entity(text, text))

    def maybe_name(self, text: str | None) -> str | Entity | None:
        """The same where the name may be left out."""
        return None if text is None else self.name(text)


pass_app = click.make_pass_decorator(App)


class Command(click.Command):
    """A command with an example, and `--json` after its name too; `slices` says that it reads at the group's times."""

    def __init__(self, *args: Any, example: str = "", slices: bool = False, **more: Any) -> None:
        lines = "\n".join(f"  {line}" for line in example.splitlines())
        more["epilog"] = f"\b\nExample:\n{lines}"
        super().__init__(*args, **more)
        self.slices = slices
        self.params.append(
            click.Option(
                ["--json", "as_json"],
                is_flag=True,
                expose_value=False,
                callback=_choose_json,
                help="Print one JSON document instead of text.",
            )
        )

    def invoke(self, ctx: click.Context) -> Any:
        """Run it, if the times of the group mean anything to it."""
        app = ctx.find_object(App)
        if app is not None and not self.slices and (app.at is not None or app.known_at is not None):
            raise click.UsageError(f"--at and --known-at before a command are for reading: not for {self.name}", ctx)
        return super().invoke(ctx)


def _choose_json(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    app = ctx.find_object(App)
    if value and app is not None:
        app.json = True


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.option("--db", metavar="PATH", envvar="SEMGRAPH_DB", help="The file; else $SEMGRAPH_DB, else one of your own.")
@click.option("--scope", metavar="NAME", default="default", show_default=True, help="The graph within the file.")
@click.option("--at", metavar="WHEN", help="Read what held then.")
@click.option("--known-at", metavar="WHEN", help="Read what was known then.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
@click.version_option(package_name="semgraph", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, db: str | None, scope: str, at: str | None, known_at: str | None, *, as_json: bool) -> None:
    """Keep what each source said, and read what holds: now, then, or as it was known then.

    Times are 2024-03-01T09:00Z, 2024-03-01, 2024-03 or 2024. A name that several entities bear may be given as the id
    of one of them.
    """
    if db in {"", ":memory:"}:
        raise click.BadParameter("it must be the path of a file, which the next command finds again", param_hint="--db")
    ctx.obj = App(db, scope, at, known_at, as_json)


def command(*, example: str, slices: bool = False, name: str | None = None) -> Callable[[Function], click.Command]:
    """Declare a command of the group."""
    return cli.command(name, cls=Command, example=example, slices=slices)


def together(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Several options as one decorator, shown in the order given."""

    def decorate(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def qualifiers(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, Any] | None:
    """`name=value` pairs as a mapping; numbers, true and false, and texts in double quotes are read as JSON."""
    found: dict[str, Any] = {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{pair!r} is no name=value")
        found[name] = _scalar(text)
    return found or None


def _scalar(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, (str, int, float, bool)) else text


QUALIFIERS = click.option(
    "--qualifiers", metavar="NAME=VALUE", multiple=True, callback=qualifiers, help="Details of the claim; repeatable."
)
TOLD = together(
    click.option("--source", metavar="TEXT", help="Who says so: user, tool:NAME, imported:NAME or inferred."),
    click.option("--source-ref", metavar="TEXT", help="Where it is said: a message, a document."),
    click.option("--said-at", metavar="WHEN", help="When it was said; now if left out."),
)
VALIDITY = together(
    click.option("--valid-from", metavar="WHEN", help="Since when it holds."),
    click.option("--valid-to", metavar="WHEN", help="Until when, that moment not included."),
)


def when(text: str | None) -> Any:
    """A time as people write it; what is not understood goes on as it is, to be refused where refusals are kept."""
    from semgraph.dates import parse_when
    from semgraph.errors import RejectedError

    if text is None:
        return None
    try:
        return parse_when(text)
    except RejectedError:
        return text


def timed(words: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords for the API from those of a command: what was left out is left out, times are read."""
    times = {"valid_from", "valid_to", "valid_through", "said_at", "valid_at", "at"}
    return {key: when(value) if key in times else value for key, value in words.items() if value not in (None, ())}


def _default_file() -> tuple[Path, bool]:
    """The file in the user's data folder, and whether this is its first use."""
    from platformdirs import user_data_path

    from semgraph.store.faults import from_system

    path = user_data_path("semgraph", appauthor=False) / "semgraph.db"
    if path.exists():
        return path, False
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise from_system(error, path.parent, "create") from None
    click.echo(f"semgraph: keeps its data in {path}", err=True)
    return path, True
