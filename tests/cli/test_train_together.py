"""``lnp train --distributed`` without the processes it needs, or with what they cannot share."""

from __future__ import annotations

import pytest

from lnp.engine.process_group import VARIABLES


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--method", "lnp-v2", "--backbone", "sign"), "Start them as: torchrun --nproc-per-node 2 -m lnp train"),
        (("--method", "lnp-v2"), "Expected `--backbone sign` with `--distributed`, but got gcn"),
        (("--method", "pignn", "--backbone", "sign"), "Those that can: "),
        (("--backbone", "sign", "--batch", "neighbours"), "Expected `--distributed` or `--batch`, but got both"),
    ],
)
def test_what_cannot_be_shared_is_refused_in_one_line(
    call, small: list[str], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    result = call("train", *small, *arguments, "--distributed")
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
