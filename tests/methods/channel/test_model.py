"""The model as a whole: what T becomes, who is trained when, and what is left when something is missing."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from lnp.datasets.dataset import Dataset
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.engine.fit import FitOptions, FitResult, fit
from lnp.engine.selection import Selection, select_last, select_validation
from lnp.experiments.protocol import Task, prepare
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.base import Method
from lnp.methods.batch import Batch, full_batch
from lnp.methods.channel.config import CANDIDATES, VARIANTS, ChannelConfig
from lnp.methods.channel.learning import DONE, EQUAL_ROWS, FIRST_ROWS, LIGHT_ROWS, OPINIONS, OWN_ROWS, WEIGHING_STAGES
from lnp.methods.channel.model import Channel
from lnp.methods.channel.objective import light, trusted_weight
from lnp.methods.channel.prior import Prior
from lnp.methods.channel.transition import LEAST, shared_rows
from lnp.nn.sparse import SparseMatrix
from lnp.seeds import Randomness, Seeds

SHORT = {
    "hidden": 16,
    "variant": "smooth",
    "learning_rate": 0.02,
    "estimate_epochs": 50,
    "label_epochs": 25,
    "start_epochs": 15,
    "epochs": 40,
}
TINY = {"hidden": 8, "estimate_epochs": 4, "label_epochs": 4, "start_epochs": 1, "epochs": 4}
NOISE = np.array([[0.7, 0.2, 0.1], [0.0, 0.6, 0.4], [0.3, 0.1, 0.6]])


def build(batch: Batch, **options: object) -> Channel:
    return Channel(ChannelConfig(**options), batch, Seeds(0).generator("initialisation"))  # type: ignore[arg-type]


def train(model: Channel, batch: Batch, **options: object) -> FitResult:
    fit_options = FitOptions(**options)  # type: ignore[arg-type]
    return fit(model, batch, select_last(), Seeds(0).randomness(), fit_options)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    """Easy: 300 nodes, three classes, neighbours mostly alike."""
    config = SyntheticConfig(nodes=300, classes=3, mean_degree=8, homophily=0.9, features=8, signal=3.5)
    return synthetic(config, Seeds(1).generator("graph"))


def task_of(dataset: Dataset, noise: str, rate: float) -> tuple[Task, Batch]:
    task = prepare(dataset, "random", noise, rate, Seeds(1), trusted_size=12, selection="last")
    return task, full_batch(task.graph, task.observed, task.split.train)


def accuracy(result: FitResult, dataset: Dataset, nodes: np.ndarray) -> float:
    right = result.probabilities.argmax(dim=1).numpy() == dataset.truth.labels
    return float(right[nodes].mean())


def random_probabilities(count: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).dirichlet(np.ones(3), count)).float()


# What T becomes


def test_flip_noise_has_rows_of_its_own_close_to_the_true_ones(dataset: Dataset) -> None:
    task, batch = task_of(dataset, "pair", 0.4)
    model = build(batch, **SHORT)
    result = train(model, batch)
    assert bool(model.findings.own_rows)
    assert (
        max(model.findings.own_evidence, model.findings.first_evidence.max()) - model.findings.equal_evidence.max()
        > model.config.gain
    )
    np.testing.assert_allclose(model.transition.numpy(), task.corruption.realised_matrix, atol=0.08)
    assert torch.equal(model.channel, model.transition)
    assert accuracy(result, dataset, task.split.test) > 0.95
    wrong = batch.noisy[torch.from_numpy(dataset.truth.labels)[batch.noisy] != batch.noisy_labels]
    quality = model.label_quality(batch, result.probabilities)
    assert quality[wrong].median() < 0.1
    assert quality[batch.noisy].mean().item() == pytest.approx(1 - task.corruption.realised_rate, abs=0.08)


def test_uniform_noise_has_equal_rows_and_the_network_learns_through_them(dataset: Dataset) -> None:
    task, batch = task_of(dataset, "uniform", 0.4)
    model = build(batch, **SHORT)
    result = train(model, batch)
    assert not bool(model.findings.own_rows)
    assert (
        max(model.findings.own_evidence, model.findings.first_evidence.max()) - model.findings.equal_evidence.max()
        < model.config.gain
    )
    assert torch.equal(model.transition, model.findings.equal_rows[model.findings.equal_evidence.argmax()])
    diagonal, elsewhere = model.transition.diagonal(), model.transition[~torch.eye(3, dtype=torch.bool)]
    assert diagonal.unique().numel() == elsewhere.unique().numel() == 1
    assert diagonal[0].item() == pytest.approx(0.6, abs=0.2)  # bounded logits leave some of the prior's doubt in T
    assert model.findings.judging[0, 0].item() == pytest.approx(1 - task.corruption.realised_rate, abs=0.1)
    quality = model.label_quality(batch, result.probabilities)[batch.noisy]
    assert quality.mean().item() == pytest.approx(1 - task.corruption.realised_rate, abs=0.1)
    assert torch.equal(model.channel, model.transition)
    assert accuracy(result, dataset, task.split.test) > 0.95


def test_equal_rows_that_keep_as_little_as_they_may_are_not_believed(batch: Batch) -> None:
    model = build(batch, **SHORT)
    model.findings.first_evidence.fill_(-1.0)  # something was learned
    for kept, believed in ((LEAST, False), (LEAST + 0.01, True)):
        model.transition.copy_(kept * torch.eye(3) + (1 - kept) / 3)
        assert (model.channel is not None) == believed
    model.transition.copy_(shared_rows(torch.ones(3, 3), least=LEAST))  # what the M-step gives where nothing is known
    assert model.channel is None
    model.findings.own_rows.fill_(True)
    assert torch.equal(model.channel, model.transition)


@pytest.mark.parametrize(("first", "own", "equal", "kept"), [
    (-0.8, -0.9, -1.0, "first"),
    (-0.9, -0.8, -1.0, "own"),
    (-0.9, -0.97, -0.92, "equal"),
    (-0.97, -0.9, -0.92, "equal"),
])  # fmt: skip
def test_the_better_start_stays_if_it_beats_equal_rows(
    batch: Batch, first: float, own: float, equal: float, kept: str
) -> None:
    model = build(batch, variant="smooth", gain=0.05).eval()  # as the loop has it when a stage begins
    model.learning.fill_(VARIANTS.index("smooth"))
    model.phase.fill_(OWN_ROWS)
    (
        model.findings.first_evidence[model.learning],
        model.findings.own_evidence[...],
        model.findings.equal_evidence[...],
    ) = first, own, equal
    matrices = {"own": torch.from_numpy(NOISE).float(), "equal": 0.4 * torch.eye(3) + 0.2, "first": torch.eye(3)}
    model.transition.copy_(matrices["own"])
    model.findings.equal_rows.copy_(matrices["equal"])
    model.findings.first_rows[model.learning] = matrices["first"]
    model._begin_training(batch, Seeds(0).randomness())
    assert bool(model.findings.own_rows) == (kept != "equal")
    assert torch.equal(model.transition, matrices[kept])
    assert int(model.phase) == DONE


@pytest.mark.parametrize(
    ("homophily", "signal", "variant"), [(0.95, 1.5, "smooth"), (1 / 3, 6.0, "features")], ids=["alike", "unlike"]
)
def test_auto_takes_what_suits_the_graph(homophily: float, signal: float, variant: str) -> None:
    config = SyntheticConfig(nodes=200, classes=3, mean_degree=6, homophily=homophily, features=8, signal=signal)
    _, batch = task_of(synthetic(config, Seeds(1).generator("graph")), "uniform", 0.3)
    model = build(batch, **SHORT | {"variant": "auto", "estimate_epochs": 40, "label_epochs": 1, "epochs": 1})
    train(model, batch)
    assert model.variant == variant
    for evidence in (model.findings.first_evidence, model.findings.equal_evidence):
        assert {VARIANTS[number] for number in evidence.isfinite().nonzero().squeeze(1)} == set(CANDIDATES)
    assert (
        VARIANTS[int(model.learning)] == VARIANTS[int(model.findings.first_evidence.argmax())]
    )  # the later stages went on with it


@pytest.mark.parametrize(("own", "variant"), [(-0.8, "links"), (-1.0, "features")])
def test_each_kind_of_rows_has_its_own_best_variant(batch: Batch, own: float, variant: str) -> None:
    model = build(batch, variant="auto", gain=0.05).eval()
    model.findings.first_evidence.copy_(torch.tensor([-torch.inf, -1.2, -1.1, -1.0, -1.3]))
    model.findings.equal_evidence.copy_(torch.tensor([-torch.inf, -1.2, -0.9, -1.0, -1.3]))
    model._begin(OWN_ROWS, None, batch, Seeds(0).randomness())
    assert VARIANTS[int(model.learning)] == "links"
    model.findings.own_evidence.fill_(own)
    model.findings.equal_rows[VARIANTS.index("features")] = 0.4 * torch.eye(3) + 0.2
    model._begin_training(batch, Seeds(0).randomness())
    assert model.variant == variant
    assert torch.equal(model.transition, model.findings.equal_rows[2]) == (variant == "features")


# How much T_C has to say


def one_trusted_of(batch: Batch, factor: int) -> Batch:
    """The same with one trusted node and T_N so many times over, which makes no other difference to a mean."""
    return replace(batch, trusted=batch.trusted[:1], noisy=batch.noisy.repeat(factor))


def test_t_c_is_weighed_lightly_where_it_is_a_tiny_part_and_that_explains_the_labels(batch: Batch) -> None:
    """The stages are there where T_N is more than 200 times T_C; what they find stays only if it is the best so far."""
    many, few = one_trusted_of(batch, 10), one_trusted_of(batch, 1)
    assert 0 < light(many) < 0.25 < light(few)
    names = [[stage.name for stage in build(one, variant="smooth").stages(one)] for one in (few, many)]
    assert [name for name in names[1] if name not in names[0]] == list(WEIGHING_STAGES)
    assert names[1].index("equal rows, lightly") < names[1].index("labels")
    nobody = replace(many, trusted=many.trusted[:0])
    assert "equal rows, lightly" not in [stage.name for stage in build(nobody).stages(nobody)]


@pytest.mark.parametrize("lightly", [True, False])
@pytest.mark.parametrize("own", [True, False])
def test_a_light_t_c_weighs_less_in_every_loss_but_that_of_the_first_rows(
    batch: Batch, own: bool, lightly: bool
) -> None:
    batch = one_trusted_of(batch, 10)
    model = build(batch, hidden=8, variant="smooth").eval()
    model.learning.fill_(VARIANTS.index("smooth"))
    model.findings.own_rows.fill_(own)
    randomness = Seeds(0).randomness()
    full = {name: value.item() for name, value in model.loss(batch, randomness).items()}
    if not own:
        full["trusted_ce"] /= light(batch)  # labels as they are tell all there is to know
    model.findings.counts_lightly.fill_(lightly)
    found = model.loss(batch, randomness)["trusted_ce"].item()
    assert found == pytest.approx(full["trusted_ce"] * (light(batch) if lightly or not own else 1), rel=1e-5)
    weights = {}
    for phase in (FIRST_ROWS, EQUAL_ROWS, LIGHT_ROWS, OWN_ROWS):
        model.phase.fill_(phase)
        model.findings.counts_lightly.fill_(lightly and phase == OWN_ROWS)
        weights[phase] = model._estimate_loss(batch, randomness)["trusted_ce_0"].item()
    assert weights[EQUAL_ROWS] == pytest.approx(weights[FIRST_ROWS])
    assert weights[LIGHT_ROWS] == pytest.approx(weights[FIRST_ROWS] * light(batch), rel=1e-5)
    assert weights[OWN_ROWS] == pytest.approx(weights[LIGHT_ROWS if lightly else FIRST_ROWS])


def test_links_that_tell_the_class_are_seen() -> None:
    """Every node is joined to one of three hubs, features are noise: only who the neighbour is says anything."""
    rng = np.random.default_rng(0)
    labels = np.r_[[0, 0, 0], rng.integers(0, 3, 180)]  # hubs first, all of one class
    edges = np.stack([np.arange(3, 183), labels[3:]])
    graph = Graph.from_edges(edges, rng.normal(size=(183, 4)).astype(np.float32), class_count=3)
    given = np.where(rng.random(183) < 0.2, rng.integers(0, 3, 183), labels)
    given[150:] = -1
    trusted = np.isin(np.arange(183), np.arange(3, 15))
    given[trusted] = labels[trusted]
    batch = full_batch(graph, ObservedLabels(given, trusted, class_count=3), np.arange(150))
    evidence, right = {}, {}
    for variant in ("features", "links"):
        model = build(
            batch, **SHORT | {"variant": variant, "backbone": "mlp", "estimate_epochs": 30, "label_epochs": 1}
        )
        result = train(model, batch)
        evidence[variant] = model.findings.first_evidence.max().item()
        right[variant] = (result.probabilities.argmax(dim=1).numpy() == labels)[150:].mean()
    assert evidence["links"] > evidence["features"] + 0.1
    assert right["features"] < 0.6
    assert right["links"] > 0.9


def test_relabelling_the_classes_relabels_t_and_the_predictions(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first draw to the last epoch, with the outputs of every fresh network in the new order.

    Crossed evidence is asked the same in double precision (test_crossed.py): its steps enlarge what rounding left.
    """
    monkeypatch.setattr("lnp.methods.channel.learning.are_few", lambda *_: False)
    new = torch.tensor([2, 0, 1])  # class k is called new[k]
    old = new.argsort()
    plain = build(batch, **TINY)
    learned: list[torch.Tensor] = []
    before = train(plain, batch, on_epoch=lambda *_: learned.append(plain.transition.clone())).probabilities

    def renamed_prior(*arguments: object, **options: object) -> Prior:
        prior = Prior(*arguments, **options)  # type: ignore[arg-type]
        last = prior.backbone.layers[-1]
        with torch.no_grad():
            last.weight.copy_(last.weight[:, old])
            last.bias.copy_(last.bias[old])
        return prior

    for module in ("model", "halves"):
        monkeypatch.setattr(f"lnp.methods.channel.{module}.Prior", renamed_prior)
    renamed = replace(batch, given=torch.where(batch.given >= 0, new[batch.given], batch.given))
    model = build(renamed, **TINY)
    again: list[torch.Tensor] = []
    after = train(model, renamed, on_epoch=lambda *_: again.append(model.transition.clone())).probabilities
    torch.testing.assert_close(after, before[:, old], rtol=0, atol=1e-4)
    torch.testing.assert_close(torch.stack(again), torch.stack(learned)[:, old][:, :, old], rtol=0, atol=1e-3)
    torch.testing.assert_close(model.confusion, plain.confusion[old][:, old], rtol=0, atol=1e-3)
    torch.testing.assert_close(model.findings.first_evidence, plain.findings.first_evidence, rtol=0, atol=1e-4)
    own = learned[-5]  # after the last epoch with own rows
    assert (own - own[old][:, old]).abs().max() > 0.01  # or nothing was tested


def test_the_loss_is_cross_entropy_unless_t_has_rows_of_its_own(batch: Batch) -> None:
    model = build(batch, hidden=8, variant="smooth", trusted_weight=0.25).eval()
    model.transition.copy_(torch.from_numpy(NOISE))
    logits = model.prior(batch.graph, "smooth", None)
    terms = model.loss(batch, Seeds(0).randomness())
    torch.testing.assert_close(terms["marginal"], F.cross_entropy(logits[batch.noisy], batch.noisy_labels))
    trusted = F.cross_entropy(logits[batch.trusted], batch.trusted_labels)
    weight = trusted_weight(model.config, batch)
    torch.testing.assert_close(terms["trusted_ce"], weight * trusted)
    model.findings.own_rows.fill_(True)
    terms = model.loss(batch, Seeds(0).randomness())
    given = logits.softmax(dim=1) @ model.transition
    torch.testing.assert_close(terms["marginal"], F.nll_loss(given.log()[batch.noisy], batch.noisy_labels))
    torch.testing.assert_close(terms["trusted_ce"], weight * trusted)


def doubled(matrix: SparseMatrix) -> SparseMatrix:
    return SparseMatrix(matrix._forward.double(), matrix._backward.double())


@pytest.mark.parametrize("variant", VARIANTS)
def test_gradient_of_the_loss_by_finite_differences(batch: Batch, variant: str) -> None:
    """Along random directions of all weights, in double precision, with everything behind the loss."""
    model = build(batch, hidden=8, variant=variant, dropout=0.0).double()
    model.findings.own_rows.fill_(True)
    model.transition.copy_(torch.from_numpy(NOISE))
    graph, rng = batch.graph, np.random.default_rng(0)
    graph.features = graph.features.double()  # type: ignore[union-attr]
    for kind in ("row", "row~1"):
        graph._propagations[kind] = doubled(graph.propagation(kind))
    graph.__dict__["links"] = doubled(graph.links)
    used = [p for name, p in model.prior.named_parameters() if name.startswith(("backbone", variant))]
    with torch.no_grad():
        for p in used:
            p.add_(torch.from_numpy(rng.normal(scale=0.3, size=p.shape)))  # away from the paths' zeros

    def loss() -> torch.Tensor:
        return torch.stack(list(model.loss(batch, Seeds(0).randomness()).values())).sum()

    gradients = torch.autograd.grad(loss(), used)
    step = 1e-6
    for _ in range(3):
        directions = [torch.from_numpy(rng.normal(size=p.shape)) for p in used]
        slope = sum((g * d).sum() for g, d in zip(gradients, directions, strict=True)).item()  # type: ignore[union-attr]
        values = []
        with torch.no_grad():
            for move in (step, -2 * step, step):
                for p, d in zip(used, directions, strict=True):
                    p.add_(move * d)
                values.append(loss().item())
        assert (values[0] - values[1]) / (2 * step) == pytest.approx(slope, rel=1e-5)


def test_quality_is_the_posterior_of_the_given_label(batch: Batch) -> None:
    model, probabilities = build(batch), random_probabilities(60, seed=2)
    base = Method.label_quality(model, batch, probabilities)
    torch.testing.assert_close(model.label_quality(batch, probabilities), base, equal_nan=True)  # nothing learned yet
    model.findings.equal_judging[...] = torch.from_numpy(NOISE)
    model.findings.first_evidence[1] = -1.0
    quality, trusted = model.label_quality(batch, probabilities), set(batch.trusted.tolist())
    for node, label in enumerate(batch.given.tolist()):
        if label < 0:
            assert math.isnan(quality[node])
            continue
        joint = probabilities[node].double().numpy() * NOISE[:, label]
        expected = 1.0 if node in trusted else joint[label] / joint.sum()
        assert quality[node].item() == pytest.approx(expected, rel=1e-5)


def test_given_labels_are_foretold_with_the_t_of_the_loss_at_hand(batch: Batch) -> None:
    model, probabilities = build(batch), random_probabilities(5)
    model.transition.copy_(torch.from_numpy(NOISE))
    through = probabilities @ torch.from_numpy(NOISE).float()
    torch.testing.assert_close(model.given_distribution(probabilities), probabilities)
    model.findings.own_rows.fill_(True)
    torch.testing.assert_close(model.given_distribution(probabilities), through)
    model.findings.own_rows.fill_(False)
    model.phase.fill_(EQUAL_ROWS)
    torch.testing.assert_close(model.given_distribution(probabilities), through)


@pytest.mark.parametrize("own", [True, False])
def test_the_last_network_learns_the_opinions_of_those_who_have_not_seen_the_label(batch: Batch, own: bool) -> None:
    model = build(batch, **TINY, targets="posterior", gain=0.0 if own else 100.0)
    stages, terms, said = [], {}, {}

    def look(record, _: int) -> None:  # type: ignore[no-untyped-def]
        stages.append(record.stage)
        terms[record.stage] = set(record.terms)
        if record.stage == "own rows" and own:
            model.findings.equal_evidence.fill_(-100.0)  # so that rows of their own win
        if record.stage == "opinions":
            with torch.no_grad():
                said["last"] = model.predict(batch)[batch.noisy].double()
                assert int(model.phase) == OPINIONS

    train(model, batch, on_epoch=look)
    assert stages[-12:] == [name for name in ("own rows", "opinions", "train") for _ in range(4)]
    assert terms["opinions"] == {"marginal_0", "marginal_1", "trusted_ce_0", "trusted_ce_1"}
    assert terms["train"] == {"posterior_ce", "trusted_ce"}
    assert bool(model.findings.own_rows) is own
    joint = said["last"] * model.transition.double()[:, batch.noisy_labels].T
    expected = (joint / joint.sum(dim=1, keepdim=True)).float()
    torch.testing.assert_close(model.beliefs, expected, rtol=1e-4, atol=1e-5)


def test_opinions_need_a_channel(batch: Batch) -> None:
    model = build(batch, **TINY | {"estimate_epochs": 0}, targets="posterior")
    assert [stage.name for stage in model.stages(batch)] == ["train"]
    assert model.beliefs.numel() == 0


def test_one_variant_is_not_compared(batch: Batch) -> None:
    names = [stage.name for stage in build(batch, variant="plain").stages(batch)]
    assert names == ["first rows, plain", "equal rows, plain", "labels", "own rows", "train"]


def run_toy(batch: Batch, rule: Selection, targets: str, **options: object) -> tuple[Channel, Randomness, FitResult]:
    model, randomness = build(batch, **TINY, targets=targets), Seeds(0).randomness()
    fit_options = FitOptions(checkpoint_every=1, **options)  # type: ignore[arg-type]
    return model, randomness, fit(model, batch, rule, randomness, fit_options)


@pytest.mark.parametrize(("into", "targets"), [(1, "given"), (3, "posterior")])
def test_a_run_killed_in_any_stage_ends_in_the_same_bits(toy_task, tmp_path: Path, into: int, targets: str) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    rule = select_validation(toy_task.truth.labels, toy_task.observed, toy_task.split, rule="val-clean")
    model, randomness, result = run_toy(batch, rule, targets)
    for stage in range(len(model.stages(batch))):
        file, seen = tmp_path / f"{stage}.safetensors", 0

        def stop(*_: object, limit: int = 4 * stage + into) -> None:
            nonlocal seen
            seen += 1
            if seen == limit:
                raise KeyboardInterrupt

        with contextlib.suppress(KeyboardInterrupt):
            run_toy(batch, rule, targets, checkpoint=file, on_epoch=stop)
        assert seen == 4 * stage + into
        assert file.exists() == (seen > 1)  # what is killed in its first epoch has nothing to resume from
        again, others, resumed = run_toy(batch, rule, targets, checkpoint=file)
        for name, value in model.state_dict().items():
            assert torch.equal(again.state_dict()[name], value), (stage, name)
        assert randomness.state() == others.state()
        assert resumed.history == result.history
        assert torch.equal(resumed.probabilities, result.probabilities)


# When something is missing


def test_a_class_without_trusted_nodes_is_learnt_from_its_noisy_ones(dataset: Dataset) -> None:
    task, _ = task_of(dataset, "uniform", 0.4)
    observed = task.observed
    kept = observed.trusted & (observed.given != 2)
    lone = ObservedLabels(np.where(observed.trusted & ~kept, -1, observed.given), kept, class_count=3)
    batch = full_batch(task.graph, lone, task.split.train)
    assert set(batch.trusted_labels.tolist()) == {0, 1}
    model = build(batch, **SHORT)
    result = train(model, batch)
    assert model.confusion[2].tolist() == [0, 0, 0]
    assert (model.confusion[:2].sum(dim=1) > 3).all()
    torch.testing.assert_close(model.transition.sum(dim=1), torch.ones(3))
    of_class = task.split.test[dataset.truth.labels[task.split.test] == 2]
    assert accuracy(result, dataset, of_class) > 0.9


def test_without_trusted_nodes_the_given_labels_are_enough_while_most_are_right(dataset: Dataset) -> None:
    task, _ = task_of(dataset, "uniform", 0.4)
    observed = task.observed
    given = np.where(observed.trusted, -1, observed.given)
    batch = full_batch(task.graph, ObservedLabels(given, class_count=3), task.split.train)
    assert batch.trusted.numel() == 0
    model = build(batch, **SHORT)
    result = train(model, batch)
    assert all("trusted_ce" not in name for record in result.history for name in record.terms)
    assert not model.confusion.any()
    assert accuracy(result, dataset, task.split.test) > 0.9


@pytest.mark.parametrize("noisy", [0, 1])
def test_without_noisy_nodes_there_is_no_t_to_learn(batch: Batch, noisy: int) -> None:
    few = replace(batch, noisy=batch.noisy[:noisy])
    model = build(few, hidden=8, epochs=30)
    assert [stage.name for stage in model.stages(few)] == ["train"]
    result = train(model, few)
    terms = [record.terms for record in result.history]
    assert {name for term in terms for name in term} == {"trusted_ce"} | ({"marginal"} if noisy else set())
    assert sum(terms[-1].values()) < 0.7 * sum(terms[0].values())
    assert torch.equal(model.transition, torch.eye(3))
    assert not bool(model.findings.own_rows)
    base = Method.label_quality(model, few, result.probabilities)
    torch.testing.assert_close(model.label_quality(few, result.probabilities), base, equal_nan=True)


def test_without_epochs_to_learn_t_noise_is_the_same_for_all_classes(batch: Batch) -> None:
    model = build(batch, hidden=8, epochs=3, estimate_epochs=0)
    assert [stage.name for stage in model.stages(batch)] == ["train"]
    train(model, batch)
    assert model.channel is None
