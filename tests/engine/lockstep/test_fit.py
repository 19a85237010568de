from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from lnp.engine.fit import FitOptions, FitResult, fit
from lnp.engine.lockstep.fit import fit_together
from lnp.engine.selection import Selection, select_last, select_validation
from lnp.errors import ConfigError
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.graph.split import choose_trusted
from lnp.methods.base import Method
from lnp.methods.batch import Batch, full_batch
from lnp.methods.registry import create_method, make_config
from lnp.seeds import Seeds

SEEDS = range(3)
EPOCHS = {"epochs": 6, "hidden": 8}
FINE_TUNED = EPOCHS | {"fine_tune_epochs": 4}
CORRECTED = FINE_TUNED | {"estimate_epochs": 4}

CASES = [
    ("gcn", FINE_TUNED),
    ("gcn", FINE_TUNED | {"layers": 3, "dropout": 0.3}),
    ("gcn", FINE_TUNED | {"dropout": 0.0, "normalisation": "symmetric", "loop_weight": 3.0}),
    ("gcn", FINE_TUNED | {"layers": 1}),
    ("gce", FINE_TUNED),
    ("gce", FINE_TUNED | {"truncated": True, "warm_up": 0.3, "refresh": 1, "k": 0.3}),
    ("apl", FINE_TUNED | {"active": "nfl"}),
    ("forward", CORRECTED),
    ("dgnn", CORRECTED | {"correction": "compound"}),
    ("smodel", FINE_TUNED),
    ("glc", EPOCHS | {"estimate_epochs": 4}),
    ("joint", EPOCHS),
    ("clean-only", EPOCHS),
    ("lnp-v1", EPOCHS | {"delta": 0.4, "negatives": 16}),
    ("lnp-v1", EPOCHS | {"odds_power": 1.0, "similarity": "minmax", "lambda_3": 0.0}),
    ("lnp-v2", EPOCHS | {"delta": 0.4, "negatives": 16}),
    ("lnp-v2", EPOCHS | {"delta": 0.4, "negatives": 16, "told": False}),
    ("lnp-v2", EPOCHS | {"delta": 0.4, "negatives": 16, "grown_as": "noisy", "expectation": "exact"}),
    ("lnp-v2", EPOCHS | {"delta": 0.3, "similarity": "probability", "alpha": "dot", "weights": "one"}),
]


class Problem:
    """The toy graph with other noise, trusted nodes and draws for every seed."""

    def __init__(self, task, *, rule: str = "val-clean") -> None:
        truth, split, graph = task.truth.labels, task.split, task.graph
        self.batches: list[Batch] = []
        self.selections: list[Selection] = []
        for seed in SEEDS:
            seeds = Seeds(seed)
            draw = seeds.generator("noise")
            given = np.where(draw.random(truth.size) < 0.3, draw.integers(0, 3, truth.size), truth)
            trusted = choose_trusted(truth, split.validation, seeds.generator("trusted"), size=6, class_count=3)
            given[trusted] = truth[trusted]
            given[split.test] = UNKNOWN
            observed = ObservedLabels(given, np.isin(np.arange(truth.size), trusted), class_count=3)
            self.batches.append(full_batch(graph, observed, split.train))
            chosen = select_validation(truth, observed, split, rule="val-clean")
            self.selections.append(chosen if rule == "val-clean" else select_last())

    def fresh(self, name: str, options: dict[str, object]) -> list[Method]:
        config = make_config(name, options)
        return [
            create_method(name, config, batch, Seeds(seed).generator("initialisation"))
            for seed, batch in zip(SEEDS, self.batches, strict=True)
        ]

    def separately(
        self, methods: list[Method], checkpoints: list[Path] | None = None, patience: int = 0
    ) -> list[FitResult]:
        return [
            fit(
                method,
                self.batches[seed],
                self.selections[seed],
                Seeds(seed).randomness(),
                FitOptions(checkpoint=checkpoints[seed] if checkpoints else None, patience=patience),
            )
            for seed, method in zip(SEEDS, methods, strict=True)
        ]

    def together(self, methods: list[Method], **more: object) -> list[FitResult]:
        streams = [Seeds(seed).randomness() for seed in SEEDS]
        return fit_together(methods, self.batches, self.selections, streams, **more)


def check_equal(alone: list[Method], expected: list[FitResult], stacked: list[Method], found: list[FitResult]) -> None:
    """States, probabilities, histories and selected epochs agree up to rounding."""
    for one, other, wanted, given in zip(alone, stacked, expected, found, strict=True):
        torch.testing.assert_close(given.probabilities, wanted.probabilities, atol=2e-4, rtol=1e-3)
        for name, value in one.state_dict().items():
            torch.testing.assert_close(other.state_dict()[name], value, atol=2e-3, rtol=1e-2, msg=name)
        assert given.epochs == wanted.epochs
        for mine, theirs in zip(given.history, wanted.history, strict=True):
            assert (mine.stage, mine.epoch, mine.selected) == (theirs.stage, theirs.epoch, theirs.selected)
            assert mine.terms == pytest.approx(theirs.terms, rel=1e-3, abs=1e-4)
            assert mine.score == pytest.approx(theirs.score, nan_ok=True)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_the_same_as_separate_fits(toy_task, name, options):
    problem = Problem(toy_task)
    alone, stacked = problem.fresh(name, options), problem.fresh(name, options)
    check_equal(alone, problem.separately(alone), stacked, problem.together(stacked))


def test_the_same_under_the_rule_last(toy_task):
    problem = Problem(toy_task, rule="last")
    alone, stacked = problem.fresh("gcn", FINE_TUNED), problem.fresh("gcn", FINE_TUNED)
    check_equal(alone, problem.separately(alone), stacked, problem.together(stacked))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gcn", {"hidden": 8, "epochs": 40, "fine_tune_epochs": 10}),
        ("lnp-v2", {"hidden": 8, "epochs": 30, "delta": 0.4, "negatives": 16, "odds_power": 1.0}),
    ],
)
def test_a_seed_without_patience_waits_for_the_others(toy_task, name, options):
    problem = Problem(toy_task)
    alone, stacked = problem.fresh(name, options), problem.fresh(name, options)
    expected = problem.separately(alone, patience=3)
    assert len({result.epochs for result in expected}) > 1  # else it would say nothing
    check_equal(alone, expected, stacked, problem.together(stacked, options=FitOptions(patience=3)))


def test_seeds_differ_from_each_other(toy_task):
    problem = Problem(toy_task)
    first, second, _ = problem.together(problem.fresh("gcn", FINE_TUNED))
    assert not torch.allclose(first.probabilities, second.probabilities, atol=1e-2)


def test_methods_own_their_state_afterwards(toy_task):
    problem = Problem(toy_task)
    methods = problem.fresh("lnp-v2", EPOCHS)
    problem.together(methods)
    before = {name: value.clone() for name, value in methods[1].state_dict().items()}
    with torch.no_grad():
        for value in methods[0].state_dict().values():
            value.zero_()
    for name, value in methods[1].state_dict().items():
        assert torch.equal(value, before[name])
        assert value.untyped_storage().nbytes() == value.numel() * value.element_size()


@pytest.mark.parametrize("name", ["gcn", "lnp-v2"])
def test_a_stopped_run_goes_on_seed_by_seed(toy_task, tmp_path, name):
    problem = Problem(toy_task)
    options = FINE_TUNED if name == "gcn" else EPOCHS
    paths = [tmp_path / f"{seed}.safetensors" for seed in SEEDS]

    class StopError(Exception):
        pass

    def stop(record, epochs):
        if record.epoch == 4:
            raise StopError

    with pytest.raises(StopError):
        problem.together(
            problem.fresh(name, options), checkpoints=paths, options=FitOptions(checkpoint_every=3, on_epoch=stop)
        )
    assert all(path.exists() for path in paths)
    alone, resumed = problem.fresh(name, options), problem.fresh(name, options)
    check_equal(alone, problem.separately(alone), resumed, problem.separately(resumed, paths))


def test_on_epoch_is_called_once_an_epoch(toy_task):
    problem, seen = Problem(toy_task), []
    problem.together(
        problem.fresh("joint", EPOCHS),
        options=FitOptions(on_epoch=lambda record, epochs: seen.append((record.epoch, epochs))),
    )
    assert seen == [(epoch, 6) for epoch in range(6)]


def test_refuses_what_cannot_run_together(toy_task):
    problem = Problem(toy_task)
    with pytest.raises(ConfigError, match="CoteachingPlus makes choices"):
        problem.together(problem.fresh("coteaching-plus", {}))
    checked = [replace(batch, checks=torch.zeros(3, 3)) for batch in problem.batches]
    streams = [Seeds(seed).randomness() for seed in SEEDS]
    with pytest.raises(ConfigError, match="checked labels"):
        fit_together(problem.fresh("gcn", FINE_TUNED), checked, problem.selections, streams)


def test_a_loss_that_is_not_finite_names_the_seed(toy_task):
    problem = Problem(toy_task)
    methods = problem.fresh("gcn", FINE_TUNED)
    with torch.no_grad():
        methods[1].classifier.layers[0].weight.fill_(float("nan"))
    with pytest.raises(ConfigError, match="seed number 2 became infinite or not a number in epoch 0"):
        problem.together(methods)
