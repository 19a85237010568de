"""Writes a report: the page, its figures, and the Markdown with its pictures."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from lnp.engine.files import atomic_path, write_text
from lnp.report.csv_files import require_file_path
from lnp.report.page import require_report_folder
from lnp.report.plots import require_matplotlib, write_figure
from lnp.report.results import Analysis
from lnp.report.results_markdown import FIGURE_FOLDER, render_markdown
from lnp.report.results_page import render_results

__all__ = ["check_targets", "write_results"]

PAGE = "index.html"


def check_targets(folder: Path, markdown: Path | None) -> None:
    """Raises where nothing could be written in the end; call it before long work."""
    require_matplotlib()
    require_report_folder(folder)
    if markdown is not None:
        require_file_path(markdown)


def write_results(
    analysis: Analysis, folder: Path, markdown: Path | None, on_figure: Callable[[str], None] | None = None
) -> list[Path]:
    """Writes ``folder/index.html`` and ``folder/figures/``; ``markdown`` and ``figures/`` beside it. Returns the paths.

    Args:
        analysis: What to say.
        folder: For the page.
        markdown: The Markdown file; ``None`` for none.
        on_figure: Called with the name of every figure that is written.
    """
    check_targets(folder, markdown)
    page = folder / PAGE
    paths = [page]
    texts = {page: render_results(analysis)}
    if markdown is not None:
        texts[markdown] = render_markdown(analysis)
        paths.append(markdown)
    for figure in analysis.all_figures:
        png, svg = write_figure(figure, folder / FIGURE_FOLDER)
        paths += [png, svg]
        if markdown is not None and markdown.parent != folder:
            paths.append(markdown.parent / FIGURE_FOLDER / png.name)
            with atomic_path(paths[-1]) as temporary:
                shutil.copyfile(png, temporary)
        if on_figure is not None:
            on_figure(figure.name)
    for path, text in texts.items():
        write_text(path, text)
    return paths
