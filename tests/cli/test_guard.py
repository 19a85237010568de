"""Errors become one line and an exit code; nothing else is hidden."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from lnp.cli.guard import GuardedGroup
from lnp.errors import ConfigError, WorkerError


def end(error: BaseException):
    app = typer.Typer(cls=GuardedGroup, pretty_exceptions_enable=False)

    @app.callback()
    def root() -> None:
        pass

    @app.command()
    def work() -> None:
        raise error

    return CliRunner().invoke(app, ["work"])


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ConfigError("Expected `rate`\n  to be less."), 2, "error: Expected `rate` to be less."),
        (WorkerError("Seeds 3, 4 were not finished."), 1, "error: Seeds 3, 4 were not finished."),
        (KeyboardInterrupt(), 130, "stopped"),
        (
            PermissionError(13, "Permission denied", "/x/y"),
            2,
            "error: Cannot read or write /x/y: Permission denied.",
        ),
    ],
)
def test_one_line_and_a_code(error: BaseException, code: int, line: str) -> None:
    result = end(error)
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", f"{line}\n")


def test_a_defect_is_not_hidden() -> None:
    result = end(RuntimeError("a defect"))
    assert isinstance(result.exception, RuntimeError)
    assert result.exit_code == 1


def test_a_command_line_that_does_not_parse_is_one_line_too(call) -> None:
    for arguments in (["train"], ["train", "--dataset", "digits", "--rate", "much"], ["paint"]):
        result = call(*arguments)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
