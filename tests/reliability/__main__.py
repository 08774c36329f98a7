"""Run the checks of a tier: `python -m tests.reliability --tier N`, from the root of a clone."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from . import every_check, report, running
from .registry import TIERS


@click.command()
@click.option("--tier", type=click.Choice(TIERS), required=True, help="C every commit, N every night, R a release.")
@click.option("--only", default="", help="Ids, separated by commas: K1,S1. A letter alone is all of its ids.")
@click.option("--seed", type=int, help="Repeats a run; without it one is drawn for each check.")
@click.option("--scale", type=click.FloatRange(0, min_open=True), default=1.0, help="Part of the tier's size, as 0.25.")
@click.option("--fresh", is_flag=True, help="Repeat what an earlier run has finished too.")
@click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path(".reliability.jsonl"),
    show_default=True,
    help="Where results are kept, so that a run that was stopped goes on where it was.",
)
def main(tier: str, only: str, seed: int | None, scale: float, *, fresh: bool, state: Path) -> None:
    """Measure what is promised. Exit code 1 if any check failed."""
    chosen = _chosen(only)
    results, found = running.Results(state, fresh=fresh), []
    for check in chosen:
        size = max(1, round(check.sizes[tier] * scale))
        result = results.finished(check.id, tier, size, seed)
        again = result is not None
        if result is None:
            result = running.run(check, tier, size=size, seed=seed, told=report.progress(check))
            results.keep(result)
        report.tell(check, result, again=again)
        found.append((check, result))
    click.echo(report.table(found))
    sys.exit(not all(result.passed for _, result in found))


def _chosen(only: str) -> list:
    try:
        checks = every_check()
    except ModuleNotFoundError as error:
        message = f"the module {error.name} is missing: .venv/bin/pip install -e '.[dev]' brings what the checks need"
        raise click.ClickException(message) from None
    names = [name.strip().upper() for name in only.split(",") if name.strip()]
    unknown = [name for name in names if name not in checks and not (name.isalpha() and len(name) == 1)]
    if unknown:
        message = f"no check {', '.join(unknown)}; there are {', '.join(checks)}"
        raise click.BadParameter(message, param_hint="--only")
    return [check for id, check in checks.items() if not names or id in names or id[0] in names]


if __name__ == "__main__":
    main()
