"""Learning T: one epoch by hand, what every stage starts from, and who speaks meanwhile."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from lnp.engine.fit import FitOptions, fit
from lnp.engine.selection import select_last
from lnp.methods.base import Epoch
from lnp.methods.batch import Batch
from lnp.methods.channel.config import CANDIDATES, VARIANTS, ChannelConfig
from lnp.methods.channel.crossed import crossed_evidence
from lnp.methods.channel.learning import EQUAL_ROWS, FIRST_ROWS, FULL_ROWS, LABELS, LIGHT_ROWS, OWN_ROWS
from lnp.methods.channel.model import Channel
from lnp.methods.channel.transition import LEAST, learn_transition, shared_rows
from lnp.seeds import Seeds

TINY = {"hidden": 8, "estimate_epochs": 4, "label_epochs": 4, "start_epochs": 1, "epochs": 4}
NOISE = np.array([[0.7, 0.2, 0.1], [0.0, 0.6, 0.4], [0.3, 0.1, 0.6]])


def build(batch: Batch, **options: object) -> Channel:
    return Channel(ChannelConfig(**options), batch, Seeds(0).generator("initialisation"))  # type: ignore[arg-type]


def epoch_with(probabilities: torch.Tensor, index: int, count: int = 10) -> Epoch:
    return Epoch("", index, count, probabilities, lambda _: math.nan, True)


def random_probabilities(count: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).dirichlet(np.ones(3), count)).float()


@pytest.mark.parametrize("checks", [None, [[4, 1, 0], [0, 3, 0], [0, 7, 2]]])
@pytest.mark.parametrize("phase", [FIRST_ROWS, EQUAL_ROWS, OWN_ROWS])
def test_an_epoch_is_an_e_step_and_an_m_step(
    batch: Batch, phase: int, checks: list[list[int]] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lnp.methods.channel.learning.are_few", lambda *_: False)
    batch = replace(batch, checks=None if checks is None else torch.tensor(checks))
    model = build(batch, start_epochs=3)
    model.phase.fill_(phase)
    model.learning.fill_(2)
    model.transition.copy_(torch.from_numpy(NOISE))
    probabilities = random_probabilities(60)
    model.end_epoch(batch, epoch_with(probabilities, index=1, count=3))
    assert torch.equal(model.transition, torch.from_numpy(NOISE).float())  # not yet
    assert not any(
        one.isfinite().any()
        for one in (model.findings.first_evidence, model.findings.equal_evidence, model.findings.own_evidence)
    )
    model.end_epoch(batch, epoch_with(probabilities, index=2, count=3))
    counts = np.zeros((3, 3)) if checks is None else np.array(checks, float)  # checked labels count as they were
    for node in batch.noisy.tolist():
        label = int(batch.given[node])
        joint = probabilities[node].double().numpy() * NOISE[:, label]
        counts[:, label] += joint / joint.sum()
    own = partial(learn_transition, largest_strength=1.0)  # of so few labels a prior may count for one
    rows = partial(shared_rows, least=LEAST) if phase == EQUAL_ROWS else own
    torch.testing.assert_close(model.transition, rows(torch.from_numpy(counts)).float())
    likelihoods = []
    for power in (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8):
        sharper = probabilities[batch.noisy].double() ** power
        given = (sharper / sharper.sum(dim=1, keepdim=True)) @ model.transition.double()
        likelihoods.append(given.gather(1, batch.noisy_labels.unsqueeze(1)).log().mean().item())
    found = {
        FIRST_ROWS: model.findings.first_evidence[2],
        EQUAL_ROWS: model.findings.equal_evidence[2],
        OWN_ROWS: model.findings.own_evidence,
    }
    assert found[phase].item() == pytest.approx(max(likelihoods), rel=1e-5)
    assert sum(value.isfinite().item() for value in found.values()) == 1
    if phase != OWN_ROWS:
        kept = model.findings.equal_rows[2] if phase == EQUAL_ROWS else model.findings.first_rows[2]
        assert torch.equal(kept, model.transition)


@pytest.mark.parametrize("checks", [None, [[4, 1, 0], [0, 3, 0], [0, 7, 2]]])
def test_few_labels_judge_the_t_of_the_other_half(batch: Batch, checks: list[list[int]] | None) -> None:
    batch = replace(batch, checks=None if checks is None else torch.tensor(checks))
    model = build(batch, start_epochs=0)
    model.phase.fill_(OWN_ROWS)
    model.halves.draw(batch, Seeds(0).generator("sampling"))
    model.transition.copy_(torch.from_numpy(NOISE))
    probabilities = random_probabilities(60)
    model.end_epoch(batch, epoch_with(probabilities, index=0, count=1))
    known = 0 if checks is None else torch.tensor(checks)

    def learn(counts: torch.Tensor) -> torch.Tensor:
        return learn_transition(counts + known, largest_strength=1.0)

    logs, side = probabilities[batch.noisy].log(), model.halves.side[batch.noisy]
    expected = crossed_evidence(logs, batch.noisy_labels, side, model.transition, learn)
    torch.testing.assert_close(model.findings.own_evidence, expected)


def test_before_the_first_step_t_says_nothing_of_classes_with_trusted_nodes(batch: Batch) -> None:
    """All labels alike in every row; half of them right where nobody is trusted."""
    untrusted = replace(batch, trusted=batch.trusted[batch.trusted_labels != 1])
    model = build(untrusted)
    model._begin(FIRST_ROWS, "smooth", untrusted, Seeds(0).randomness())
    np.testing.assert_allclose(model.transition.numpy() * 6, [[2, 2, 2], [1, 4, 1], [2, 2, 2]], rtol=1e-6)


def test_equal_rows_are_never_pure_noise(batch: Batch) -> None:
    """Where the networks say nothing, T would say nothing either, and nothing would ever be learned from it."""
    model = build(batch, start_epochs=0)
    model.phase.fill_(EQUAL_ROWS)
    model.transition.fill_(1 / 3)
    model.end_epoch(batch, epoch_with(torch.full((60, 3), 1 / 3), index=0))
    torch.testing.assert_close(model.transition, LEAST * torch.eye(3) + (1 - LEAST) / 3)


def test_the_start_of_t_is_what_was_said_of_the_trusted_nodes(batch: Batch) -> None:
    model = build(batch, variant="smooth")
    model.phase.fill_(LABELS)
    probabilities = random_probabilities(60, seed=1)
    model.end_epoch(batch, epoch_with(probabilities, index=0))
    assert torch.equal(model.transition, torch.eye(3))
    said = np.zeros((3, 3))
    for node in batch.trusted.tolist():
        said[int(batch.given[node])] += probabilities[node].numpy()
    np.testing.assert_allclose(model.confusion.numpy(), said, rtol=1e-5)
    model._begin(OWN_ROWS, None, batch, Seeds(0).randomness())
    counts = torch.from_numpy(said + 0.5 * np.eye(3) + 0.5 / 3)
    torch.testing.assert_close(model.transition, learn_transition(counts, largest_strength=1.0).float())


def test_training_leaves_t_alone(batch: Batch) -> None:
    model = build(batch)
    model.end_epoch(batch, epoch_with(random_probabilities(60), index=99))
    assert torch.equal(model.transition, torch.eye(3))
    assert not model.findings.first_evidence.isfinite().any()


# What the last network learns


@pytest.mark.parametrize(("before", "wins"), [(-10.0, True), (-0.01, False)])
def test_what_explains_the_labels_best_says_how_t_c_counts(batch: Batch, before: float, wins: bool) -> None:
    model = build(batch, variant="auto", start_epochs=0)
    model.findings.first_evidence.copy_(torch.tensor([-torch.inf, before, before - 1, before - 2, before - 4]))
    model.findings.equal_evidence.copy_(torch.tensor([-torch.inf, before - 3, before - 1, before - 2, before - 4]))
    model._begin(LIGHT_ROWS, None, batch, Seeds(0).randomness())
    assert VARIANTS[int(model.learning)] == "features"  # the best with equal rows
    model.end_epoch(batch, epoch_with(random_probabilities(60), index=0, count=1))
    assert bool(model.findings.counts_lightly) == wins
    assert (model.findings.equal_evidence[2] > before) == wins
    assert torch.equal(model.findings.equal_rows[2], model.transition if wins else torch.eye(3))
    model._begin(OWN_ROWS, None, batch, Seeds(0).randomness())
    assert VARIANTS[int(model.learning)] == ("features" if wins else "smooth")


@pytest.mark.parametrize("phase", [FULL_ROWS, LIGHT_ROWS])
def test_while_t_c_is_weighed_each_network_learns_half_of_it_and_is_asked_about_the_rest(
    batch: Batch, phase: int
) -> None:
    model = build(batch, hidden=8, variant="smooth").eval()
    model._begin(phase, None, batch, Seeds(0).randomness())
    asked = int(batch.trusted[model.halves.side[batch.trusted] == 0][0])  # the first network learns it
    given = batch.given.clone()
    given[asked] = (given[asked] + 1) % 3
    losses = [model._estimate_loss(one, Seeds(0).randomness()) for one in (batch, replace(batch, given=given))]
    assert torch.equal(losses[0]["trusted_ce_1"], losses[1]["trusted_ce_1"])
    assert not torch.equal(losses[0]["trusted_ce_0"], losses[1]["trusted_ce_0"])
    said = model.halves_say(batch)
    other = model.halves.networks[1](batch.graph, VARIANTS[int(model.learning)], None, bound=model._bound)
    torch.testing.assert_close(said[asked], other[asked].softmax(dim=0))
    model._begin(LABELS, None, batch, Seeds(0).randomness())  # from there on both learn, and are asked together, again
    assert (model.halves.side[batch.trusted] == -1).all()


def test_who_of_t_c_is_named_rightly_is_noted_where_t_c_counts_fully(batch: Batch) -> None:
    model = build(batch, variant="smooth", start_epochs=0)
    model._begin(FULL_ROWS, None, batch, Seeds(0).randomness())
    probabilities = random_probabilities(60, seed=3)
    model.end_epoch(batch, epoch_with(probabilities, index=0, count=1))
    right = [int(probabilities[node].argmax()) == int(batch.given[node]) for node in batch.trusted.tolist()]
    assert 0 < sum(right) < len(right)
    assert model.findings.unseen_right.tolist() == right
    assert not model.findings.equal_evidence.isfinite().any()  # learnt from half of T_C: no T to go on with


@pytest.mark.parametrize(("phase", "bound"), [(FIRST_ROWS, 3.0), (EQUAL_ROWS, 3.0), (LABELS, 0.0), (OWN_ROWS, 3.0)])
def test_while_t_is_learned_the_halves_speak(batch: Batch, phase: int, bound: float) -> None:
    model = build(batch, hidden=8, variant="smooth").eval()
    with torch.no_grad():
        for network in model.halves.networks:
            network.backbone.layers[-1].weight.mul_(20)
        final = model.predict(batch)
        model.phase.fill_(phase)
        model.learning.fill_(VARIANTS.index("smooth"))
        model.halves.draw(batch, Seeds(0).generator("cut"))
        found = model.predict(batch)
        assert torch.equal(found, model.halves.predict(batch, "smooth", bound=bound))
    assert not torch.allclose(found, final)


# Stages


def test_stages_share_one_cut_and_the_last_network_waits(batch: Batch) -> None:
    model = build(batch, **TINY)
    start = {name: value.clone() for name, value in model.prior.state_dict().items()}
    cuts, stages, before, terms = [], [], {}, {}

    def look(record, _: int) -> None:  # type: ignore[no-untyped-def]
        stages.append(record.stage)
        terms[record.stage] = set(record.terms)
        cuts.append(model.halves.side.clone())
        if record.stage != "train":
            before.update({name: value.clone() for name, value in model.prior.state_dict().items()})

    fit(model, batch, select_last(), Seeds(0).randomness(), FitOptions(on_epoch=look))
    names = [f"{rows} rows, {variant}" for rows in ("first", "equal") for variant in CANDIDATES]
    names += ["labels", "own rows", "train"]
    assert stages == [name for name in names for _ in range(4)]
    assert all(torch.equal(cut, cuts[0]) for cut in cuts)
    assert all(torch.equal(value, before[name]) for name, value in start.items())
    end = model.prior.state_dict()
    moved = {name.split(".")[0] for name, value in start.items() if not torch.equal(value, end[name])}
    assert moved == {"backbone", model.variant} - {"smooth", "similar"}
    assert terms["labels"] == {"marginal_0", "marginal_1"}  # T_C is what they are asked about, so they do not learn it
    assert terms["own rows"] == {"marginal_0", "marginal_1", "trusted_ce_0", "trusted_ce_1"}
    assert terms["train"] == {"marginal", "trusted_ce"}
