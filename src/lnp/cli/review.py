"""``lnp review``: look at suspect labels in a browser, and say what they should be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lnp.cli.output import print_text

if TYPE_CHECKING:
    from lnp.web.scoring import OnScored

__all__ = ["review"]


def review(
    folder: Annotated[Path, typer.Argument(help="The graph, from `lnp import`.")],
    model: Annotated[Path, typer.Argument(help="A model of that graph, from `lnp train`.")],
    port: Annotated[int, typer.Option(help="The port of the page; 0 takes any that is free.")] = 0,
    reviewer: Annotated[str | None, typer.Option(help="Your name, kept with your verdicts.")] = None,
    scorer: Annotated[str, typer.Option(help="Who scores the labels: cross-fit, model or cleanlab.")] = "cross-fit",
    rescore: Annotated[
        bool, typer.Option("--rescore", help="Score the labels anew, with the verdicts so far as trusted labels.")
    ] = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    export: Annotated[
        Path | None, typer.Option(help="Write the verdicts so far to this label file, and serve nothing.")
    ] = None,
) -> None:
    """Shows the labels of a graph in a browser, the most suspect first, for people to check.

    The page is for this machine only, and its address holds a secret. Every verdict is kept at once in
    FOLDER/verdicts.sqlite, with reviewer and time. Exported as a label file they are trusted labels for
    `lnp train FOLDER --labels verdicts.csv`; a button of the page trains again too. Of a model of several seeds the
    first is asked.
    """
    if export is not None:
        _export(folder, model, export)
        return
    from lnp.web.server import listen, require_web, serve

    require_web()
    import threading
    import webbrowser

    from lnp.web.app import make_app
    from lnp.web.door import Door, reviewer_name
    from lnp.web.review import VERDICTS, open_review

    name = reviewer_name(reviewer) if reviewer is not None else _user_name()
    listener = listen(port)
    try:
        with _scoring() as on_scored:
            opened = open_review(folder, model, scorer=scorer, rescore=rescore, on_scored=on_scored)
        door = Door(listener.getsockname()[1], name)

        def on_start() -> None:
            print_text(f"Review at {door.address}\nPress Ctrl-C to end it.")
            if browser:
                threading.Thread(target=webbrowser.open, args=(door.address,), daemon=True).start()

        try:
            serve(make_app(opened, door), listener, on_start)
        except KeyboardInterrupt:
            pass  # the usual way to end
        finally:
            opened.close()
        print_text(f"Ended. All verdicts are in {folder / VERDICTS}.")
    finally:
        listener.close()


@contextmanager
def _scoring() -> Iterator[OnScored]:
    """A bar while labels are scored, on standard error; a line where that is no terminal."""
    import sys

    from lnp.cli.progress import step_progress

    with ExitStack() as stack:
        advance: list[Callable[[str, int], None]] = []

        def on_scored(done: int, total: int) -> None:
            if done == 1:
                if not sys.stderr.isatty():
                    typer.echo(f"Scoring the labels with {total} networks …", err=True)
                bar = stack.enter_context(step_progress("scoring the labels", total))
                advance.append(bar)
            for step in advance:
                step(f"network {done} of {total}", 1)

        yield on_scored


def _user_name() -> str:
    """What the system calls whoever runs this; "reviewer" where it does not know."""
    import getpass

    from lnp.errors import ConfigError
    from lnp.web.door import reviewer_name

    try:
        return reviewer_name(getpass.getuser())
    except (KeyError, OSError, ConfigError):
        return "reviewer"


def _export(folder: Path, model: Path, out: Path) -> None:
    import csv
    import io

    from lnp.engine.files import write_text
    from lnp.report.csv_files import require_file_path
    from lnp.web.review import export_labels

    require_file_path(out)
    text = export_labels(folder, model)
    write_text(out, text)
    count = sum(1 for _ in csv.reader(io.StringIO(text))) - 1
    print_text(f"Wrote {out}: {count} labels. Next: lnp train {folder} --labels {out}")
