"""The paper's tables from the command line."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lnp.experiments.store import Store

GRAPH = "synthetic:nodes=120,classes=3,features=8,mean_degree=6"


@pytest.fixture
def one(tmp_path: Path) -> list[object]:
    """One run of table-2 on a small graph."""
    part = ["--datasets", GRAPH, "--methods", "clean-only", "--rates", "0.2", "--seeds", 1, "--protocol", "random"]
    return ["table-2", *part, "--store", tmp_path / "runs.sqlite"]


@pytest.fixture
def finished(call, one, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The same, run in this process."""

    def run(self, jobs, store, on_event) -> None:
        from lnp.experiments.jobs import perform

        for job in jobs:
            store.add(perform(job))

    monkeypatch.setattr("lnp.experiments.executors.ProcessExecutor.run", run)
    assert call("reproduce", *one).exit_code == 0
    return one


def test_dry_run_counts_and_runs_nothing(call, one, tmp_path: Path) -> None:
    result = call(
        "reproduce", *one[:-4], "--store", tmp_path / "runs.sqlite", "--protocol", "strict", "--dry-run", "--json"
    )
    assert result.exit_code == 0, result.stderr
    said = json.loads(result.stdout)
    assert (said["runs"], said["done"], said["left"]) == (1, 0, 1)
    assert said["estimated_seconds"] > 0
    text = call("reproduce", *one, "--seeds", 3, "--dry-run").stdout
    assert text.startswith("table-2: 3 runs, 0 done, 3 left, about ")


def test_what_is_finished_is_not_run_again(call, one, tmp_path: Path) -> None:
    first = call("reproduce", *one, "--results", tmp_path / "results", "--json")
    assert first.exit_code == 0, first.stderr
    said = json.loads(first.stdout)
    assert (said["finished"], said["left"], said["failed"]) == (1, 0, [])
    assert said["files"] == [str(tmp_path / "results" / "table-2.random.csv")]
    lines = (tmp_path / "results" / "table-2.random.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2
    again = call("reproduce", *one, "--resume")
    assert again.stdout == "table-2: 1 runs, 1 done (0 now).\n"
    (run,) = json.loads(call("runs", "--store", tmp_path / "runs.sqlite", "--json").stdout)
    assert run["test_accuracy"] == pytest.approx(float(lines[1].split('"')[2].split(",")[6]), abs=1e-6)


def test_a_finished_grid_is_known_without_torch(finished) -> None:
    arguments = ["lnp", "reproduce", *map(str, finished)]
    script = (
        "import sys; sys.modules.update(dict.fromkeys(['torch', 'numpy', 'scipy']))\n"  # importing them would fail
        f"from lnp.cli.main import main; sys.argv = {arguments!r}; main()"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout, said.stderr) == (0, "table-2: 1 runs, 1 done (0 now).\n", "")


def test_a_finished_grid_says_the_same_however_it_is_known(call, finished, tmp_path: Path) -> None:
    for extra in (["--dry-run", "--json"], ["--json"], ["--dry-run"]):
        quick = call("reproduce", *finished, *extra).stdout
        with Store(tmp_path / "runs.sqlite") as store, store.transaction() as connection:
            assert connection.execute("DELETE FROM grids").rowcount == 1
        assert call("reproduce", *finished, *extra).stdout == quick


def test_a_finished_grid_is_still_exported(call, finished, tmp_path: Path) -> None:
    said = json.loads(call("reproduce", *finished, "--results", tmp_path / "results", "--json").stdout)
    assert said["files"] == [str(tmp_path / "results" / "table-2.random.csv")]
    assert len(Path(said["files"][0]).read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table-3"], "Unknown table 'table-3'"),
        (["table-2", "--rates", "high"], "Expected `--rates` to be numbers separated by commas, but got 'high'."),
        (["table-2", "--methods", "gnc"], "Unknown method 'gnc'"),
        (["table-2", "--protocol", "fair"], "Expected `protocol` to be one of paper, random, strict"),
        (["table-6", "--methods", "gcn", "--protocol", "random"], "Expected the protocol of table-6"),
        (["table-2", "--results", __file__], "is a file"),
    ],
)
def test_errors_are_one_line(call, tmp_path: Path, arguments: list[str], message: str) -> None:
    result = call("reproduce", *arguments, "--store", tmp_path / "runs.sqlite")
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_an_interrupt_says_how_to_go_on(call, one, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lnp.experiments.executors.ProcessExecutor.run", interrupt)
    result = call("reproduce", *one)
    assert result.exit_code == 130
    assert "Stopped. 0 finished runs are in" in result.stderr
    assert "the same command goes on from there" in result.stderr


def test_what_was_finished_before_an_interrupt_is_in_the_files(
    call, one, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_one(self, jobs, store, on_event) -> None:
        from lnp.experiments.jobs import perform

        store.add(perform(jobs[0]))
        raise KeyboardInterrupt

    monkeypatch.setattr("lnp.experiments.executors.ProcessExecutor.run", run_one)
    folder = tmp_path / "results"
    result = call("reproduce", *one, "--seeds", 3, "--results", folder)
    assert result.exit_code == 130
    assert f"1 finished runs are in {tmp_path / 'runs.sqlite'}, and those of this command in {folder}" in result.stderr
    with (folder / "table-2.random.csv").open(encoding="utf-8", newline="") as lines:
        assert [(row["method"], row["seed"]) for row in csv.DictReader(lines)] == [("clean-only", "0")]


def test_a_failure_is_shown_and_is_no_success(call, one, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self, jobs, store, on_event) -> None:
        from lnp.experiments.jobs import Event

        on_event(Event("failed", jobs[0], "out of memory"))

    monkeypatch.setattr("lnp.experiments.executors.ProcessExecutor.run", fail)
    result = call("reproduce", *one)
    assert result.exit_code == 1
    assert "1 failed; the same command tries them again" in result.stdout
    assert "out of memory" in result.stdout


def test_what_the_files_have_is_left_out_if_asked(call, finished, tmp_path: Path) -> None:
    results = ["--results", tmp_path / "results"]
    assert call("reproduce", *finished, *results).exit_code == 0
    elsewhere = [*finished[:-1], tmp_path / "new.sqlite", *results, "--skip-recorded"]
    assert call("reproduce", *finished, "--results", tmp_path / "other", "--dry-run").exit_code == 0
    assert not (tmp_path / "other").exists()
    said = json.loads(call("reproduce", *elsewhere, "--seeds", 3, "--dry-run", "--json").stdout)
    assert (said["runs"], said["left"], said["recorded"]) == (2, 2, 1)
    assert call("reproduce", *elsewhere).stdout == "table-2: 0 runs, 0 done (0 now). 1 more are recorded.\n"
    assert call("reproduce", *elsewhere[:-3], "--dry-run").stdout.startswith("table-2: 1 runs, 0 done, 1 left")
    refused = call("reproduce", *finished, "--skip-recorded")
    assert refused.exit_code == 2
    assert "Expected `--results` with the folder" in refused.stderr


@pytest.mark.parametrize("request_to_end", [signal.SIGTERM, signal.SIGINT])
def test_who_is_told_to_end_takes_the_workers_along(request_to_end: signal.Signals, tmp_path: Path) -> None:
    graph = "synthetic:nodes=3000,classes=3,features=64,mean_degree=10"
    part = ["--datasets", graph, "--methods", "lnp-v2", "--rates", "0.2", "--protocol", "random"]
    command = ["reproduce", "table-2", *part, "--store", str(tmp_path / "runs.sqlite")]
    runner = subprocess.Popen([sys.executable, "-m", "lnp", *command], stderr=subprocess.PIPE, text=True)
    children = Path(f"/proc/{runner.pid}/task/{runner.pid}/children")
    workers: list[str] = []
    deadline = time.monotonic() + 60
    while not any(_is_worker(worker) for worker in workers):
        assert time.monotonic() < deadline
        assert runner.poll() is None
        time.sleep(0.1)
        workers = children.read_text(encoding="ascii").split()
    time.sleep(1)  # it reads its job
    os.kill(runner.pid, request_to_end)
    _, said = runner.communicate(timeout=60)
    assert (runner.returncode, said.splitlines()[-1][:8]) == (130, "Stopped.")
    assert not any(_is_worker(worker) for worker in workers)


def _is_worker(pid: str) -> bool:
    try:
        return "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
