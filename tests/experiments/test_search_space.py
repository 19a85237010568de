"""Where tuning looks: every value is one that its method takes."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lnp.errors import UnknownNameError
from lnp.experiments.search_space import SPACES, decode, digest, distributions, encode, space_of
from lnp.methods.channel.config import VARIANTS
from lnp.methods.registry import METHODS, make_config, option_names

TABLE_4 = {
    "learning_rate": {1e-5, 1e-4, 1e-3, 1e-2},
    "weight_decay": {5e-5, 5e-4, 5e-3, 5e-2},
    "hidden": {32, 64, 128, 256},
    **{f"lambda_{number}": {0.1, 0.5, 1, 1.5, 5, 10, 100} for number in (1, 2, 3)},
    "delta": {0.7, 0.8, 0.9},
}


def test_every_method_has_a_space_of_its_own_options() -> None:
    assert set(SPACES) == set(METHODS)
    for method, space in SPACES.items():
        assert set(space) <= set(option_names(method)), method
        assert "epochs" not in space
        assert all(len(set(values)) == len(values) > 1 for values in space.values())


@pytest.mark.parametrize("method", METHODS)
def test_every_configuration_can_be_made(method: str) -> None:
    default = make_config(method)
    space, generator = space_of(method, default, wide=True), np.random.default_rng(0)
    for option, values in space.items():
        assert getattr(default, option) in values
        for value in values:
            assert getattr(make_config(method, {option: value}), option) == value
    for _ in range(20):
        options = {option: values[generator.integers(len(values))] for option, values in space.items()}
        config = make_config(method, options)
        assert {option: getattr(config, option) for option in options} == options


@pytest.mark.parametrize("method", ["lnp-v1", "lnp-v2"])
def test_a_wide_space_has_the_papers_grid(method: str) -> None:
    space = space_of(method, make_config(method), wide=True)
    assert all(values <= set(space[option]) for option, values in TABLE_4.items())
    assert (min(space["dropout"]), max(space["dropout"])) == (0.2, 0.8)
    narrow = space_of(method, make_config(method))
    assert set(narrow["hidden"]) == {32, 64}
    assert {0.01, 0.03} <= set(narrow["lambda_1"])
    assert digest(narrow) != digest(space)


def test_the_channel_varies_what_its_network_is_and_how_much_trusted_nodes_count() -> None:
    space = space_of("lnp-channel", make_config("lnp-channel"))
    assert set(space["variant"]) == {*VARIANTS, "auto"}  # auto is the default, which is always in
    assert "auto" not in SPACES["lnp-channel"]["variant"]
    assert {"normalisation", "hidden", "dropout", "learning_rate", "weight_decay", "trusted_weight"} < set(space)
    assert space["gain"][0] == 0.0  # rows of their own wherever they explain more
    assert not {"epochs", "logit_bound"} & set(space)


def test_what_has_no_effect_does_not_vary() -> None:
    assert "normalisation" in space_of("gce", make_config("gce"))
    assert "normalisation" not in space_of("gce", make_config("gce", {"backbone": "h2gcn"}))


@pytest.mark.parametrize("method", ["h2gcn", "gce", "lnp-v1", "lnp-channel"])
def test_the_rounds_of_h2gcn_vary_and_the_layers_of_a_gcn_do_not(method: str) -> None:
    assert space_of(method, make_config(method, {"backbone": "h2gcn"}))["layers"] == (1, 2)
    assert "layers" not in space_of(method, make_config(method, {"backbone": "gcn"}))
    assert "normalisation" not in space_of("mlp", make_config("mlp"))


def test_numbers_are_known_by_their_place_and_words_by_themselves() -> None:
    space = space_of("lpm", make_config("lpm"))
    assert space["learning_rate"] == (1e-3, 3e-3, 1e-2, 3e-2, 0.05)  # 0.05 is the default
    options = {option: values[-1] for option, values in space.items()}
    parameters = encode(space, options)
    assert (parameters["learning_rate"], parameters["normalisation"], parameters["grow"]) == (4, "symmetric", True)
    assert decode(space, parameters) == options
    ours = distributions(space)
    assert (ours["learning_rate"].low, ours["learning_rate"].high) == (0, 4)
    assert ours["grow"].choices == (False, True)


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(UnknownNameError, match=re.escape("Unknown method with a search space 'gnc'")):
        space_of("gnc", make_config("gcn"))
