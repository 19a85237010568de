from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from lnp.engine.feed import predict
from lnp.engine.fit import FitOptions, FitResult, fit
from lnp.engine.history import EpochRecord
from lnp.engine.selection import Selection, select_last, select_validation
from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.graph.split import Split
from lnp.methods.base import Epoch, Method, Optimiser, Stage, Terms, Update
from lnp.methods.batch import Batch, full_batch
from lnp.methods.config import MethodConfig
from lnp.methods.gcn import Plain, PlainConfig
from lnp.seeds import Generator, Randomness, Seeds

EPOCHS, FINE_TUNING = 6, 4


def problem() -> tuple[Batch, Selection]:
    """24 nodes in three classes, a third of the given labels wrong, one trusted node per class."""
    generator = np.random.default_rng(0)
    labels = np.arange(24) % 3
    features = np.eye(3)[labels] + generator.normal(size=(24, 3))
    graph = Graph.from_edges(generator.integers(0, 24, (2, 50)), features, class_count=3)
    split = Split(np.arange(12), np.arange(12, 20), np.arange(20, 24))
    given = np.where(np.arange(24) % 4 == 0, (labels + 1) % 3, labels)
    given[[12, 13, 14]] = labels[[12, 13, 14]]
    given[20:] = UNKNOWN
    observed = ObservedLabels(given, np.isin(np.arange(24), [12, 13, 14]), class_count=3)
    return full_batch(graph, observed, split.train), select_validation(labels, observed, split, rule="val-clean")


def plain(backbone: str = "gcn", seed: int = 0, **options: object) -> Plain:
    config = PlainConfig(
        backbone=backbone, hidden=5, epochs=EPOCHS, fine_tune_epochs=FINE_TUNING, learning_rate=0.05, **options
    )
    return Plain(config, problem()[0], Seeds(seed).generator("initialisation"))


def train(method: Method, *, rule: str = "val-clean", seed: int = 0, **options: object) -> FitResult:
    batch, selection = problem()
    return fit(
        method,
        batch,
        selection if rule == "val-clean" else select_last(),
        Seeds(seed).randomness(),
        FitOptions(**options),
    )


def assert_same_run(first: tuple[Method, FitResult], second: tuple[Method, FitResult]) -> None:
    (one, result), (other, other_result) = first, second
    assert one.state_dict().keys() == other.state_dict().keys()
    for name, value in one.state_dict().items():
        assert torch.equal(value, other.state_dict()[name]), name
    assert repr(result.history) == repr(other_result.history)  # repr, because the rule `last` scores not a number
    assert torch.equal(result.probabilities, other_result.probabilities)


class InterruptionError(Exception):
    """Somebody pulled the plug."""


def stop_at(number: int):
    """An on_epoch that raises in the epoch with this number, counted over all stages."""
    seen = 0

    def on_epoch(record: EpochRecord, count: int) -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            raise InterruptionError

    return on_epoch


@pytest.mark.parametrize("backbone", ["gcn", "h2gcn", "mlp"])
@pytest.mark.parametrize("every", [1, 3])
def test_an_interrupted_run_ends_bit_equal_wherever_it_stops(tmp_path: Path, backbone: str, every: int) -> None:
    whole = plain(backbone)
    result = train(whole)
    assert [r.stage for r in result.history] == ["train"] * EPOCHS + ["fine-tuning"] * FINE_TUNING
    for number in range(1, EPOCHS + FINE_TUNING + 1):
        path = tmp_path / f"{number}.checkpoint"
        with pytest.raises(InterruptionError):
            train(plain(backbone), checkpoint=path, checkpoint_every=every, on_epoch=stop_at(number))
        # Other initial weights and streams: a checkpoint must bring all of them. Before the first one, a fresh start.
        seed = 1 if path.exists() else 0
        assert path.exists() == (number > every)
        resumed = plain(backbone, seed=seed)
        again = train(resumed, seed=seed, checkpoint=path, checkpoint_every=every)
        assert_same_run((whole, result), (resumed, again))


def test_two_interruptions_and_the_rule_last(tmp_path: Path) -> None:
    whole = plain("h2gcn")
    result = train(whole, rule="last")
    path = tmp_path / "c"
    for number in (3, 2, 4):
        with pytest.raises(InterruptionError):
            train(plain("h2gcn"), rule="last", checkpoint=path, checkpoint_every=1, on_epoch=stop_at(number))
    resumed = plain("h2gcn")
    assert_same_run((whole, result), (resumed, train(resumed, rule="last", checkpoint=path)))


def test_a_finished_run_resumes_to_itself(tmp_path: Path) -> None:
    whole, again = plain(), plain()
    result = train(whole, checkpoint=tmp_path / "c", checkpoint_every=2)
    assert_same_run((whole, result), (again, train(again, checkpoint=tmp_path / "c", checkpoint_every=2)))


def test_checkpoints_do_not_change_a_run(tmp_path: Path) -> None:
    whole, watched = plain("mlp"), plain("mlp")
    result = train(whole)
    assert_same_run((whole, result), (watched, train(watched, checkpoint=tmp_path / "c", checkpoint_every=1)))


def test_a_killed_process_resumes_bit_equal(tmp_path: Path) -> None:
    path = tmp_path / "killed.checkpoint"
    threads = {"OMP_NUM_THREADS": str(torch.get_num_threads())}  # bits are those of so many threads
    command = [sys.executable, __file__, str(path)]
    died = subprocess.run(command, capture_output=True, timeout=120, check=False, env=os.environ | threads)
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()
    whole, resumed = plain("h2gcn"), plain("h2gcn")
    result = train(whole)
    calls: list[EpochRecord] = []
    again = train(resumed, checkpoint=path, on_epoch=lambda record, _: calls.append(record))
    assert_same_run((whole, result), (resumed, again))
    assert [(record.stage, record.epoch) for record in calls] == [("fine-tuning", 2), ("fine-tuning", 3)]


def test_same_seed_same_bits_other_seed_other_bits() -> None:
    runs = []
    for seed in (0, 0, 1):
        method = plain(seed=seed)
        runs.append((method, train(method, seed=seed)))
    assert_same_run(runs[0], runs[1])
    assert not torch.equal(runs[0][1].probabilities, runs[2][1].probabilities)
    only_dropout = plain(seed=0)
    assert not torch.equal(train(only_dropout, seed=1).probabilities, runs[0][1].probabilities)


@dataclass(frozen=True, kw_only=True)
class ScriptConfig(MethodConfig):
    """A scripted method: what it predicts after every epoch is written down."""

    right: tuple[int, ...] = ()
    start: int = 0
    keeps_start: bool = False
    bad_epoch: int = -1


class Scripted(Method):
    """Predicts class 0 for the first k nodes and class 1 for the rest, k by script; its one weight counts epochs."""

    Config = ScriptConfig
    config: ScriptConfig

    def __init__(self, config: ScriptConfig) -> None:
        super().__init__()
        self.config = config
        self.weight = nn.Parameter(torch.zeros(()))
        self.register_buffer("epoch", torch.tensor(0))
        self.seen: list[Epoch] = []

    def stages(self, batch: Batch) -> list[Stage]:
        return [
            Stage(
                name="script",
                epochs=len(self.config.right),
                optimisers={"main": Optimiser(self.parameters(), 0.1, 0.0)},
                updates=(Update(self.loss),),
                keeps_start=self.config.keeps_start,
            )
        ]

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        self.epoch += 1
        factor = float("nan") if self.epoch == self.config.bad_epoch else 1.0
        return {"fine": self.weight * 1.0, "broken": self.weight * factor}

    def predict(self, batch: Batch) -> Tensor:
        k = self.config.right[int(self.epoch) - 1] if self.epoch > 0 else self.config.start
        right = torch.arange(batch.node_count) < k
        return torch.stack([right, ~right, torch.zeros_like(right)], dim=1).float()

    def end_epoch(self, batch: Batch, epoch: Epoch) -> None:
        assert not torch.is_grad_enabled()
        self.seen.append(epoch)


def run_script(*right: int, patience: int = 0, **options: object) -> tuple[Scripted, FitResult]:
    method = Scripted(ScriptConfig(right=right, **options))
    everyone = Selection("val-clean", np.arange(24), np.zeros(24, np.int64))
    return method, fit(method, problem()[0], everyone, Seeds(0).randomness(), FitOptions(patience=patience))


def test_selection_restores_the_best_epoch_and_the_first_of_equals() -> None:
    method, result = run_script(3, 9, 5, 9, 1)
    assert int(method.epoch) == 2
    assert result.probabilities[:, 0].sum() == 9
    assert [record.selected for record in result.history] == [True, True, False, False, False]
    assert [record.score for record in result.history] == [k / 24 for k in (3, 9, 5, 9, 1)]
    assert [epoch.improved for epoch in method.seen] == [True, True, False, False, False]
    assert [epoch.score(epoch.probabilities) for epoch in method.seen] == [k / 24 for k in (3, 9, 5, 9, 1)]


def test_the_start_is_kept_when_it_is_best_and_only_if_asked() -> None:
    assert int(run_script(3, 4, start=7, keeps_start=True)[0].epoch) == 0
    assert int(run_script(3, 7, start=7, keeps_start=True)[0].epoch) == 0  # a tie keeps the earlier one
    assert int(run_script(3, 8, start=7, keeps_start=True)[0].epoch) == 2
    assert int(run_script(3, 4, start=7, keeps_start=False)[0].epoch) == 2


@pytest.mark.parametrize(
    ("patience", "epochs"),
    [(0, 9), (1, 3), (2, 4), (3, 8), (4, 9)],
)
def test_early_stopping_waits_so_many_epochs(patience: int, epochs: int) -> None:
    # Better in epochs 1, 2 and 5.
    assert run_script(1, 2, 2, 1, 3, 3, 3, 3, 3, patience=patience)[1].epochs == epochs


def test_early_stopping_counts_from_a_kept_start() -> None:
    method, result = run_script(1, 1, 1, 9, start=5, keeps_start=True, patience=3)
    assert result.epochs == 3
    assert int(method.epoch) == 0


def test_early_stopping_survives_an_interruption_right_before_it(tmp_path: Path) -> None:
    everyone = Selection("val-clean", np.arange(24), np.zeros(24, np.int64))
    config = ScriptConfig(right=(5, 4, 3, 9, 9))
    options = FitOptions(patience=2, checkpoint=tmp_path / "c", checkpoint_every=1)
    first, second = Scripted(config), Scripted(config)
    result = fit(first, problem()[0], everyone, Seeds(0).randomness(), options)
    # The last checkpoint was written when patience had just run out.
    again = fit(second, problem()[0], everyone, Seeds(0).randomness(), options)
    assert result.epochs == again.epochs == 3
    assert int(second.epoch) == 1


def test_a_loss_that_is_not_a_number_names_epoch_stage_and_term() -> None:
    with pytest.raises(ConfigError, match=r"not a number in epoch 2 of stage 'script' \(fine .*broken nan\)"):
        run_script(1, 1, 1, 1, 1, bad_epoch=3)


FLIPPED = ((0.3, 0.7, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
"""Seven in ten labels of class 0 say class 1."""


class BehindNoise(Scripted):
    """The scripted predictions, a little less sure, of the true label; given ones are behind FLIPPED."""

    def predict(self, batch: Batch) -> Tensor:
        return 0.9 * super().predict(batch) + 0.1 / 3

    def given_distribution(self, probabilities: Tensor) -> Tensor:
        return probabilities @ torch.tensor(FLIPPED)


def behind_noise(rule: str) -> Selection:
    """20 nodes of class 0, four of class 1; 14 of the first are given class 1."""
    return Selection(rule, np.arange(24), np.repeat([0, 1], [6, 18]))


def run_behind_noise(rule: str, *right: int, **options: object) -> tuple[BehindNoise, FitResult]:
    method = BehindNoise(ScriptConfig(right=right))
    return method, fit(method, problem()[0], behind_noise(rule), Seeds(0).randomness(), FitOptions(**options))


def likelihood(k: int) -> float:
    """By hand, when the first k nodes are predicted as class 0: nodes 0 to 5 are given 0, all others 1."""
    sure, rest = 0.9 + 0.1 / 3, 0.1 / 3
    given_0 = [0.3 * sure if node < k else 0.3 * rest for node in range(6)]
    given_1 = [0.7 * sure + rest if node < k else 0.7 * rest + sure for node in range(6, 24)]
    return float(np.log([*given_0, *given_1]).mean())


def test_likelihood_finds_the_right_epoch_where_accuracy_on_given_labels_finds_the_wrong_one() -> None:
    script = (24, 0, 20, 24)  # so many nodes are taken for class 0; 20 are of it
    method, result = run_behind_noise("val-noisy", *script)
    assert [record.score for record in result.history] == [6 / 24, 18 / 24, 10 / 24, 6 / 24]
    assert int(method.epoch) == 2  # class 1 everywhere, as most labels say
    method, result = run_behind_noise("val-likelihood", *script)
    assert [record.score for record in result.history] == pytest.approx([likelihood(k) for k in script], abs=1e-6)
    assert int(method.epoch) == 3
    assert result.probabilities.argmax(dim=1).tolist() == [0] * 20 + [1] * 4
    assert [epoch.score(epoch.probabilities) for epoch in method.seen] == [record.score for record in result.history]


def test_likelihood_without_a_noise_matrix_goes_with_the_given_labels() -> None:
    method = Scripted(ScriptConfig(right=(24, 0, 20, 24)))
    fit(method, problem()[0], behind_noise("val-likelihood"), Seeds(0).randomness())
    assert int(method.epoch) == 2


def test_early_stopping_by_likelihood() -> None:
    script = (0, 24, 20, 24, 0, 24, 20)  # better in epochs 1, 2 and 3
    scores = [likelihood(k) for k in script]
    assert scores[0] < scores[1] < scores[2] < 0
    assert max(scores) == scores[2]
    for patience, epochs in ((0, 7), (1, 4), (3, 6), (5, 7)):
        method, result = run_behind_noise("val-likelihood", *script, patience=patience)
        assert (result.epochs, int(method.epoch)) == (epochs, 3)


def test_a_run_by_likelihood_resumes_bit_equal(tmp_path: Path) -> None:
    script, path = (0, 24, 20, 0, 24, 0), tmp_path / "c"
    whole = run_behind_noise("val-likelihood", *script)
    with pytest.raises(InterruptionError):
        run_behind_noise("val-likelihood", *script, checkpoint=path, checkpoint_every=1, on_epoch=stop_at(5))
    assert_same_run(whole, run_behind_noise("val-likelihood", *script, checkpoint=path, checkpoint_every=1))


class TwoPlayers(Method):
    """Two weights, each pulled to its own target by its own Adam; the second starts from what the first did."""

    Config = MethodConfig

    def __init__(self) -> None:
        super().__init__()
        self.config = MethodConfig(epochs=5)
        self.first, self.second = nn.Parameter(torch.zeros(())), nn.Parameter(torch.zeros(()))
        self.order: list[str] = []

    def stages(self, batch: Batch) -> list[Stage]:
        return [
            Stage(
                name="both",
                epochs=5,
                optimisers={"a": Optimiser([self.first], 0.1, 0.0), "b": Optimiser([self.second], 0.01, 0.0)},
                updates=(Update(self.first_loss, "a"), Update(self.second_loss, "b"), Update(self.nothing, "a")),
                begin=self.begin,
            )
        ]

    def begin(self, batch: Batch, randomness: Randomness) -> None:
        assert not self.training
        self.order.append("begin")

    def first_loss(self, batch: Batch, randomness: Randomness) -> Terms:
        assert self.training
        self.order.append(f"a sees {self.first.item():.2f} {self.second.item():.2f}")
        return {"a": self.first * 1.0}

    def second_loss(self, batch: Batch, randomness: Randomness) -> Terms:
        self.order.append(f"b sees {self.first.item():.2f} {self.second.item():.2f}")
        return {"b": -self.second - 3 * self.first.detach()}

    def nothing(self, batch: Batch, randomness: Randomness) -> Terms:
        return {}

    def predict(self, batch: Batch) -> Tensor:
        return torch.full((batch.node_count, 3), 1 / 3)


def test_two_optimisers_take_turns() -> None:
    method = TwoPlayers()
    result = train(method, rule="last")
    # Adam's steps on a constant gradient are as long as its learning rate, each time.
    assert method.first.item() == pytest.approx(-0.5, abs=1e-5)
    assert method.second.item() == pytest.approx(0.05, abs=1e-5)
    assert method.order[:5] == [
        "begin",
        "a sees 0.00 0.00",
        "b sees -0.10 0.00",
        "a sees -0.10 0.01",
        "b sees -0.20 0.01",
    ]
    assert [sorted(record.terms) for record in result.history] == [["a", "b"]] * 5
    assert [record.terms["a"] for record in result.history] == pytest.approx([0, -0.1, -0.2, -0.3, -0.4], abs=1e-5)


def test_two_optimisers_resume(tmp_path: Path) -> None:
    whole, resumed = TwoPlayers(), TwoPlayers()
    result = train(whole, rule="last")
    with pytest.raises(InterruptionError):
        train(TwoPlayers(), rule="last", checkpoint=tmp_path / "c", checkpoint_every=1, on_epoch=stop_at(3))
    again = train(resumed, rule="last", checkpoint=tmp_path / "c", checkpoint_every=1)
    assert_same_run((whole, result), (resumed, again))
    assert "begin" not in resumed.order  # once per stage, not once per start


def test_one_epoch_is_one_adam_step_on_the_loss() -> None:
    method, reference = plain(dropout=0.0, weight_decay=0.1), plain(dropout=0.0, weight_decay=0.1)
    batch, _ = problem()
    config = replace(method.config, epochs=1, fine_tune_epochs=0)
    method.config = config
    result = train(method, rule="last")
    adam = torch.optim.Adam(reference.parameters(), lr=config.learning_rate, weight_decay=0.1)
    logits = reference.train().classifier(batch.graph, NO_DRAWS)
    loss = nn.functional.cross_entropy(logits[batch.noisy], batch.noisy_labels)
    loss.backward()
    adam.step()
    for ours, theirs in zip(method.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-5)
    assert result.history.records[0].terms["noisy_ce"] == pytest.approx(loss.item(), abs=1e-6)


def test_result_is_the_prediction_of_the_selected_state_in_evaluation_mode() -> None:
    method = plain("h2gcn")
    result = train(method)
    assert not method.training
    batch, selection = problem()
    assert torch.equal(predict(method.train(), batch), result.probabilities)
    assert selection.score(result.probabilities) == max(record.score for record in result.history)
    assert not result.probabilities.requires_grad
    torch.testing.assert_close(result.probabilities.sum(dim=1), torch.ones(24))


def test_on_epoch_sees_every_record_and_the_length_of_its_stage() -> None:
    calls: list[tuple[EpochRecord, int]] = []
    result = train(plain(), on_epoch=lambda record, count: calls.append((record, count)))
    assert [record for record, _ in calls] == result.history.records
    assert [count for _, count in calls] == [EPOCHS] * EPOCHS + [FINE_TUNING] * FINE_TUNING
    assert result.epochs == EPOCHS + FINE_TUNING
    assert 0 < result.seconds_per_epoch * result.epochs == pytest.approx(result.seconds)


NO_DRAWS: Generator = Seeds(0).generator("dropout")
"""A stream that dropout 0 leaves untouched."""


if __name__ == "__main__":  # the process that test_a_killed_process_resumes_bit_equal starts

    def die(record: EpochRecord, count: int) -> None:
        if record.stage == "fine-tuning" and record.epoch == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    train(plain("h2gcn"), checkpoint=Path(sys.argv[1]), checkpoint_every=1, on_epoch=die)
