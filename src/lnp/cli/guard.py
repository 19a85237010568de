"""One line for every error that a user can mend, and no traceback."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from lnp.errors import InputError, WorkerError

__all__ = ["GuardedGroup"]

FAILED, BAD_INPUT, STOPPED = 1, 2, 130


class GuardedGroup(TyperGroup):
    """Runs a command; what goes wrong is one line on standard error: bad input 2, a lost worker 1, an interrupt 130."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command that was named."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            _end(f"error: {error}", BAD_INPUT)
        except WorkerError as error:
            _end(f"error: {error}", FAILED)
        except typer.TyperException as error:  # a command line that does not parse
            _end(f"error: {error.format_message()} Try `{ctx.info_name} --help`.", BAD_INPUT)
        except KeyboardInterrupt:
            _end("stopped", STOPPED)
        except BrokenPipeError:
            raise  # whoever read our output has gone: no error
        except OSError as error:
            where = f" {error.filename}" if error.filename else ""
            _end(f"error: Cannot read or write{where}: {error.strerror or error}.", BAD_INPUT)


def _end(message: str, code: int) -> None:
    typer.secho(" ".join(message.split()), fg=typer.colors.RED, err=True)
    raise typer.Exit(code)
