"""What LNP-v2 conditions on, and which labels draw its prior."""

from __future__ import annotations

from dataclasses import replace

import torch

from lnp.methods.registry import create_method, make_config
from lnp.seeds import Seeds


def build(batch):  # type: ignore[no-untyped-def]
    config = make_config("lnp-v2", {"hidden": 8, "dropout": 0.0, "lambda_2": 1.0})
    return create_method("lnp-v2", config, batch, Seeds(0).generator("initialisation"))


def test_prior_is_drawn_to_the_clean_labels(batch) -> None:  # type: ignore[no-untyped-def]
    model = build(batch)
    terms = model.loss(batch, Seeds(0).randomness())
    logits = model.prior(batch.graph, model.condition(batch), Seeds(0).randomness().dropout)
    expected = torch.nn.functional.cross_entropy(logits[batch.trusted], batch.trusted_labels)
    torch.testing.assert_close(terms["prior_ce"], expected)


def test_predictions_read_the_noisy_labels_of_noisy_nodes_only(batch) -> None:  # type: ignore[no-untyped-def]
    model = build(batch).eval()
    given = batch.given.clone()
    given[batch.noisy] = (given[batch.noisy] + 1) % 3
    with torch.no_grad():
        before, after = model.predict(batch), model.predict(replace(batch, given=given))
    assert not torch.allclose(after[batch.noisy], before[batch.noisy])
    torch.testing.assert_close(after[batch.outside_noisy], before[batch.outside_noisy])
