"""A specification is checked when it is made."""

from __future__ import annotations

import pytest

from lnp.errors import ConfigError, UnknownNameError
from lnp.experiments.spec import RunSpec


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"method": "lnp-v3"}, UnknownNameError, "Unknown method 'lnp-v3'. Did you mean"),
        ({"noise": "flop"}, UnknownNameError, "Unknown noise 'flop'"),
        ({"rate": 1.3}, ConfigError, r"`rate` to be in \[0, 1\], but got 1.3"),
        ({"protocol": "papre"}, UnknownNameError, "Unknown protocol 'papre'. Did you mean 'paper'"),
        ({"preset": "published"}, UnknownNameError, "Unknown preset of lnp-v2 'published'"),
        ({"options": {"lambda_4": 1}}, UnknownNameError, "Unknown option of lnp-v2 'lambda_4'"),
        ({"options": {"lambda_1": "much"}}, ConfigError, "`lambda_1` to be float, but got 'much'"),
        ({"trusted_size": 0}, ConfigError, "`trusted_size`"),
        ({"patience": -1}, ConfigError, "`patience`"),
        ({"batch": "parts"}, ConfigError, "`batch` to be one of clusters, full, neighbours, but got 'parts'"),
        (
            {"batch": "clusters", "method": "nrgnn"},
            ConfigError,
            "nrgnn needs the whole graph at once. Use batch 'full'",
        ),
    ],
)
def test_bad_parts_are_named(changes: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        RunSpec(**{"dataset": "digits", "method": "lnp-v2", **changes})  # type: ignore[arg-type]


def test_config_hash_depends_on_the_configuration_and_on_nothing_else() -> None:
    plain = RunSpec(dataset="digits", method="lnp-v2")
    default = plain.config().hidden
    assert (
        plain.config_hash == RunSpec(dataset="cora", method="lnp-v2", seed=4, options={"hidden": default}).config_hash
    )
    assert plain.config_hash != RunSpec(dataset="digits", method="lnp-v2", options={"hidden": default + 1}).config_hash
    assert plain.config_hash != RunSpec(dataset="digits", method="lnp-v1").config_hash


def test_an_option_that_came_later_leaves_the_name_of_a_configuration_as_it_was() -> None:
    def named(**options: object) -> str:
        return RunSpec(dataset="cora", method="gcn", options=options).config_hash

    recorded = "0cb73cbea21a"  # by the code from before the option
    assert named() == named(similar_weight=0.0) == named(links_width=0) == named(diffusion_steps=0) == recorded
    assert recorded not in (named(similar_weight=1.0), named(links_width=16), named(diffusion_steps=2))
    told, untold = (RunSpec(dataset="cora", method="lnp-v2", options={"told": told}) for told in (True, False))
    assert told.config_hash == "44efb5241a2b" != untold.config_hash


def test_a_protocol_that_trusts_a_share_takes_no_number() -> None:
    with pytest.raises(ConfigError, match=r"protocol large, which trusts 0\.2 % of the training nodes, but got 50"):
        RunSpec(dataset="digits", method="gcn", protocol="large", trusted_size=50)
    assert RunSpec(dataset="digits", method="gcn", protocol="large").trusted_size == 25
