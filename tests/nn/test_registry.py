from __future__ import annotations

import pytest
import torch

from lnp.errors import UnknownNameError
from lnp.nn.backbone import BackboneSpec
from lnp.nn.registry import BACKBONES, build_backbone
from lnp.seeds import Seeds

SPEC = BackboneSpec(inputs=5, outputs=3, hidden=4, layers=2)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("gcn", 5 * 4 + 4 + 4 * 3 + 3),
        ("mlp", 5 * 4 + 4 + 2 * 4 + 4 * 3 + 3),
        ("h2gcn", 5 * 4 + 4 + 2 * 8 + 28 * 3 + 3),
        ("sign", 3 * (5 * 4 + 4) + 12 * 3 + 3),
    ],
)
def test_every_backbone_has_the_parameters_of_its_equation(name: str, parameters: int) -> None:
    network = build_backbone(name, SPEC, Seeds(0).generator("initialisation"))
    assert sum(p.numel() for p in network.parameters()) == parameters


@pytest.mark.parametrize("name", BACKBONES)
def test_weights_follow_the_generator(name: str) -> None:
    first, second, other = (build_backbone(name, SPEC, Seeds(s).generator("initialisation")) for s in (3, 3, 4))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True))


def test_unknown_backbone_lists_the_choices() -> None:
    with pytest.raises(UnknownNameError, match=r"'gnc'\. Did you mean 'gcn'\? Choices: gcn, h2gcn, mlp, sign\."):
        build_backbone("gnc", SPEC, Seeds(0).generator("initialisation"))
