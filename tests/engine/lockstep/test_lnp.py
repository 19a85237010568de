from __future__ import annotations

import pytest
import torch

from lnp.engine.lockstep.lnp import MaskedPosterior, MaskedTrustedSet, objection_to_lnp
from lnp.methods.batch import full_batch
from lnp.methods.lnp.embedding import Labelled
from lnp.methods.registry import create_method, make_config
from lnp.seeds import Seeds


@pytest.mark.parametrize("grown_as", ["trusted", "noisy"])
@pytest.mark.parametrize("conditioned", [False, True])
def test_the_posterior_of_a_padded_trusted_set_is_that_of_the_set(toy_task, grown_as, conditioned) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    config = make_config("lnp-v2", {"hidden": 5, "grown_as": grown_as})
    method = create_method("lnp-v2", config, batch, Seeds(0).generator("initialisation")).eval()
    method.trusted_set.grown[batch.noisy[::3]] = True
    padded = MaskedTrustedSet(batch.node_count)
    padded.load_state_dict(method.trusted_set.state_dict())
    noisy = Labelled(batch.noisy, batch.noisy_labels) if conditioned else None
    expected = method.posterior(batch.graph, method.trusted_set.members(batch), noisy, None)
    found = MaskedPosterior(method.posterior)(batch.graph, padded.members(batch), noisy, None)
    torch.testing.assert_close(found, expected)
    assert padded.members(batch).nodes.numel() == batch.trusted.numel() + batch.noisy.numel()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, None),
        ({"fusion": "concatenation"}, "fusion=concatenation"),
        ({"kl_nodes": "outside-noisy"}, "kl_nodes=outside-noisy"),
        ({"similarity": "random"}, "similarity=random"),
        ({"beta": "random"}, "beta=random"),
        ({"negatives": 0}, "exact contrastive"),
        ({"negatives": 0, "lambda_3": 0.0}, None),
    ],
)
def test_says_which_option_stands_in_the_way(options, reason) -> None:
    found = objection_to_lnp(make_config("lnp-v2", options))
    assert found is None if reason is None else reason in found
