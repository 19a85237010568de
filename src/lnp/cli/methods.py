"""``lnp methods``: what can be trained, and with which options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lnp.cli.output import AsJson, print_json, print_table, print_text, table

if TYPE_CHECKING:
    from lnp.report.method_sheet import MethodSheet

__all__ = ["methods"]


def methods(
    name: Annotated[str | None, typer.Argument(help="Show this method's options and presets.")] = None,
    as_json: AsJson = False,
) -> None:
    """Lists the methods, or shows the options of one."""
    from lnp.report.method_sheet import method_sheet, method_sheets

    if name is not None:
        sheet = method_sheet(name)
        if as_json:
            print_json(sheet.to_json())
        else:
            _show(sheet)
        return
    sheets = method_sheets()
    if as_json:
        print_json([sheet.to_json() for sheet in sheets])
        return
    shown = table(None, "name", "what it does", "needs", "reference")
    for sheet in sheets:
        shown.add_row(sheet.name, sheet.summary, ", ".join(sheet.needs) or "–", sheet.reference)
    print_table(shown)


def _show(sheet: MethodSheet) -> None:
    from rich.markup import escape

    print_text(f"{sheet.name}: {sheet.summary}\nreference: {sheet.reference}; needs: {', '.join(sheet.needs) or '–'}\n")
    shown = table("options (--set name=value)", "name", "default", "meaning")
    for option in sheet.options:
        shown.add_row(option.name, escape(str(option.default)), escape(option.meaning))
    print_table(shown)
    if sheet.presets:
        shown = table("presets (--preset name)", "name", "options that differ from the defaults")
        for name, values in sheet.presets.items():
            shown.add_row(name, escape(", ".join(f"{key}={value}" for key, value in values.items())) or "none")
        print_table(shown)
