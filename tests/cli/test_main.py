"""What all commands have in common."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lnp import __version__

COMMANDS = ("demo", "datasets", "methods", "train", "predict")


def test_version(call) -> None:
    result = call("--version")
    assert (result.exit_code, result.stdout) == (0, f"lnp {__version__}\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example_and_json(call, command: str) -> None:
    result = call(command, "--help")
    assert result.exit_code == 0
    assert f"Example: lnp {command}" in result.stdout
    assert "--json" in result.stdout


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from lnp.cli.main import app\n"
        "try:\n    app(['--help'], prog_name='lnp')\n"
        "except SystemExit:\n    pass\n"
        "print(sorted({'torch', 'sklearn', 'scipy', 'numpy', 'matplotlib'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_python_m_lnp_is_lnp() -> None:
    done = subprocess.run([sys.executable, "-m", "lnp", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"lnp {__version__}\n"
