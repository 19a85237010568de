"""The command ``lnp``: parse, call, print. Whatever is heavy is imported by the command that needs it."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from lnp import __version__
from lnp.cli.audit import audit
from lnp.cli.datasets import datasets
from lnp.cli.demo import demo
from lnp.cli.guard import GuardedGroup
from lnp.cli.import_ import import_
from lnp.cli.methods import methods
from lnp.cli.predict import predict
from lnp.cli.report import report
from lnp.cli.reproduce import reproduce
from lnp.cli.review import review
from lnp.cli.runs import runs
from lnp.cli.suggest_trusted import suggest_trusted
from lnp.cli.train import train
from lnp.cli.tune import tune

__all__ = ["app", "main"]

app = typer.Typer(
    name="lnp",
    cls=GuardedGroup,
    help="Node classification on graphs whose labels cannot be trusted.",
    epilog="Example: lnp demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lnp {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Node classification on graphs whose labels cannot be trusted."""


app.command(epilog="Example: lnp demo --out lnp-demo --seeds 3")(demo)
app.command(epilog="Example: lnp datasets")(datasets)
app.command(epilog="Example: lnp methods lnp-v2")(methods)
app.command("import", epilog="Example: lnp import nodes.csv edges.csv --label topic --text abstract --out my-graph")(
    import_
)
app.command(
    epilog="Example: lnp train my-graph --out my-model, or lnp train cora --noise flip --rate 0.8 --method lnp-v2 "
    "--protocol strict --seeds 5 --out run/"
)(train)
app.command(epilog="Example: lnp predict my-model my-graph --out predictions.csv")(predict)
app.command("suggest-trusted", epilog="Example: lnp suggest-trusted my-graph --budget 25 --out checks.csv")(
    suggest_trusted
)
app.command(epilog="Example: lnp audit my-model my-graph --out audit.csv --page audit.html")(audit)
app.command(epilog="Example: lnp reproduce table-2 --datasets cora --workers 2 --dry-run")(reproduce)
app.command(
    epilog="Example: lnp tune table-2 --datasets cora --methods gcn,lnp-v2 --rates 0.4,0.8 --trials 12 --workers 2"
)(tune)
app.command(epilog="Example: lnp report --results results --out report --markdown docs/results.md")(report)
app.command(epilog="Example: lnp runs --dataset cora --noise flip --export runs.csv")(runs)
app.command(epilog="Example: lnp review my-graph my-model --reviewer Ada")(review)


def main() -> None:
    """The entry point. Being told to end (``kill``, ``timeout``, a service manager) is an interrupt: workers end."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    app(prog_name="lnp")
