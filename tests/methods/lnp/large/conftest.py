"""Twelve nodes in four classes, in double precision, cut into blocks of three rows."""

from __future__ import annotations

import pytest
import torch

from lnp.methods.lnp.embedding import Labelled
from lnp.nn.prototypes import WholeSums
from lnp.seeds import Seeds

SCALE = 5.0


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lnp.methods.lnp.large.unit.ENTRIES", 12)


@pytest.fixture(params=[False, True], ids=["whole", "share"])
def whole(request: pytest.FixtureRequest) -> WholeSums | None:
    """``None``, or that there are members elsewhere, of class 3 among others, and that gradients are summed, too."""

    def with_those_elsewhere(sums: torch.Tensor, counts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        there = torch.linspace(-3, 4, 16, dtype=torch.float64).view(4, 4).cos()
        return 1.5 * sums + there, counts + torch.tensor([1, 0, 2, 3])

    return with_those_elsewhere if request.param else None


@pytest.fixture
def outputs() -> torch.Tensor:
    """f; that of a node without label is zero."""
    values = torch.from_numpy(Seeds(5).generator("outputs").normal(size=(12, 4)))
    values[4] = 0
    return values


@pytest.fixture
def noisy() -> Labelled:
    return Labelled(torch.tensor([0, 2, 3, 7, 9, 11]), torch.tensor([1, 0, 2, 2, 3, 1]))


@pytest.fixture
def trusted() -> Labelled:
    """T_C and two nodes of T_N that joined it; class 3 has no prototype."""
    return Labelled(torch.tensor([1, 5, 8, 2, 11]), torch.tensor([1, 0, 2, 0, 1]))


@pytest.fixture
def given(noisy: Labelled) -> torch.Tensor:
    labels = torch.full((12,), -1)
    labels[noisy.nodes] = noisy.labels
    labels[torch.tensor([1, 5, 8])] = torch.tensor([1, 0, 2])
    return labels
