"""Side by side is what the networks compute one after the other."""

from __future__ import annotations

import pytest
import torch

from lnp.methods.batch import Batch
from lnp.methods.channel.config import VARIANTS, ChannelConfig
from lnp.methods.channel.pair import both_logits
from lnp.methods.channel.prior import Prior
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.sparse import SparseMatrix
from lnp.seeds import Seeds


def networks(batch: Batch, **options: object) -> list[Prior]:
    config = ChannelConfig(**{"path_width": 3, "dropout": 0.4, **options})  # type: ignore[arg-type]
    generator = Seeds(0).generator("initialisation")
    made = [Prior(config, batch, generator, hidden=5) for _ in range(2)]
    for one in made:  # paths end in zeros, and would be worth nothing
        torch.nn.init.normal_(one.features.outer.weight, generator=torch.Generator().manual_seed(1))
        torch.nn.init.normal_(one.links.outer.weight, generator=torch.Generator().manual_seed(2))
    return made


def gradients(pair: list[Prior], logits: list[torch.Tensor]) -> dict[str, torch.Tensor | None]:
    for one in pair:
        one.zero_grad()
    sum((number + 1) * (one.sin()).sum() for number, one in enumerate(logits)).backward()  # type: ignore[union-attr]
    return {f"{number} {name}": value.grad for number, one in enumerate(pair) for name, value in one.named_parameters()}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize(("training", "bound"), [(True, 3.0), (True, 0.0), (False, 3.0)])
def test_outputs_gradients_and_draws_are_the_same(
    batch: Batch, variant: str, layers: int, training: bool, bound: float
) -> None:
    pair = networks(batch, layers=layers)
    for one in pair:
        one.train(training)
    drawn, again = (Seeds(3).generator("dropout") for _ in range(2))
    expected = [one(batch.graph, variant, drawn, bound=bound) for one in pair]
    wanted = gradients(pair, expected)
    found = list(both_logits(pair, batch.graph, variant, again, bound=bound))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
    assert not torch.allclose(found[0], found[1])
    for name, gradient in gradients(pair, found).items():
        if wanted[name] is None:
            assert gradient is None, name
        else:
            torch.testing.assert_close(gradient, wanted[name], msg=name)
    assert drawn.integers(2**32) == again.integers(2**32)  # as much was drawn


def products(batch: Batch, compute, monkeypatch: pytest.MonkeyPatch) -> int:  # type: ignore[no-untyped-def]
    count = 0

    def counted(plain):  # type: ignore[no-untyped-def]
        def multiply(*arguments: object) -> torch.Tensor:
            nonlocal count
            count += 1
            return plain(*arguments)

        return multiply

    with monkeypatch.context() as patch:
        for name in ("__matmul__", "blend"):
            patch.setattr(SparseMatrix, name, counted(getattr(SparseMatrix, name)))
        compute()
    return count


def test_products_are_shared(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = [one.eval() for one in networks(batch)]
    alone = products(batch, lambda: pair[0](batch.graph, "smooth", None), monkeypatch)
    both = products(batch, lambda: both_logits(pair, batch.graph, "smooth", None, bound=0.0), monkeypatch)
    assert both == alone == 4


@pytest.mark.parametrize(("backbone", "lean"), [("mlp", False), ("h2gcn", False), ("gcn", True)])
def test_other_networks_and_large_graphs_are_computed_one_by_one(batch: Batch, backbone: str, lean: bool) -> None:
    pair = networks(batch, backbone=backbone)
    graph = GraphTensors(batch.graph.graph, lean=lean)
    expected = [one(graph, "features", Seeds(3).generator("dropout"), bound=3.0) for one in pair[:1]]
    found = both_logits(pair, graph, "features", Seeds(3).generator("dropout"), bound=3.0)
    assert torch.equal(found[0], expected[0])
