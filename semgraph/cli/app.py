"""What all commands share: the group with its options, the graph they open, and how a command is declared."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from semgraph.errors import NotFoundError, RejectedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from semgraph.cli.settings import Settings
    from semgraph.engine import KnowledgeGraph
    from semgraph.model import Entity
    from semgraph.temporal import Bound
    from semgraph.view import GraphView

    Function = Callable[..., Any]

#: Headings of the help, the modules that hold their commands, and those commands in the order in which one meets them.
SECTIONS: Final[dict[str, dict[str, str]]] = {
    "Tell": {"telling": "add set remember settle", "extracting": "extract"},
    "Take back": {"telling": "end deny correct retract unretract", "removing": "forget veto purge"},
    "Read": {
        "reading": "value about timeline list entities aliases",
        "judging": "conflicts explain history diff recalled rejected",
        "walks": "recall ask profile neighbors paths match",
    },
    "Name": {"naming": "declare alias unalias merge unmerge keep-apart suggest define predicates"},
    "Keep": {"keeping": "export import verify stats backup reembed recover", "probing": "probe"},
    "Serve": {"serving": "serve"},
    "Learn": {"helping": "demo help config completion"},
}
#: The module of each command.
PLACES: Final = {
    name: module for modules in SECTIONS.values() for module, names in modules.items() for name in names.split()
}
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

    settings: Settings
    at: str | None
    known_at: str | None
    json: bool
    _graph: KnowledgeGraph | None = None
    _before: Bound | None = None
    typed: list[str] = field(default_factory=list)  # the options of the group that commands to type must repeat

    def graph(self, *, writing: bool = False, noting: bool = False, source: str | None = None) -> KnowledgeGraph:
        """The graph, open until the command ends; one that is only read is never made or changed by that.

        `noting` is for what counts as recalled: a file that is there is written to where it can be.
        """
        if self._graph is None:
            from pathlib import Path

            from semgraph.engine import KnowledgeGraph

            db = self.settings.get("db")
            target, made = (db, False) if db else _default_file()
            there = noting and target is not None and Path(target).is_file()
            read_only = not (writing or made or there or target == ":memory:")
            embedder = self.settings.get("embedder")
            self._graph = KnowledgeGraph(
                target,
                scope=self.settings.get("scope") or "default",
                source=source or self.settings.get("source") or "user",
                timezone=self.settings.get("timezone"),
                durability=self.settings.get("durability") or "full",
                read_only=read_only,
                embedder=None if embedder == "none" else embedder,
            )
            click.get_current_context().find_root().call_on_close(self._graph.close)
            if writing:
                self._before = self._graph.at().known_at
        return self._graph

    def trying(self) -> KnowledgeGraph:
        """The graph for what is done and undone: where there is no file yet, one in memory rather than a new file."""
        from pathlib import Path

        db = self.settings.get("db")
        if self._graph is None and not (Path(db) if db else default_file_path()).exists():
            from semgraph.engine import KnowledgeGraph

            scope = self.settings.get("scope") or "default"
            self._graph = KnowledgeGraph(scope=scope, timezone=self.settings.get("timezone"))
        return self.graph(writing=True)

    def changed(self) -> bool | None:
        """Whether the store was written to since this command opened it for that; None if that can't be told."""
        if self._graph is None or self._before is None:
            return False
        try:
            return self._graph.at().known_at != self._before
        except Exception:  # noqa: BLE001 - whatever an interrupt left behind
            return None

    def view(self, *, noting: bool = False) -> GraphView:
        """The graph at the times of `--at` and `--known-at`."""
        graph = self.graph(noting=noting)
        if self.at is None and self.known_at is None:
            return graph
        return graph.at(self.when(self.at), known_at=self.when(self.known_at))

    def when(self, text: str | None) -> Any:
        """A time as people write it."""
        if text is None:
            return None
        from semgraph.cli.dates import moment

        return moment(text, self.settings.get("timezone"))

    def timed(self, words: Mapping[str, Any]) -> dict[str, Any]:
        """Keywords for the API from those of a command: what was left out is left out, times are read."""
        from semgraph.cli.dates import times

        given = {key: value for key, value in words.items() if value not in (None, ())}
        if "valid_to" in given and "valid_through" in given:
            raise click.UsageError(
                "give --valid-to (the first moment after) or --valid-through (the last unit), not both"
            )
        return times(given, self.settings.get("timezone"))

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


class Interrupted(click.ClickException):
    """Somebody pressed Ctrl-C; the message says what is kept."""


class Once(click.Command):
    """A command for which an option that holds one value is refused where it is given twice: one of them would go."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; a usage error for an option given twice, unless it is made for that or says nothing new."""
        if args and not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            for option in order:
                if isinstance(option, click.Option) and _holds_one(option) and order.count(option) > 1:
                    raise click.UsageError(f"{'/'.join(_longest(option))} is given twice, and takes one value", ctx)
        return super().parse_args(ctx, args)


def _holds_one(option: click.Option) -> bool:
    return not (option.multiple or option.count or (option.is_flag and not option.secondary_opts))


def _longest(option: click.Option) -> list[str]:
    return [max(names, key=len) for names in (option.opts, option.secondary_opts) if names]


class Command(Once):
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
        try:
            return super().invoke(ctx)
        except RejectedError as error:
            from semgraph.cli.dates import reason_of

            raise reason_of(error, ctx) from None
        except KeyboardInterrupt:
            raise Interrupted(_kept(app)) from None


def _kept(app: App | None) -> str:
    """What an interrupted command leaves behind."""
    changed = False if app is None else app.changed()
    if changed is None:
        return "interrupted"
    return "interrupted; what it had written is kept" if changed else "interrupted; nothing was written"


def _choose_json(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    app = ctx.find_object(App)
    if value and app is not None:
        app.json = True


class Commands(Once, click.Group):
    """The group: a command's module is imported when the command is asked for, and the help has headings."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Every command, in the order of the help."""
        return list(PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command of that name."""
        if cmd_name in PLACES and cmd_name not in self.commands:
            import_module(f"semgraph.cli.{PLACES[cmd_name]}")
        return self.commands.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that words begin with; for an unknown one the error names what looks like it."""
        if args and args[0] not in PLACES and args[0][:1].isalnum():
            from difflib import get_close_matches

            near = get_close_matches(args[0], PLACES, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"there is no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, under headings."""
        for heading, modules in SECTIONS.items():
            names = [name for part in modules.values() for name in part.split()]
            found = [(name, self.get_command(ctx, name)) for name in names]
            limit = formatter.width - 6 - max(map(len, PLACES))
            rows = [(name, one.get_short_help_str(limit)) for name, one in found if one is not None]
            with formatter.section(heading):
                formatter.write_dl(rows, col_max=20)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.option("--db", metavar="PATH", help="The file; else $SEMGRAPH_DB, the configuration, or one of your own.")
@click.option("--scope", metavar="NAME", help="The graph within the file; 'default' if left out.")
@click.option("--at", metavar="WHEN", help="Read what held then.")
@click.option("--known-at", metavar="WHEN", help="Read what was known then.")
@click.option("--timezone", metavar="ZONE", help="Where dates without an offset are read; UTC if left out.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), help="When to use colour; NO_COLOR is heeded.")
@click.version_option(package_name="semgraph", message="%(prog)s %(version)s")
@click.pass_context
def cli(
    ctx: click.Context,
    /,
    at: str | None,
    known_at: str | None,
    *,
    as_json: bool,
    color: str | None,
    **flags: str | None,
) -> None:
    """Keep what each source said, and read what holds: now, then, or as it was known then.

    Times are 2024-03-01T09:00Z, 2024-03-01, 2024-03 or 2024, or words such as 'last month': see `semgraph help dates`.
    A name that several entities bear may be given as the id of one of them.
    """
    from semgraph.cli.settings import Settings

    if flags["db"] in {"", ":memory:"}:
        raise click.BadParameter("it must be the path of a file, which the next command finds again", param_hint="--db")
    for name in ("scope", "timezone"):
        if flags[name] == "":  # as an unset variable of a shell gives it
            raise click.BadParameter("it is empty; leave it out for the default", param_hint=f"--{name}")
    settings = Settings({**flags, "color": color})
    typed = [word for name, value in flags.items() if value is not None for word in (f"--{name}", value)]
    ctx.obj = App(settings, at, known_at, as_json, typed=typed)
    ctx.color = _colour(settings)


def _colour(settings: Settings) -> bool | None:
    """Whether to use colour; None leaves it to whether a terminal reads."""
    from semgraph.errors import ConfigError

    try:
        chosen = settings["color"]
    except ConfigError:
        return False  # whatever needs the configuration will say what is wrong with it
    if chosen.value != "auto":
        return chosen.value == "always"
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return False if plain else None


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


class Known(click.types.StringParamType):
    """A name that the shell can complete from the store."""

    def __init__(self, kind: str) -> None:
        self.name = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        """What the store knows that begins like this."""
        from semgraph.cli.completing import entities, predicates

        return (entities if self.name == "entity" else predicates)(ctx, incomplete)


ENTITY: Final = Known("entity")
PREDICATE: Final = Known("predicate")


def qualifiers(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, Any] | None:
    """`name=value` pairs as a mapping; numbers, true and false, and texts in double quotes are read as JSON."""
    found: dict[str, Any] = {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{pair!r} is no name=value")
        if name in found:
            raise click.BadParameter(f"{name!r} is given twice, and has one value")
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


def show(app: App, /, value: object, lines: Iterable[str], *, empty: str = "", truncated: bool = False) -> None:
    """Print a document or lines; beside them say that there are none, or that there are more."""
    if app.json:
        from semgraph.cli import document

        document.emit(value)
    else:
        printed = False
        for line in lines:
            click.echo(line)
            printed = True
        if empty and not printed:
            click.echo(f"semgraph: {empty}", err=True)
    if truncated:
        click.echo("semgraph: there are more; --limit shows them", err=True)


def absence(view: GraphView, *given: str | Entity | None) -> str:
    """Why nothing was found: a name that nothing bears, with those that look like it, or only nothing that holds."""
    for name in given:
        if name is None:
            continue
        try:
            view.entity(name)
        except NotFoundError as error:
            from semgraph.cli.text import clean

            return clean(f"nothing holds: {error}")
    return "nothing holds"


def default_file_path() -> Path:
    """The file in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("semgraph", appauthor=False) / "semgraph.db"


def _default_file() -> tuple[Path, bool]:
    """The file in the user's data folder, and whether this is its first use."""
    from semgraph.store.faults import from_system

    path = default_file_path()
    if path.exists():
        return path, False
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise from_system(error, path.parent, "create") from None
    click.echo(f"semgraph: keeps its data in {path}", err=True)
    return path, True
