"""The flags of batches."""

from __future__ import annotations

import json

import pytest

from lnp.cli.batches import batch_text
from lnp.errors import ConfigError


def test_flags_become_what_a_run_records() -> None:
    assert batch_text(None, None, None, None, None) == "full"
    assert batch_text("neighbours", 512, "10, 5", None, None) == "neighbours:size=512,fan_out=10/5"
    assert batch_text("neighbours", None, "all", None, None) == "neighbours:size=1024,fan_out=all"
    assert batch_text("clusters", None, None, 50, 5) == "clusters:count=50,together=5"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ((None, 64, None, None, None), "`--batch-size` with `--batch neighbours`, but got it with `--batch full`"),
        (("clusters", None, "10", None, None), "`--fan-out` with `--batch neighbours`, but got it with `--batch clus"),
        (("neighbours", None, None, None, 3), "`--clusters-per-batch` with `--batch clusters`"),
        (("neighbours", None, "ten", None, None), "`fan_out` of the batches to be a whole number, but got 'ten'"),
        (("mini", None, None, None, None), "`batch` to be one of clusters, full, neighbours, but got 'mini'"),
    ],
)
def test_flags_that_do_not_fit_are_named(flags, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ConfigError, match=message):
        batch_text(*flags)


def test_training_in_parts_says_so_and_others_are_refused(call, small: list[str]) -> None:  # type: ignore[no-untyped-def]
    arguments = ["train", *small, "--method", "lnp-v1", "--batch", "neighbours", "--batch-size", 20, "--fan-out", 2]
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["batch"] == "neighbours:size=20,fan_out=2"
    refused = call("train", *small, "--method", "pignn", "--batch", "neighbours")
    assert refused.exit_code == 2
    assert "pignn needs the whole graph at once" in " ".join(refused.output.split())
