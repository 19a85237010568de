"""What LNP-v1 conditions on, and which labels draw its prior."""

from __future__ import annotations

from dataclasses import replace

import torch

from lnp.methods.registry import create_method, make_config
from lnp.seeds import Seeds


def build(batch):  # type: ignore[no-untyped-def]
    config = make_config("lnp-v1", {"hidden": 8, "dropout": 0.0, "lambda_2": 1.0})
    return create_method("lnp-v1", config, batch, Seeds(0).generator("initialisation"))


def test_prior_is_drawn_to_the_noisy_labels(batch) -> None:  # type: ignore[no-untyped-def]
    model = build(batch)
    terms = model.loss(batch, Seeds(0).randomness())
    logits = model.prior.embedding(batch.graph, Seeds(0).randomness().dropout)
    expected = torch.nn.functional.cross_entropy(logits[batch.noisy], batch.noisy_labels)
    torch.testing.assert_close(terms["prior_ce"], expected)


def test_predictions_do_not_read_the_noisy_labels(batch) -> None:  # type: ignore[no-untyped-def]
    """P(Y | Ȳ, G) and Q(Ȳ | Y_C, G): with other noisy labels and the same weights, nothing changes."""
    model = build(batch).eval()
    given = batch.given.clone()
    given[batch.noisy] = (given[batch.noisy] + 1) % 3
    with torch.no_grad():
        torch.testing.assert_close(model.predict(replace(batch, given=given)), model.predict(batch))
