from __future__ import annotations

import inspect
import math

import pytest

from lnp import errors
from lnp.errors import (
    ConfigError,
    GraphError,
    InputError,
    LNPError,
    UnknownNameError,
    WorkerError,
    check_choice,
    check_range,
)

CLASSES = {name: kind for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, Exception)}


def test_the_drawn_tree_is_the_real_one() -> None:
    drawing = inspect.getdoc(errors)
    for name, kind in CLASSES.items():
        assert f" {name} " in drawing.replace("\n", " "), name
        assert issubclass(kind, LNPError)
        if kind is WorkerError:  # nothing that was asked for is to blame
            assert issubclass(kind, RuntimeError)
            assert not issubclass(kind, InputError)
        elif kind is not LNPError:
            assert issubclass(kind, InputError)
            assert issubclass(kind, ValueError)  # what somebody who does not know this package would catch


def test_every_exception_is_public_and_documented() -> None:
    assert set(CLASSES) <= set(errors.__all__)
    assert all(kind.__doc__ for kind in CLASSES.values())


@pytest.mark.parametrize("value", [0, 0.5, 1])
def test_range_accepts_its_ends(value: float) -> None:
    check_range("rate", value, 0, 1)


@pytest.mark.parametrize("value", [-0.01, 1.01, math.nan, math.inf, -math.inf])
def test_range_refuses_what_is_outside_and_what_is_no_number(value: float) -> None:
    with pytest.raises(ConfigError, match=r"^Expected `rate` to be in \[0, 1\], but got "):
        check_range("rate", value, 0, 1)


def test_range_raises_the_error_it_was_given() -> None:
    with pytest.raises(GraphError):
        check_range("degree", 5, 0, 1, error=GraphError)


def test_choice_lists_the_choices_in_order() -> None:
    check_choice("colour", "red", ["red", "blue"])
    with pytest.raises(ConfigError, match=r"^Expected `colour` to be one of blue, red, but got 'green'\.$"):
        check_choice("colour", "green", ["red", "blue"])


def test_unknown_name_with_and_without_a_hint() -> None:
    assert str(UnknownNameError("noise", "Uniform", {"uniform", "flip"})) == (
        "Unknown noise 'Uniform'. Did you mean 'uniform'? Choices: flip, uniform."
    )
    assert str(UnknownNameError("noise", "xyz", iter(["uniform", "flip"]))) == (
        "Unknown noise 'xyz'. Choices: flip, uniform."
    )
    assert str(UnknownNameError("preset of gcn", "paper", [])) == "Unknown preset of gcn 'paper'. There is none."
