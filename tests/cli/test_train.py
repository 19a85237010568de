"""``lnp train`` as a user and as a machine sees it."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest

KEYS = {
    *("dataset", "noise", "rate", "realised_rate", "protocol", "method", "backbone", "config", "seeds"),
    *("test_accuracy", "noise_detection", "epochs", "seconds_per_epoch", "peak_rss_mib"),
}


def test_json_is_one_object_with_a_value_per_seed(call, small: list[str]) -> None:
    result = call("train", *small, "--method", "lnp-v2", "--backbone", "mlp", "--seeds", 2, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found.keys() >= KEYS
    assert (found["noise"], found["rate"], found["protocol"], found["method"]) == ("flip", 0.3, "strict", "lnp-v2")
    assert (found["backbone"], found["config"]["backbone"], found["config"]["hidden"]) == ("mlp", "mlp", 8)
    assert found["seeds"] == [0, 1]
    lists = [found[key] for key in ("test_accuracy", "epochs", "seconds_per_epoch", "peak_rss_mib")]
    lists += [found["noise_detection"][key] for key in ("ap", "auroc")]
    assert all(len(values) == 2 for values in lists)
    assert found["epochs"] == [4, 4]
    for values in (found["test_accuracy"], *found["noise_detection"].values(), [found["realised_rate"]]):
        assert all(0 <= value <= 1 for value in values)


def test_the_table_has_the_numbers_of_the_json(call, small: list[str]) -> None:
    arguments = ["train", *small, "--method", "gcn", "--seeds", 3]
    accuracies = json.loads(call(*arguments, "--json").stdout)["test_accuracy"]
    lines = call(*arguments).stdout.splitlines()
    for seed, accuracy in enumerate(accuracies):
        line = next(line for line in lines if line.split()[:1] == [str(seed)])
        assert line.split()[1] == f"{100 * accuracy:.1f}"
    mean, sd = 100 * statistics.mean(accuracies), 100 * statistics.stdev(accuracies)
    assert any(f"mean ± sd {mean:.1f} ± {sd:.1f}" in " ".join(line.split()) for line in lines)


def test_a_rule_that_is_not_the_protocol_s_is_in_the_title(call, small: list[str]) -> None:
    title = " ".join(call("train", *small, "--method", "gcn", "--selection", "val-clean").stdout.split())
    assert "protocol strict, epoch chosen by val-clean" in title
    assert "epoch chosen by" not in call("train", *small, "--method", "gcn").stdout


def test_noise_none_has_no_detection_but_a_table(call, small: list[str]) -> None:
    arguments = ["train", *small, "--method", "gcn", "--noise", "none"]
    assert json.loads(call(*arguments, "--json").stdout)["noise_detection"] == {"ap": [None], "auroc": [None]}
    assert "–" in call(*arguments).stdout


def test_the_epoch_can_be_chosen_by_likelihood(call, small: list[str], tmp_path: Path) -> None:
    run = tmp_path / "run"
    chosen = ["--method", "smodel", "--selection", "val-likelihood", "--out", run, "--json"]
    found = json.loads(call("train", *small, *chosen).stdout)
    assert found["selection"] == "val-likelihood"
    history = json.loads((run / "seed-0" / "model.json").read_text())["about"]["history"]
    scores = [record["score"] for record in history]
    assert max(scores) < 0
    assert len(set(scores)) > 3  # likelihoods, not shares of a few nodes


def test_out_keeps_models_and_the_same_result(call, small: list[str], tmp_path: Path) -> None:
    run = tmp_path / "run"
    result = call("train", *small, "--method", "lnp-v1", "--seeds", 2, "--out", run, "--json")
    assert json.loads((run / "result.json").read_text()) == json.loads(result.stdout)
    names = sorted(str(path.relative_to(run)) for path in run.rglob("*") if path.is_file())
    seeds = [f"seed-{seed}/{name}" for seed in (0, 1) for name in ("model.json", "model.safetensors")]
    assert names == ["result.json", *seeds, "spec.json"]
    again = call("train", *small, "--method", "lnp-v1", "--seeds", 2, "--out", run, "--json")
    assert json.loads(again.stdout) == json.loads(result.stdout)  # seconds too: nothing was run again


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--dataset", "coral"], "Unknown dataset 'coral'. Did you mean 'cora'?"),
        (["--method", "lnp-v3"], "Unknown method 'lnp-v3'."),
        (["--noise", "flop"], "Unknown noise 'flop'."),
        (["--protocol", "strikt"], "Unknown protocol 'strikt'."),
        (["--rate", "1.3"], "Expected `rate` to be in [0, 1], but got 1.3."),
        (["--set", "lamda_1=2"], "Unknown option of lnp-v2 'lamda_1'."),
        (["--set", "lambda_1"], "Expected `--set` to be written option=value, but got 'lambda_1'."),
        (["--set", "epochs=3"], "Expected `epochs` once, but got it twice."),
        (["--set", "dropout=lots"], "Expected `dropout` to be float, but got 'lots'."),
        (["--preset", "best"], "Unknown preset of lnp-v2 'best'."),
        (["--selection", "test"], "Expected `selection` to be one of"),
        (["--scaling", "log"], "Expected `scaling` to be one of"),
        (["--device", "abacus"], "Expected `device` to be one that this machine has"),
        (["--seeds", "0"], "Invalid value for '--seeds'"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    call, small: list[str], tmp_path: Path, change: list[str], message: str
) -> None:
    result = call("train", *small, *change, "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"error: {message}")
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_another_run_in_the_same_folder_is_refused(call, small: list[str], tmp_path: Path) -> None:
    assert call("train", *small, "--method", "gcn", "--out", tmp_path).exit_code == 0
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    result = call("train", *small, "--method", "gcn", "--out", tmp_path, "--set", "dropout=0.1")
    assert result.exit_code == 2
    assert "it holds one with dropout 0.5 instead of 0.1" in result.stderr
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
