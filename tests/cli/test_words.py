"""Lists, rates and durations."""

from __future__ import annotations

import pytest

from lnp.cli.words import duration, read_list, read_rates
from lnp.errors import ConfigError


def test_options_of_a_graph_keep_their_commas() -> None:
    assert read_list("cora,digits:neighbours=5,seed=1, actor,") == ["cora", "digits:neighbours=5,seed=1", "actor"]
    assert read_list(None) is None


def test_rates_are_numbers() -> None:
    assert read_rates("0.2,.8, 1") == [0.2, 0.8, 1.0]
    assert read_rates(None) is None
    with pytest.raises(ConfigError, match="Expected `--rates` to be numbers separated by commas, but got"):
        read_rates("0.2;0.4")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 seconds"), (119, "119 seconds"), (120, "2 minutes"), (7199, "120 minutes"), (7200, "2.0 hours")],
)
def test_the_unit_fits(seconds: float, words: str) -> None:
    assert duration(seconds) == words
