"""What each preset switches off or on, seen in the terms of the loss."""

from __future__ import annotations

import pytest
import torch

from lnp.methods.lnp.concatenation import ConcatenatedPosterior
from lnp.methods.lnp.presets import PRESETS_V1, PRESETS_V2, VARIANTS
from lnp.methods.registry import create_method, make_config
from lnp.seeds import Seeds

ALL = {"reconstruction", "kl", "weighted_ce", "prior_ce", "contrastive"}
MISSING = {"nl": {"weighted_ce"}, "np": {"prior_ce"}, "nc": {"contrastive"}, "nw": set(), "nv": set()}


@pytest.mark.parametrize("method", ["lnp-v1", "lnp-v2"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_ablations_remove_what_they_say(batch, method: str, variant: str) -> None:  # type: ignore[no-untyped-def]
    options = {"hidden": 4, "lambda_1": 1.0, "lambda_2": 1.0, "lambda_3": 1.0}
    options = {k: v for k, v in options.items() if k not in VARIANTS[variant]}
    model = create_method(
        method, make_config(method, options, preset=variant), batch, Seeds(0).generator("initialisation")
    )
    terms = model.loss(batch, Seeds(0).randomness())  # type: ignore[operator]
    assert set(terms) == ALL - MISSING[variant]
    assert isinstance(model.posterior, ConcatenatedPosterior) == (variant == "nv")


def test_an_ablation_goes_on_top_of_any_configuration() -> None:
    """What is tuned may judge labels in a way that needs prototypes."""
    for changes in VARIANTS.values():
        assert make_config("lnp-v2", {"told": False, **changes}).told == ("fusion" in changes)


def test_unweighted_cross_entropy_is_plain_cross_entropy(batch) -> None:  # type: ignore[no-untyped-def]
    config = make_config("lnp-v2", {"dropout": 0.0, "lambda_1": 1.0, "odds_power": 0.0}, preset="nw")
    model = create_method("lnp-v2", config, batch, Seeds(0).generator("initialisation"))
    terms = model.loss(batch, Seeds(0).randomness())  # type: ignore[operator]
    logits = model.infer(batch, None if not model.training else Seeds(0).randomness())[1].logits  # type: ignore[operator]
    expected = torch.nn.functional.cross_entropy(logits[batch.noisy], batch.noisy_labels)
    torch.testing.assert_close(terms["weighted_ce"], expected)


def test_released_presets_follow_the_released_code() -> None:
    v1, v2 = make_config("lnp-v1", preset="released"), make_config("lnp-v2", preset="released")
    for config in (v1, v2):
        assert (config.similarity, config.scale, config.lambda_3, config.kl_nodes) == (
            "random",
            1.0,
            0.0,
            "outside-noisy",
        )
        assert (config.normalisation, config.initialisation, config.epochs) == ("row", "fan-out", 500)
    assert (v1.kl_direction, v1.lambda_1, v1.lambda_2) == ("PQ", 0.01, 1.0)
    assert (v2.kl_direction, v2.lambda_1, v2.lambda_2) == ("QP", 0.1, 5.0)
    assert (v1.learning_rate, v1.hidden, v1.dropout, v1.weight_decay) == (0.01, 64, 0.5, 5e-4)
    assert (v2.learning_rate, v2.hidden, v2.dropout, v2.weight_decay) == (1e-4, 256, 0.4, 5e-5)
    assert (v2.beta, v2.alpha, v2.grown_as) == ("random", "dot", "noisy")
    assert {"paper", "released", *VARIANTS} == set(PRESETS_V1) == set(PRESETS_V2)
