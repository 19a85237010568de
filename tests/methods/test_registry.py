from __future__ import annotations

import dataclasses
import types
import typing

import pytest
import torch

from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.errors import ConfigError, UnknownNameError
from lnp.methods.base import Method
from lnp.methods.batch import full_batch
from lnp.methods.config import MethodConfig
from lnp.methods.gcn import Plain, PlainConfig
from lnp.methods.registry import METHODS, create_method, make_config
from lnp.seeds import Seeds


@pytest.mark.parametrize("name", METHODS)
def test_every_entry_is_complete(name: str) -> None:
    row = METHODS[name]
    assert issubclass(row.method, Method)
    assert issubclass(row.method.Config, MethodConfig)
    assert row.method.Config.__dataclass_params__.frozen
    assert row.summary
    assert row.reference
    config = make_config(name)
    assert all(getattr(config, option) == value for option, value in row.defaults.items())
    for preset, values in row.presets.items():
        chosen = make_config(name, preset=preset)
        assert all(getattr(chosen, option) == value for option, value in values.items())


SEES_MORE = {"similar_weight": 1.0, "links_width": 4, "diffusion_steps": 2}
REFUSED = {("lnp-channel", "links_width"), ("lnp-channel", "diffusion_steps")} | {
    (name, "similar_weight") for name in ("nrgnn", "rtgnn", "h2gcn", "mlp")
}


@pytest.mark.parametrize("option", SEES_MORE)
@pytest.mark.parametrize("name", [name for name in METHODS if name != "label-propagation"])  # which has no network
def test_every_method_trains_with_what_networks_may_see_or_refuses_it(name: str, option: str, toy_task) -> None:  # type: ignore[no-untyped-def]
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    short = {field.name: 2 for field in dataclasses.fields(make_config(name)) if field.name.endswith("epochs")}
    wanted = {option: SEES_MORE[option], **short}
    if (name, option) in REFUSED:
        with pytest.raises(ConfigError, match=option):
            make_config(name, wanted)
        return
    found = []
    for options in (short, wanted):
        method = create_method(name, make_config(name, options), batch, Seeds(0).generator("initialisation"))
        found.append(fit(method, batch, select_last(), Seeds(0).randomness()).probabilities)
    torch.testing.assert_close(found[1].sum(dim=1), torch.ones(batch.node_count))
    assert not torch.allclose(found[0], found[1], atol=1e-4)


@pytest.mark.parametrize("name", METHODS)
def test_every_option_can_be_read_from_text_and_back(name: str) -> None:
    config = make_config(name)
    for option in (field.name for field in dataclasses.fields(config)):
        value = getattr(config, option)
        again = getattr(make_config(name, {option: str(value)}), option)
        assert again == value, option
        assert type(again) is type(value), option


@pytest.mark.parametrize("name", METHODS)
def test_every_option_has_a_type_that_a_command_line_can_read(name: str) -> None:
    for option, hint in typing.get_type_hints(METHODS[name].method.Config).items():
        kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        assert set(kinds) <= {str, int, float, bool, type(None)}, option


@pytest.mark.parametrize(
    ("option", "given", "read"),
    [
        ("hidden", "16", 16),
        ("hidden", 16, 16),
        ("dropout", "0.25", 0.25),
        ("dropout", 0, 0.0),
        ("learning_rate", "1e-3", 0.001),
        ("self_in_two_hop", "yes", True),
        ("self_in_two_hop", "False", False),
        ("self_in_two_hop", "0", False),
        ("self_in_two_hop", True, True),
        ("backbone", "mlp", "mlp"),
    ],
)
def test_values_are_read_as_their_type(option: str, given: object, read: object) -> None:
    value = getattr(make_config("gcn", {option: given}), option)
    assert value == read
    assert type(value) is type(read)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("hidden", "many", "`hidden` to be int, but got 'many'"),
        ("hidden", "2.5", "`hidden` to be int, but got '2.5'"),
        ("hidden", 2.5, "`hidden` to be int, but got 2.5"),
        ("hidden", None, "`hidden` to be int, but got None"),
        ("dropout", "half", "`dropout` to be float, but got 'half'"),
        ("dropout", True, "`dropout` to be float, but got True"),
        ("dropout", "nan", "`dropout` to be in .*, but got nan"),
        ("self_in_two_hop", "maybe", "`self_in_two_hop` to be bool, but got 'maybe'"),
        ("self_in_two_hop", 1, "`self_in_two_hop` to be bool, but got 1"),
        ("backbone", 3, "`backbone` to be str, but got 3"),
        ("hidden", "0", "`hidden` to be at least 1, but got 0"),
    ],
)
def test_wrong_values_are_named(option: str, value: object, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^Expected {message}"):
        make_config("gcn", {option: value})


def test_unknown_names_list_the_choices() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown method 'h2gnc'\. Did you mean 'h2gcn'\? Choices: .*gcn.*mlp"):
        make_config("h2gnc")
    with pytest.raises(UnknownNameError, match=r"option of gcn 'epoch'\. Did you mean 'epochs'\? .*weight_decay"):
        make_config("gcn", {"epoch": 3})
    with pytest.raises(UnknownNameError, match="Unknown preset of gcn 'paper'"):
        make_config("gcn", preset="paper")


def test_names_that_share_a_class_differ_by_their_defaults(toy_task) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    built = {
        name: create_method(name, make_config(name, {"hidden": 4}), batch, Seeds(0).generator("initialisation"))
        for name in ("gcn", "h2gcn", "mlp")
    }
    assert {name: type(method.classifier).__name__ for name, method in built.items()} == {
        "gcn": "GCN",
        "h2gcn": "H2GCN",
        "mlp": "MLP",
    }


def test_create_method_draws_from_the_generator_and_checks_the_configuration(toy_task) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    first, second, other = (
        create_method("gcn", PlainConfig(hidden=4), batch, Seeds(seed).generator("initialisation"))
        for seed in (0, 0, 1)
    )
    assert isinstance(first, Plain)
    weights = [method.classifier.layers[0].weight for method in (first, second, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    with pytest.raises(ConfigError, match="configuration of gcn to be a PlainConfig, but got MethodConfig"):
        create_method("gcn", MethodConfig(), batch, Seeds(0).generator("initialisation"))
