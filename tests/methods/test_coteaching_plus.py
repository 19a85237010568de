from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from lnp.engine.feed import predict
from lnp.engine.fit import fit
from lnp.engine.selection import Selection, select_last
from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.batch import Batch, full_batch
from lnp.methods.coteaching_plus import (
    CoteachingPlus,
    CoteachingPlusConfig,
    chosen_by_each,
    confident_noise_rate,
    exchanged_losses,
    kept_share,
)
from lnp.seeds import Seeds

TRAIN = np.arange(24)
QUICK = {"hidden": 8, "epochs": 12, "ramp_epochs": 10, "warm_up": 0, "fine_tune_epochs": 4}


def planted_batch(*, outside: int = -1) -> Batch:
    """Three blocks of 12 nodes with telling features; node 35 is isolated; nodes 30 to 35 may carry unused labels."""
    generator = np.random.default_rng(3)
    truth = np.arange(36) % 3
    edges = [(i, j) for i in range(35) for j in range(i) if truth[i] == truth[j] and generator.random() < 0.5]
    features = np.eye(3)[truth] + 0.3 * generator.standard_normal((36, 3))
    graph = Graph.from_edges(np.array(edges).T, features, class_count=3)
    given = np.full(36, -1)
    given[TRAIN] = truth[TRAIN]
    given[:6] = (truth[:6] + 1) % 3
    given[24:30] = truth[24:30]
    given[30:] = outside
    trusted = np.zeros(36, bool)
    trusted[24:30] = True
    return full_batch(graph, ObservedLabels(given, trusted, class_count=3), TRAIN)


def make(batch: Batch, **options: object) -> CoteachingPlus:
    config = CoteachingPlusConfig(**{**QUICK, **options})  # type: ignore[arg-type]
    return CoteachingPlus(config, batch, Seeds(0).generator("initialisation"))


def test_nothing_forgotten_and_everyone_a_candidate_is_two_plain_cross_entropies() -> None:
    batch = planted_batch()
    method = make(batch, noise_rate=0.0, warm_up=5, dropout=0.0)
    terms = method.loss(batch, Seeds(1).randomness())
    plain = [cross_entropy(net(batch.graph, None)[TRAIN], batch.given[TRAIN]).mean() for net in _evaluated(method)]
    torch.testing.assert_close(terms["first_ce"], plain[0])
    torch.testing.assert_close(terms["second_ce"], plain[1])


def _evaluated(method: CoteachingPlus) -> list[torch.nn.Module]:
    method.eval()
    return [method.first, method.second]


def test_a_networks_update_does_not_depend_on_its_own_losses() -> None:
    generator = np.random.default_rng(0)
    first, other, second = (torch.from_numpy(generator.random(20)) for _ in range(3))
    everyone = torch.ones(20, dtype=torch.bool)
    nodes = chosen_by_each(first, second, everyone, 0.5)[1]
    assert nodes.tolist() == chosen_by_each(other, second, everyone, 0.5)[1].tolist()
    assert set(nodes.tolist()) == set(np.argsort(second.numpy())[:10].tolist())
    taught, _ = exchanged_losses(first, second, everyone, 0.5)
    assert taught.item() == pytest.approx(first.numpy()[np.argsort(second.numpy())[:10]].mean())


def test_the_gradient_of_a_network_stays_on_the_nodes_the_other_chose() -> None:
    first = torch.tensor([0.1, 0.2, 0.9, 0.8], requires_grad=True)
    second = torch.tensor([0.9, 0.8, 0.1, 0.2], requires_grad=True)
    taught_first, taught_second = exchanged_losses(first, second, torch.ones(4, dtype=torch.bool), 0.5)
    (taught_first + taught_second).backward()
    assert first.grad is not None
    assert second.grad is not None
    assert first.grad.tolist() == [0, 0, 0.5, 0.5]
    assert second.grad.tolist() == [0.5, 0.5, 0, 0]


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("ramp", {0: 10, 5: 8, 10: 6, 50: 6}),
        ("official", {0: 10, 9: 6, 10: 6}),
        ("growing", {0: 10, 10: 6, 60: 4, 110: 2}),
    ],
)
def test_number_of_kept_nodes_follows_the_schedule(schedule: str, expected: dict[int, int]) -> None:
    losses, everyone = torch.arange(10.0), torch.ones(10, dtype=torch.bool)
    for epoch, count in expected.items():
        share = kept_share(epoch, 110, 0.4, 10, schedule)
        assert chosen_by_each(losses, losses, everyone, share)[0].tolist() == list(range(count)), epoch


def test_rounding_never_loses_a_node_and_one_is_always_kept() -> None:
    losses, everyone = torch.arange(10.0), torch.ones(10, dtype=torch.bool)
    assert chosen_by_each(losses, losses, everyone, 1 - 0.9)[0].tolist() == [0]
    assert chosen_by_each(losses, losses, everyone, 0.0)[0].tolist() == [0]


def test_equal_networks_never_disagree_and_fall_back_to_all_nodes() -> None:
    batch = planted_batch()
    method = make(batch, noise_rate=0.0, dropout=0.0)
    method.second.load_state_dict(method.first.state_dict())
    terms = method.loss(batch, Seeds(1).randomness())
    plain = cross_entropy(_evaluated(method)[0](batch.graph)[TRAIN], batch.given[TRAIN]).mean()
    torch.testing.assert_close(terms["first_ce"], plain)
    torch.testing.assert_close(terms["second_ce"], plain)


def test_only_nodes_of_disagreement_count_after_the_warm_up() -> None:
    batch = planted_batch()
    method = make(batch, noise_rate=0.0, dropout=0.0)
    # The second is the first with a bias that makes some nodes cross from their class to the runner-up.
    weights = {name: value.clone() for name, value in method.first.state_dict().items()}
    two = method.eval().first(batch.graph)[TRAIN].detach()
    two -= two.max(dim=1, keepdim=True).values
    runner_up = int(two[0].argsort()[-2])
    weights["layers.1.bias"][runner_up] -= float(two[:, runner_up].median())
    method.second.load_state_dict(weights)
    first, second = (net(batch.graph)[TRAIN] for net in _evaluated(method))
    apart = first.argmax(dim=1) != second.argmax(dim=1)
    assert 0 < int(apart.sum()) < TRAIN.size
    method.train()
    expected = cross_entropy(first, batch.given[TRAIN])[apart].mean()
    torch.testing.assert_close(method.loss(batch, Seeds(1).randomness())["first_ce"], expected)


def test_with_clean_small_losses_no_corrupted_node_is_kept() -> None:
    generator = np.random.default_rng(5)
    corrupted = np.arange(50) % 5 == 0
    losses = [torch.from_numpy(generator.random(50) + 2 * corrupted) for _ in range(2)]
    for chosen in chosen_by_each(losses[0], losses[1], torch.ones(50, dtype=torch.bool), kept_share(10, 20, 0.2, 10)):
        assert chosen.numel() == 40
        assert not corrupted[chosen.numpy()].any()


def test_forgetting_grows_over_the_epochs_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []

    def spy(first: torch.Tensor, second: torch.Tensor, candidates: torch.Tensor, share: float) -> object:
        shares.append(share)
        return exchanged_losses(first, second, candidates, share)

    monkeypatch.setattr("lnp.methods.coteaching_plus.exchanged_losses", spy)
    batch = planted_batch()
    method = make(batch, noise_rate=0.5, ramp_epochs=4, epochs=6, fine_tune_epochs=2)
    fit(method, batch, select_last(), Seeds(1).randomness())
    assert shares == pytest.approx([1, 0.875, 0.75, 0.625, 0.5, 0.5])


def planted_predictions() -> tuple[torch.Tensor, torch.Tensor]:
    """A predictor that is right where it is sure (240 of 300) and wrong elsewhere, and labels 20 % of them wrong."""
    generator = np.random.default_rng(0)
    truth = torch.arange(300) % 3
    wrong = torch.from_numpy(generator.permutation(300) < 60)
    given = torch.where(wrong, (truth + 1) % 3, truth)
    sure = torch.from_numpy(generator.permutation(300) < 240)
    strength = torch.where(sure, 0.5 + 0.5 * torch.from_numpy(generator.random(300)), 0.2).unsqueeze(1)
    said = torch.eye(3)[torch.where(sure, truth, (truth + 2) % 3)]
    return strength * said + (1 - strength) / 3, given


def test_noise_rate_is_the_share_of_wrong_labels_where_the_predictor_is_right() -> None:
    probabilities, given = planted_predictions()
    truth = torch.arange(300) % 3
    assert confident_noise_rate(torch.eye(3)[truth], given, share=1.0) == pytest.approx(0.2)
    assert confident_noise_rate(probabilities, given, share=1.0) > 0.3  # every error of the predictor counts as noise
    assert abs(confident_noise_rate(probabilities, given) - 0.2) < 3 * math.sqrt(0.2 * 0.8 / 75)


def test_noise_rate_looks_at_every_predicted_class() -> None:
    value = torch.tensor([0.99, 0.98, 0.97, 0.96, 0.6, 0.58, 0.56, 0.54])
    probabilities = torch.stack([value, 1 - value], dim=1)
    probabilities[4:] = probabilities[4:].flip(1)
    given = torch.tensor([0, 1, 1, 1, 0, 1, 1, 1])  # right for the surest of class 0, wrong for the surest of class 1
    assert confident_noise_rate(probabilities, given) == 0.5


def test_noise_rate_with_an_absent_class_or_no_node() -> None:
    assert confident_noise_rate(torch.eye(3)[[0, 1, 0, 1]], torch.tensor([0, 1, 0, 1])) == 0
    assert confident_noise_rate(torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64)) == 0


def test_estimated_rate_is_near_the_planted_one_and_training_starts_anew() -> None:
    generator = np.random.default_rng(0)
    truth = np.arange(240) % 3
    features = np.eye(3)[truth] + 0.2 * generator.standard_normal((240, 3))
    graph = Graph.from_edges(np.stack([np.arange(237), np.arange(3, 240)]), features, class_count=3)
    given = np.where(generator.random(240) < 0.25, (truth + 1) % 3, truth)
    batch = full_batch(graph, ObservedLabels(given, class_count=3), np.arange(240))
    method = make(batch, estimate_epochs=60, epochs=0, learning_rate=0.05)
    before = method.first.state_dict()["layers.0.weight"].clone()
    fit(method, batch, select_last(), Seeds(1).randomness())
    assert abs(float(method.forget_rate) - (given != truth).mean()) < 0.06
    after = method.first.state_dict()
    assert after["layers.1.bias"].abs().max() == 0  # fresh, hence untrained
    assert not torch.equal(after["layers.0.weight"], before)


def test_no_label_is_judged_by_the_network_that_learnt_it() -> None:
    """No links and a feature for each node: what is learnt of one node is said of no other."""
    truth = torch.arange(24) % 3
    graph = Graph.from_edges(np.zeros((2, 0), int), np.eye(24), class_count=3)
    wrong = ObservedLabels(((truth + 1) % 3).numpy(), class_count=3)
    batch = full_batch(graph, wrong, TRAIN)
    alone = {"layers": 1, "dropout": 0.0, "weight_decay": 0.0, "learning_rate": 0.1}
    method = make(batch, **alone, estimate_epochs=80, epochs=0)
    with torch.no_grad():
        for network in (method.first, method.second):
            network.layers[0].weight.copy_(4 * torch.eye(3)[truth])  # type: ignore[union-attr,operator]
    fit(method, batch, select_last(), Seeds(1).randomness())
    assert float(method.forget_rate) == 1  # it would be 0 by networks that learnt the wrong labels


def test_prediction_of_the_mean_and_of_the_better_network() -> None:
    batch = planted_batch()
    method = make(batch, noise_rate=0.2)
    both = [net(batch.graph).softmax(dim=1) for net in _evaluated(method)]
    torch.testing.assert_close(predict(method, batch), (both[0] + both[1]) / 2)
    truth = np.arange(24, 36) % 3
    better = make(batch, noise_rate=0.2, prediction="better", epochs=3, fine_tune_epochs=0)
    selection = Selection("val-clean", np.arange(24, 36), truth)
    fit(better, batch, selection, Seeds(1).randomness())
    chosen = better.second if bool(better.second_is_better) else better.first
    with torch.no_grad():
        torch.testing.assert_close(predict(better, batch), chosen(batch.graph).softmax(dim=1))


def test_better_network_is_the_one_that_scores_more() -> None:
    batch = planted_batch()
    options: dict[str, object] = {"noise_rate": 0.0, "prediction": "better", "learning_rate": 0.0}
    method = make(batch, **options, epochs=2, fine_tune_epochs=0)
    said = [net(batch.graph).argmax(dim=1) for net in _evaluated(method)]
    assert not torch.equal(said[0], said[1])
    right = said[1].numpy().astype(np.int64)  # what the second network says
    fit(method, batch, Selection("val-clean", np.arange(36), right), Seeds(1).randomness())
    assert bool(method.second_is_better)
    unscored = make(batch, **options, epochs=2, fine_tune_epochs=0)
    fit(unscored, batch, select_last(), Seeds(1).randomness())
    assert not bool(unscored.second_is_better)


def test_fine_tuning_moves_both_networks() -> None:
    batch = planted_batch()
    method = make(batch, noise_rate=0.2, epochs=0, fine_tune_epochs=30, dropout=0.0)
    before = [cross_entropy(net(batch.graph)[batch.trusted], batch.trusted_labels).mean() for net in _evaluated(method)]
    fit(method, batch, select_last(), Seeds(1).randomness())
    after = [cross_entropy(net(batch.graph)[batch.trusted], batch.trusted_labels).mean() for net in _evaluated(method)]
    assert after[0] < before[0]
    assert after[1] < before[1]


def test_labels_outside_training_and_trusted_nodes_change_nothing() -> None:
    states = []
    for outside in (-1, 0, 2):
        batch = planted_batch(outside=outside)
        method = make(batch, estimate_epochs=5)
        fit(method, batch, select_last(), Seeds(1).randomness())
        states.append(method.state_dict())
    for name, value in states[0].items():
        assert torch.equal(value, states[1][name]), name
        assert torch.equal(value, states[2][name]), name


def test_resumed_run_is_bit_equal(goes_on_alike: Callable[..., None]) -> None:
    batch = planted_batch()
    selection = Selection("val-clean", np.arange(24, 36), np.arange(24, 36) % 3)
    options = {"estimate_epochs": 5, "ramp_epochs": 8, "warm_up": 2, "prediction": "better"}
    goes_on_alike(lambda: make(batch, **options), batch, selection, ("train", 8), checkpoint_every=3)


def test_without_noisy_nodes_there_is_nothing_to_exchange() -> None:
    batch = planted_batch()
    empty = Batch(batch.graph, batch.given, batch.noisy[:0], batch.trusted, 3)
    method = make(empty, estimate_epochs=2, epochs=2)
    result = fit(method, empty, select_last(), Seeds(1).randomness())
    assert float(method.forget_rate) == 0
    assert torch.isfinite(result.probabilities).all()


@pytest.mark.parametrize(
    "options",
    [{"noise_rate": 1.2}, {"schedule": "steep"}, {"prediction": "first"}, {"ramp_epochs": 0}, {"warm_up": -1}],
)
def test_options_out_of_range(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        CoteachingPlusConfig(**options)  # type: ignore[arg-type]
