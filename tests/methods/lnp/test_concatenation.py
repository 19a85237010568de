"""Labels at the input in place of prototypes."""

from __future__ import annotations

import torch

from lnp.methods.lnp.concatenation import ConcatenatedDecoder, ConcatenatedPosterior, ConcatenatedPrior, one_hot_columns
from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.embedding import Labelled
from lnp.seeds import Seeds

CONFIG = LNPConfig(hidden=4, embedding="raw", layers=1, normalisation="symmetric")


def generator():  # type: ignore[no-untyped-def]
    return Seeds(0).generator("initialisation")


def test_later_sets_overwrite_earlier_ones(batch) -> None:  # type: ignore[no-untyped-def]
    noisy, trusted = (
        Labelled(torch.tensor([3, 4]), torch.tensor([0, 1])),
        Labelled(torch.tensor([4]), torch.tensor([2])),
    )
    columns = one_hot_columns(batch.graph, 3, noisy, trusted)
    assert columns[3].tolist() == [1, 0, 0]
    assert columns[4].tolist() == [0, 0, 1]
    assert columns.sum().item() == 2


def test_each_network_is_a_linear_map_of_its_inputs(batch) -> None:  # type: ignore[no-untyped-def]
    """With one raw layer the outputs are S [X ‖ labels] W + b, which can be written out."""
    trusted, noisy = Labelled(batch.trusted, batch.trusted_labels), Labelled(batch.noisy, batch.noisy_labels)
    s = batch.graph.propagation("symmetric") @ torch.eye(60)
    x, given = batch.graph.features, one_hot_columns(batch.graph, 3, noisy)
    posterior = ConcatenatedPosterior(CONFIG, batch, generator(), extra=3).eval()
    decoder = ConcatenatedDecoder(CONFIG, batch, generator(), extra=6).eval()
    prior = ConcatenatedPrior(CONFIG, batch, generator(), extra=3).eval()
    with torch.no_grad():
        q = posterior(batch.graph, trusted, noisy, None).logits
        both = one_hot_columns(batch.graph, 3, noisy, trusted)
        weight = posterior.embedding.network.layers[0].weight
        torch.testing.assert_close(q, s @ torch.cat([x, both], dim=1) @ weight, rtol=1e-4, atol=1e-5)
        decoded = decoder(batch.graph, q, trusted, noisy, None, None)
        weight = decoder.embedding.network.layers[0].weight
        inputs = torch.cat([x, q.softmax(dim=1), given], dim=1)
        torch.testing.assert_close(decoded.logits, s @ inputs @ weight, rtol=1e-4, atol=1e-5)
        weight = prior.embedding.network.layers[0].weight
        torch.testing.assert_close(
            prior(batch.graph, noisy, None), s @ torch.cat([x, given], dim=1) @ weight, rtol=1e-4, atol=1e-5
        )
