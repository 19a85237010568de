from __future__ import annotations

import pytest

from lnp.errors import ConfigError, UnknownNameError
from lnp.methods.channel.model import Channel
from lnp.methods.lnp.v1 import LNPv1
from lnp.methods.lnp.v2 import LNPv2
from lnp.methods.registry import entry
from lnp.methods.versions import VERSIONS, method_name


@pytest.mark.parametrize(("version", "method"), [(1, LNPv1), (2, LNPv2), ("channel", Channel)])
def test_a_version_is_the_method_of_that_model(version: object, method: type) -> None:
    assert entry(method_name(version)).method is method


def test_another_method_goes_before_the_version() -> None:
    assert all(method_name(version, "gcn") == "gcn" for version in (*VERSIONS, "no such version"))


def test_unknown_names_are_refused_with_the_choices() -> None:
    with pytest.raises(ConfigError, match="one of 1, 2, channel, but got 3"):
        method_name(3)
    with pytest.raises(UnknownNameError, match="lnp-channel"):
        method_name(2, "lnp-v3")
