from __future__ import annotations

import dataclasses
import math
import re

import pytest

from lnp.errors import ConfigError
from lnp.methods.channel.config import CANDIDATES, MANY, VARIANTS, ChannelConfig, affordable
from lnp.methods.registry import make_config


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("variant", "deep", "`variant` to be one of auto, features, links, plain, similar, smooth, but got 'deep'"),
        ("logit_bound", 0.0, "`logit_bound` to be in [0.001, 1e+06], but got 0.0"),
        ("logit_bound", math.nan, "`logit_bound` to be in [0.001, 1e+06], but got nan"),
        ("largest_strength", 0.5, "`largest_strength` to be in [1, 1e+09], but got 0.5"),
        ("restart", 1.2, "`restart` to be in [0, 1], but got 1.2"),
        ("far_restart", -0.1, "`far_restart` to be in [0, 1], but got -0.1"),
        ("rare", 1.1, "`rare` to be in [0, 1], but got 1.1"),
        ("far_steps", -1, "`far_steps` to be at least 0, but got -1"),
        ("gain", -0.1, "`gain` to be in [0, 1e+06], but got -0.1"),
        ("trusted_weight", -1.0, "`trusted_weight` to be in [0, 1e+06], but got -1.0"),
        ("estimate_trusted_weight", math.inf, "`estimate_trusted_weight` to be in [0, 1e+06], but got inf"),
        ("start_epochs", -1, "`start_epochs` to be at least 0, but got -1"),
        ("estimate_epochs", -1, "`estimate_epochs` to be at least 0, but got -1"),
        ("smoothing_steps", -1, "`smoothing_steps` to be at least 0, but got -1"),
        ("path_width", 0, "`path_width` to be at least 1, but got 0"),
        ("label_epochs", 0, "`label_epochs` to be at least 1, but got 0"),
        ("hidden", 0, "`hidden` to be at least 1, but got 0"),  # what every method checks
    ],
)
def test_options_outside_their_range_are_named(option: str, value: object, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"Expected {message}")):
        ChannelConfig(**{option: value})  # type: ignore[arg-type]


def test_the_ends_of_the_ranges_are_allowed() -> None:
    ends = {"restart": 1.0, "gain": 0.0, "trusted_weight": 0.0, "estimate_epochs": 0, "start_epochs": 0}
    config = ChannelConfig(**ends, smoothing_steps=0, path_width=1, label_epochs=1)  # type: ignore[arg-type]
    assert {option: getattr(config, option) for option in ends} == ends


def test_auto_compares_the_candidates_and_a_variant_only_itself() -> None:
    assert ChannelConfig().candidates(MANY) == CANDIDATES
    assert set(CANDIDATES) < set(VARIANTS)
    for variant in VARIANTS:
        assert ChannelConfig(variant=variant).candidates(MANY + 1) == (variant,)


def test_auto_looks_for_similar_nodes_where_that_is_affordable_and_new() -> None:
    rest = ("smooth", "features", "links")
    assert ChannelConfig().candidates(MANY + 1) == affordable(CANDIDATES, MANY + 1) == rest
    assert ChannelConfig(similar_weight=1.0).candidates(10) == rest


def test_similar_nodes_count_as_one_neighbour_unless_the_options_say_more() -> None:
    assert ChannelConfig().similar_propagation == "row~1"
    assert ChannelConfig().propagation == "row"
    assert ChannelConfig(similar_weight=3.0, loop_weight=0.3).similar_propagation == "row+0.3~3"


def test_every_option_is_documented_and_read_from_text() -> None:
    inherited = {field.name for field in dataclasses.fields(ChannelConfig.__mro__[1])}
    own = [field for field in dataclasses.fields(ChannelConfig) if field.name not in inherited]
    assert len(own) > 10
    for field in own:
        assert f"{field.name}: " in (ChannelConfig.__doc__ or "")
        assert getattr(make_config("lnp-channel", {field.name: str(field.default)}), field.name) == field.default
    with pytest.raises(dataclasses.FrozenInstanceError):
        ChannelConfig().gain = 1.0  # type: ignore[misc]
