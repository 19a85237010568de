from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.base import clone, is_classifier
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from lnp import Graph, LNPClassifier, ObservedLabels, Truth
from lnp.engine.fit import fit
from lnp.engine.selection import hold_out_trusted, select_last, select_trusted
from lnp.errors import ConfigError, GraphError, InputError, LabelError, ModelFileError, NotFittedError
from lnp.graph.features import scale_features
from lnp.methods.batch import full_batch
from lnp.methods.registry import create_method, make_config
from lnp.nn.backbone import Backbone
from lnp.nn.sign import SIGN
from lnp.seeds import Seeds

QUICK: dict[str, object] = {"hidden": 8}
SHORT: dict[str, object] = {**QUICK, "variant": "smooth", "estimate_epochs": 5, "label_epochs": 5, "start_epochs": 2}


def quick(**more: object) -> LNPClassifier:
    return LNPClassifier(**{"epochs": 5, "options": QUICK, "selection": "trusted", **more})


@pytest.fixture
def fitted(toy_task) -> LNPClassifier:
    return quick().fit(toy_task.graph, toy_task.observed)


# The contract of scikit-learn


def test_the_constructor_stores_its_arguments_unchanged() -> None:
    options = {"lambda_1": 0.5}
    arguments = {name: object() for name in inspect.signature(LNPClassifier).parameters} | {"options": options}
    classifier = LNPClassifier(**arguments)
    assert all(getattr(classifier, name) is value for name, value in arguments.items())
    assert {name: id(value) for name, value in classifier.get_params().items()} == {
        name: id(value) for name, value in arguments.items()
    }


def test_clone_copies_the_arguments_and_not_the_fit(toy_task, fitted: LNPClassifier) -> None:
    copy = clone(fitted.set_params(seed=4))
    assert copy.get_params() == fitted.get_params()
    assert copy.seed == 4
    with pytest.raises(NotFittedError):
        copy.predict()


def test_the_representation_shows_what_differs_from_the_defaults() -> None:
    assert repr(LNPClassifier(1, "h2gcn", selection="last")) == (
        "LNPClassifier(backbone='h2gcn', selection='last', version=1)"
    )


def test_fit_returns_the_classifier_and_forgets_earlier_fits(toy_task, tiny_graph: Graph) -> None:
    classifier = quick(selection="last")
    classifier.fit(tiny_graph, [0, 0, 0, 1, 1, 2, 2], trusted=[True, False, False, True, False, True, False])
    assert classifier.class_names_ == ("red", "green", "blue")
    assert classifier.fit(toy_task.graph, toy_task.observed) is classifier
    fresh = quick(selection="last").fit(toy_task.graph, toy_task.observed)
    np.testing.assert_array_equal(classifier.predict_proba(), fresh.predict_proba())
    assert repr(classifier.history_) == repr(fresh.history_)  # not ==, because the scores are not numbers
    assert (classifier.class_names_, classifier.n_features_in_) == (("0", "1", "2"), 8)
    check_is_fitted(classifier)


# What it computes


@pytest.mark.parametrize(
    ("arguments", "name", "config"),
    [
        ({"version": 1}, "lnp-v1", {}),
        ({"version": 2, "backbone": "h2gcn"}, "lnp-v2", {"backbone": "h2gcn"}),
        ({"version": 2, "preset": "nc"}, "lnp-v2", {"lambda_3": 0.0}),
        ({"version": "channel", "options": SHORT}, "lnp-channel", SHORT),
        ({"method": "mlp"}, "mlp", {"backbone": "mlp"}),
    ],
)
def test_it_is_the_engine_on_all_labels(toy_task, arguments, name: str, config) -> None:
    graph, observed = toy_task.graph, toy_task.observed
    classifier = quick(selection="last", scaling="standard", seed=3, **arguments).fit(graph, observed)
    batch = full_batch(scale_features(graph, "standard"), observed, np.arange(60))
    method = create_method(
        name, make_config(name, {"epochs": 5} | QUICK | config), batch, Seeds(3).generator("initialisation")
    )
    expected = fit(method, batch, select_last(), Seeds(3).randomness()).probabilities
    np.testing.assert_array_equal(classifier.predict_proba(), expected)
    np.testing.assert_array_equal(classifier.predict(), expected.argmax(dim=1))
    np.testing.assert_array_equal(classifier.probabilities_, classifier.predict_proba(np.arange(60)))
    np.testing.assert_array_equal(classifier.predict([5, 2]), classifier.predict()[[5, 2]])


def test_trusted_nodes_that_select_do_not_train(toy_task) -> None:
    graph, observed = toy_task.graph, toy_task.observed
    classifier = quick(scaling="none").fit(graph, observed)
    rest, held_out = hold_out_trusted(observed, Seeds(0).generator("held-out"))
    np.testing.assert_array_equal(classifier.held_out_, held_out)
    batch = full_batch(graph, rest, observed.noisy_nodes)
    method = create_method(
        "lnp-v2", make_config("lnp-v2", {"epochs": 5} | QUICK), batch, Seeds(0).generator("initialisation")
    )
    result = fit(method, batch, select_trusted(observed.given, held_out), Seeds(0).randomness())
    np.testing.assert_array_equal(classifier.predict_proba(), result.probabilities)
    assert classifier.history_ == result.history


def test_plain_arrays_are_the_same_as_observed_labels(toy_task) -> None:
    observed = toy_task.observed
    one = quick().fit(toy_task.graph, observed).predict_proba()
    two = quick().fit(toy_task.graph, observed.given.astype(np.int32), trusted=list(observed.trusted)).predict_proba()
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, quick(seed=1).fit(toy_task.graph, observed).predict_proba())


def test_score_is_the_accuracy_on_known_labels(toy_task, fitted: LNPClassifier) -> None:
    labels = toy_task.truth.labels.copy()
    labels[::7] = -1
    nodes = np.arange(10, 60)
    known = nodes[labels[nodes] >= 0]
    expected = accuracy_score(labels[known], fitted.predict()[known])
    assert fitted.score(labels, nodes) == pytest.approx(expected)
    assert fitted.score(Truth(labels, 3), np.isin(np.arange(60), nodes)) == pytest.approx(expected)
    assert fitted.score(toy_task.truth) == pytest.approx(accuracy_score(toy_task.truth.labels, fitted.predict()))


@pytest.mark.parametrize("selection", ["trusted", "val-noisy", "val-given", "val-likelihood", "val-channel", "last"])
def test_label_quality_is_the_probability_of_every_given_label(toy_task, selection: str) -> None:
    classifier = quick(method="gcn", selection=selection, options={"fine_tune_epochs": 1})
    quality = classifier.fit(toy_task.graph, toy_task.observed).label_quality()
    given = toy_task.observed.given
    known = given >= 0
    assert np.isnan(quality[~known]).all()
    np.testing.assert_array_equal(quality[known], classifier.predict_proba()[known, given[known]])


def test_it_sees_through_the_noise(toy_task) -> None:
    classifier = LNPClassifier(version=1, epochs=100).fit(toy_task.graph, toy_task.observed)
    given, truth = toy_task.observed.given, toy_task.truth.labels
    wrong = (given >= 0) & (given != truth)
    assert 8 <= wrong.sum() <= 20
    assert classifier.score(truth, wrong) > 0.6  # the given labels have 0 there
    assert np.median(classifier.label_quality()[wrong]) < 0.3


def test_what_is_handed_out_is_a_copy(fitted: LNPClassifier) -> None:
    before = fitted.predict_proba()
    fitted.predict_proba()[:] = 0
    fitted.label_quality()[:] = 0
    np.testing.assert_array_equal(fitted.predict_proba(), before)
    assert np.nanmax(fitted.label_quality()) > 0


# Saving


def test_save_and_load(toy_task, tmp_path: Path) -> None:
    classifier = quick(selection="last", seed=np.int64(2), scaling="standard").fit(toy_task.graph, toy_task.observed)
    classifier.save(tmp_path / "model")
    again, stored = LNPClassifier.load(tmp_path / "model", toy_task.graph), LNPClassifier.load(tmp_path / "model")
    for other in (again, stored):
        np.testing.assert_array_equal(other.predict_proba(), classifier.predict_proba())
        np.testing.assert_array_equal(other.label_quality(), classifier.label_quality())
        assert other.get_params() == classifier.get_params()
        assert repr(other.history_) == repr(classifier.history_)
        assert other.class_names_ == classifier.class_names_
        assert other.score(toy_task.truth) == classifier.score(toy_task.truth)
    for key, value in classifier.method_.state_dict().items():
        assert torch.equal(again.method_.state_dict()[key], value)
    again.save(tmp_path / "second")
    for name in ("model.json", "model.safetensors"):
        assert (tmp_path / "second" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()
    with pytest.raises(NotFittedError, match="loaded without"):
        stored.save(tmp_path / "third")
    refitted = stored.fit(toy_task.graph, toy_task.observed)
    np.testing.assert_array_equal(refitted.predict_proba(), classifier.predict_proba())


def test_a_model_from_elsewhere_becomes_a_classifier_that_fits_the_same_way(toy_task, tmp_path: Path) -> None:
    from lnp.engine.model_file import save_model

    first = quick(method="gcn", selection="last", scaling="none").fit(toy_task.graph, toy_task.observed)
    parts = {"graph": toy_task.graph, "observed": toy_task.observed, "train": np.arange(60)}
    save_model(tmp_path, name="gcn", method=first.method_, about={"spec": {}}, **parts)
    classifier = LNPClassifier.load(tmp_path, toy_task.graph)
    np.testing.assert_array_equal(classifier.predict_proba(), first.predict_proba())
    again = classifier.set_params(selection="last").fit(toy_task.graph, toy_task.observed)
    np.testing.assert_array_equal(again.predict_proba(), first.predict_proba())


# Bad input


@pytest.mark.parametrize("call", ["predict", "predict_proba", "label_quality"])
def test_before_fit(call: str) -> None:
    with pytest.raises(NotFittedError, match="Expected a fitted classifier, but this one is not"):
        getattr(LNPClassifier(), call)()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"version": 3}, r"Expected `version` to be one of 1, 2, channel, but got 3"),
        ({"method": "lnp-v9"}, r"Unknown method 'lnp-v9'. Did you mean 'lnp-v\d'\? Choices: "),
        ({"backbone": "gat"}, r"Expected `backbone` to be one of gcn, h2gcn, mlp, sign, but got 'gat'"),
        ({"preset": "papers"}, r"Unknown preset of lnp-v2 'papers'. Did you mean 'paper'"),
        ({"options": {"lamda_1": 1}}, r"Unknown option of lnp-v2 'lamda_1'. Did you mean 'lambda_1'"),
        ({"options": {"epochs": 3}}, r"Expected `epochs` once, but got it as an argument and in `options`"),
        ({"epochs": -1}, r"Expected `epochs` to be at least 0, but got -1"),
        ({"selection": "val-clean"}, r"got 'val-clean', which needs the true labels"),
        ({"selection": "best"}, r"Expected `selection` to be one of"),
        ({"scaling": "log"}, r"Expected `scaling` to be one of"),
        ({"seed": -1}, r"Expected `seed` to be a whole number from 0, but got -1"),
        ({"patience": -1}, r"Expected `patience` to be in \[0"),
        ({"device": "abacus"}, r"Expected `device` to be one that this machine has, .* but got 'abacus'"),
    ],
)
def test_bad_arguments(toy_task, arguments, message: str) -> None:
    with pytest.raises(InputError, match=message):
        quick(**arguments).fit(toy_task.graph, toy_task.observed)


def test_bad_labels(toy_task) -> None:
    graph, observed = toy_task.graph, toy_task.observed
    given, trusted = observed.given, observed.trusted
    one_class_less = trusted & (given != 1)
    beyond = np.where(np.arange(60) == 4, 3, given)
    cases = [
        ((given[:-1], trusted[:-1]), LabelError, r"Expected labels for 60 nodes in 3 classes, but got 59 nodes"),
        ((ObservedLabels(given, class_count=4), None), LabelError, r"but got 60 nodes in 4 classes"),
        ((given, trusted[:-1]), LabelError, r"Expected `trusted` to be a mask of 60 nodes, but got bool \(59,\)"),
        ((beyond, trusted), LabelError, r"Expected `given` to be classes 0 to 2 or -1 .* but node 4 has 3"),
        ((given.astype(float), trusted), LabelError, r"Expected `given` to be one whole number per node"),
        ((given, one_class_less), LabelError, r"at least one trusted node in every class, .* none for class '1'"),
        ((np.full(60, -1), None), LabelError, r"there is none for class '0', '1', '2'"),
        ((np.where(trusted, given, -1), trusted), LabelError, r"Expected some given labels that are not trusted"),
        ((toy_task.truth, None), LabelError, r"got the truth, which no method may see"),
        ((observed, trusted), LabelError, r"Expected `trusted` only with plain class numbers"),
    ]
    for (labels, mask), error, message in cases:
        with pytest.raises(error, match=message):
            quick().fit(graph, labels, trusted=mask)
    with pytest.raises(GraphError, match=r"Expected `graph` to be an lnp.Graph, but got ndarray. Build one with"):
        quick().fit(np.eye(60), given, trusted=trusted)


def test_bad_nodes_and_scores(toy_task, fitted: LNPClassifier) -> None:
    cases = [
        (lambda: fitted.predict([60]), r"Expected `nodes` to be from 0 to 59, but got 60"),
        (lambda: fitted.predict([-1]), r"Expected `nodes` to be from 0 to 59, but got -1"),
        (lambda: fitted.predict([True, False]), r"Expected `nodes` to be node numbers or a mask of the 60 nodes"),
        (lambda: fitted.predict(toy_task.graph), r"Expected `nodes` to be node numbers or a mask"),
        (lambda: fitted.score(toy_task.truth.labels[:5]), r"Expected `labels` of all 60 nodes to score by, but got 5"),
        (lambda: fitted.score(np.full(60, -1)), r"Expected a node with a known label to score by, but there is none"),
        (lambda: fitted.score(toy_task.truth, []), r"Expected a node with a known label to score by"),
    ]
    for call, message in cases:
        with pytest.raises(LabelError, match=message):
            call()
    assert fitted.predict([]).size == 0


def test_a_failed_fit_leaves_the_earlier_one(toy_task, fitted: LNPClassifier) -> None:
    before = fitted.predict_proba()
    with pytest.raises(ConfigError, match="selection"):
        fitted.set_params(selection="best").fit(toy_task.graph, toy_task.observed)
    np.testing.assert_array_equal(fitted.predict_proba(), before)


def test_bad_graphs() -> None:
    features = np.ones((3, 2))
    features[1, 1] = np.nan
    cases = [
        (([[0], [3]], np.ones((3, 2))), r"Expected edges between nodes 0 to 2, but edge 0 names node 3"),
        (([[0], [1]], features), r"Expected finite features, but node 1, feature 1 is not a number"),
        ((np.zeros((2, 0), int), np.zeros((0, 4))), r"to have at least one node, but it is empty"),
        (([[0, 1]], np.ones((3, 2))), r"Expected `edges` to be a \(2, m\) array"),
    ]
    for (edges, matrix), message in cases:
        with pytest.raises(GraphError, match=message):
            Graph.from_edges(edges, matrix, class_count=2)


def test_bad_names_and_rates() -> None:
    from lnp import load_dataset
    from lnp.experiments.spec import RunSpec

    with pytest.raises(InputError, match=r"Unknown dataset 'digit'. Did you mean 'digits'\? Choices: "):
        load_dataset("digit")
    with pytest.raises(InputError, match=r"Unknown noise 'flop'. Did you mean 'flip'"):
        RunSpec(dataset="digits", method="gcn", noise="flop")
    with pytest.raises(InputError, match=r"Expected `rate` to be in \[0, 1\], but got 1.3"):
        RunSpec(dataset="digits", method="gcn", rate=1.3)
    with pytest.raises(InputError, match=r"Unknown method 'gcnn'. Did you mean '.*gcn'"):
        RunSpec(dataset="digits", method="gcnn")


def test_bad_model_files(fitted: LNPClassifier, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"Expected a saved model in .*nowhere, but there is no model.json"):
        LNPClassifier.load(tmp_path / "nowhere")
    fitted.save(tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ModelFileError, match=r"model.safetensors is not a readable model file .*truncated"):
        LNPClassifier.load(tmp_path / "model")


# Graphs in parts


def test_parts_with_everything_in_one_give_the_full_batch(toy_task, tmp_path: Path) -> None:
    full = quick().fit(toy_task.graph, toy_task.observed)
    parts = quick(batch="neighbours:size=60,fan_out=all").fit(toy_task.graph, toy_task.observed)
    np.testing.assert_allclose(parts.predict_proba(), full.predict_proba(), atol=1e-5)
    parts.save(tmp_path / "model")
    loaded = LNPClassifier.load(tmp_path / "model", toy_task.graph)
    assert loaded.batch == "neighbours:size=60,fan_out=all"
    np.testing.assert_allclose(loaded.predict_proba(), parts.predict_proba(), atol=1e-5)


def test_a_method_that_needs_the_whole_graph_is_not_cut(toy_task) -> None:
    with pytest.raises(ConfigError, match=r"nrgnn needs the whole graph at once\. Use batch 'full', or one of apl"):
        quick(method="nrgnn", batch="clusters").fit(toy_task.graph, toy_task.observed)


# Hops computed beforehand


@pytest.mark.parametrize(("version", "options"), [(1, QUICK), (2, QUICK), ("channel", SHORT)])
def test_sign_learns_under_every_version_and_comes_back_from_its_folder(
    toy_task, tmp_path: Path, version: object, options: dict[str, object]
) -> None:
    classifier = LNPClassifier(version, "sign", epochs=30, options={**options, "layers": 2})
    classifier.fit(toy_task.graph, toy_task.observed)
    networks = [module for module in classifier.method_.modules() if isinstance(module, Backbone)]
    assert len(networks) == 3
    assert all(isinstance(network, SIGN) for network in networks)
    assert classifier.score(toy_task.truth) > 0.5  # chance is a third
    classifier.save(tmp_path / "model")
    again = LNPClassifier.load(tmp_path / "model", toy_task.graph)
    np.testing.assert_allclose(again.predict_proba(), classifier.predict_proba(), atol=1e-6)


def test_parts_of_sign_need_no_neighbours(toy_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    batches = ("full", "neighbours:size=60,fan_out=1", "neighbours:size=60,fan_out=all", "neighbours:size=20,fan_out=1")
    full, one, same, many = (
        quick(backbone="sign", batch=batch).fit(toy_task.graph, toy_task.observed).predict_proba() for batch in batches
    )
    np.testing.assert_allclose(one, full, atol=1e-5)  # whatever the fan-out
    np.testing.assert_array_equal(one, same)
    assert np.abs(many - full).max() > 1e-3  # other steps
    with pytest.raises(ConfigError, match="lnp-channel needs the whole graph"):
        quick(version="channel", backbone="sign", batch="neighbours").fit(toy_task.graph, toy_task.observed)


def test_scikit_learn_sees_a_classifier_and_numpy_s_numbers_are_numbers() -> None:
    assert is_classifier(LNPClassifier())
    options = {"hidden": np.int64(8), "dropout": np.float32(0.25)}
    config = LNPClassifier(method="gcn", epochs=np.int64(3), options=options)._config()
    assert (config.epochs, config.hidden, config.dropout) == (3, 8, 0.25)
