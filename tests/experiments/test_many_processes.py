"""A run shared by processes, with one of them killed in the middle."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import time
from pathlib import Path
from types import ModuleType

import pytest

from lnp.engine.files import read_tensors
from lnp.errors import ConfigError
from lnp.experiments.many_processes import check_shareable
from lnp.experiments.spec import RunSpec

GRAPH = "synthetic:nodes=400,classes=3,features=8,mean_degree=6"
EPOCHS = 80


@pytest.fixture
def processes() -> ModuleType:
    path = Path(__file__).parents[1] / "engine" / "processes.py"
    spec = importlib.util.spec_from_file_location("lnp_tests_processes", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def command(out: Path, *more: str) -> list[str]:
    options = [
        "--method",
        "lnp-v2",
        "--backbone",
        "sign",
        "--epochs",
        str(EPOCHS),
        "--set",
        "hidden=8",
        "--rate",
        "0.3",
    ]
    return ["-m", "lnp", "train", GRAPH, *options, "--out", str(out), "--distributed", "--json", *more]


def wait(jobs: list[subprocess.Popen[str]]) -> list[tuple[str, str]]:
    try:
        return [job.communicate(timeout=150) for job in jobs]
    finally:
        for job in jobs:
            job.kill()


def kill_in_the_middle(processes: ModuleType, folder: Path, victim: int) -> str:
    """Kills one of two processes once there is a checkpoint; what the other says."""
    run = folder / "run"
    checkpoint = run / "seed-0" / "checkpoint.safetensors"
    jobs = processes.start(command(run), 2, XDG_CACHE_HOME=str(folder))
    deadline = time.monotonic() + 120
    while not checkpoint.exists() and all(job.poll() is None for job in jobs) and time.monotonic() < deadline:
        time.sleep(0.02)
    jobs[victim].kill()
    outputs = wait(jobs)
    assert jobs[victim].returncode == -9, outputs
    assert jobs[1 - victim].returncode == 1, outputs
    tensors, about = read_tensors(checkpoint)
    assert tensors
    epochs = about["position"]["epoch"]
    assert 0 < epochs < EPOCHS
    assert epochs % 10 == 0
    assert not (run / "result.json").exists()
    return outputs[1 - victim][1]


def finished(folder: Path, outputs: list[tuple[str, str]]) -> None:
    found = json.loads((folder / "run" / "result.json").read_text())
    assert json.loads(outputs[0][0]) == found
    assert found["epochs"] == [EPOCHS]
    assert found["test_accuracy"][0] > 0.6
    history = json.loads((folder / "run" / "seed-0" / "model.json").read_text())["about"]["history"]
    assert [row["epoch"] for row in history] == list(range(EPOCHS))
    assert not (folder / "run" / "seed-0" / "checkpoint.safetensors").exists()


@pytest.mark.slow
def test_a_killed_process_ends_the_job_and_one_process_finishes_it(processes: ModuleType, tmp_path: Path) -> None:
    said = kill_in_the_middle(processes, tmp_path, victim=1)
    sentence = next(line for line in said.splitlines() if line.startswith("error:"))
    assert "Process 0 of 2 has lost another process of the job" in sentence
    assert f"goes on from the last checkpoint in {tmp_path / 'run'}, with any number of processes." in sentence
    assert "Traceback" not in said
    jobs = processes.start(command(tmp_path / "run"), 1, XDG_CACHE_HOME=str(tmp_path))
    outputs = wait(jobs)
    assert jobs[0].returncode == 0, outputs
    finished(tmp_path, outputs)


@pytest.mark.slow
def test_if_process_0_is_killed_three_finish_what_two_began(processes: ModuleType, tmp_path: Path) -> None:
    assert "Process 1 of 2 has lost another process" in kill_in_the_middle(processes, tmp_path, victim=0)
    jobs = processes.start(command(tmp_path / "run"), 3, XDG_CACHE_HOME=str(tmp_path))
    outputs = wait(jobs)
    assert [job.returncode for job in jobs] == [0, 0, 0], outputs
    assert [output for output, _ in outputs[1:]] == ["", ""]  # process 0 speaks for all
    finished(tmp_path, outputs)


@pytest.mark.slow
def test_an_error_of_the_user_is_said_once_and_ends_all(processes: ModuleType, tmp_path: Path) -> None:
    jobs = processes.start(command(tmp_path / "run", "--protocol", "planetoid"), 2, XDG_CACHE_HOME=str(tmp_path))
    outputs = wait(jobs)
    assert [job.returncode for job in jobs] == [2, 0], outputs
    assert "public split" in outputs[0][1]
    assert outputs[1] == ("", "")
    assert not (tmp_path / "run").exists()


def test_what_cannot_be_shared_is_refused_with_what_can() -> None:
    with pytest.raises(ConfigError, match=r"pignn needs the whole graph\. Those that can: .*gcn.*lnp-v1, lnp-v2"):
        check_shareable(RunSpec(dataset=GRAPH, method="pignn", options={"backbone": "sign"}))
    with pytest.raises(ConfigError, match="`--backbone sign` with `--distributed`, but got gcn"):
        check_shareable(RunSpec(dataset=GRAPH, method="lnp-v2"))
    with pytest.raises(ConfigError, match="Expected `batch` full with many processes"):
        check_shareable(RunSpec(dataset=GRAPH, method="lnp-v2", options={"backbone": "sign"}, batch="neighbours"))
    check_shareable(RunSpec(dataset=GRAPH, method="lnp-v2", options={"backbone": "sign"}))


@pytest.mark.slow
def test_as_many_processes_as_before_go_on_to_the_same_bits(processes: ModuleType, tmp_path: Path) -> None:
    kill_in_the_middle(processes, tmp_path, victim=1)
    for out in (tmp_path / "run", tmp_path / "whole"):
        jobs = processes.start(command(out), 2, XDG_CACHE_HOME=str(tmp_path))
        outputs = wait(jobs)
        assert [job.returncode for job in jobs] == [0, 0], outputs
    resumed, whole = (read_tensors(tmp_path / name / "seed-0" / "model.safetensors")[0] for name in ("run", "whole"))
    assert resumed.keys() == whole.keys()
    assert all(resumed[name].numpy().tobytes() == whole[name].numpy().tobytes() for name in whole)


def started_short(processes: ModuleType, folder: Path, short: str, **variables: str) -> list[tuple[int, str, str]]:
    script = str(Path(__file__).parent / "short_of_room.py")
    arguments = [argument if argument != str(EPOCHS) else "2" for argument in command(folder / "run")[2:]]
    jobs = processes.start([script, short, *arguments], 2, XDG_CACHE_HOME=str(folder), **variables)
    return [(job.returncode, *output) for job, output in zip(jobs, wait(jobs), strict=True)]


@pytest.mark.slow
def test_the_memory_of_all_processes_is_looked_at_before_hops_are_computed(
    processes: ModuleType, tmp_path: Path
) -> None:
    (code, _, said), other = started_short(processes, tmp_path, "memory", LNP_MEMORY_LIMIT="300MiB")
    assert code == 2
    assert said.startswith("error: Expected a run that fits into 300 MiB of memory, but process 0 of 2")
    assert said.count("\n") == 1
    assert other == (0, "", "")
    assert not (tmp_path / "lnp" / "hops").exists()
    (code, output, said), other = started_short(processes, tmp_path, "memory", LNP_MEMORY_LIMIT="2GiB")
    assert code == 0, said
    assert said.count("Memory at the peak: about ") == 1
    assert "process 0 may take 2.0 GiB" in said
    assert json.loads(output)["epochs"] == [2]
    assert other == (0, "", "")


@pytest.mark.slow
def test_if_the_disk_is_full_process_0_says_so_and_all_end(processes: ModuleType, tmp_path: Path) -> None:
    (code, _, said), other = started_short(processes, tmp_path, "disk")
    assert code == 2
    assert "of free space" in said
    assert other == (0, "", "")
