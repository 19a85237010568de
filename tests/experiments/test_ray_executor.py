"""Ray: the driver's side against a cluster of paper, and a real cluster of two nodes of which one dies."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections import Counter, deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lnp.errors import ConfigError
from lnp.experiments.claims import Claimed, claim
from lnp.experiments.identity import Identity
from lnp.experiments.jobs import Event, Job
from lnp.experiments.processes import Owner
from lnp.experiments.ray_executor import ATTEMPTS, RayExecutor, _Dispatch, _perform_there, import_ray
from lnp.experiments.store import Store


class RayError(Exception):
    pass


class RayTaskError(RayError):
    cause = None


class PaperCluster:
    """Answers as Ray does; ``deaths`` says how often the node of a seed dies."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, deaths: dict[int, int]) -> None:
        self.deaths, self.tasks, self.most = deaths, dict[int, tuple[Any, ...]](), 0
        self.cancelled: list[int] = []

    def remote(self, **options: object) -> Any:
        assert options == {"num_cpus": 1, "max_retries": 0}

        def submit(*arguments: object) -> int:
            self.tasks[len(self.tasks)] = arguments
            return len(self.tasks) - 1

        return lambda function: SimpleNamespace(remote=submit)

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 3.0}

    def wait(self, references: list[int], timeout: float) -> tuple[list[int], list[int]]:
        self.most = max(self.most, len(references))
        return references[:1], references[1:]

    def get(self, reference: int) -> Any:
        job = self.tasks[reference][0]
        if self.deaths.get(job.spec.seed, 0) > 0:
            self.deaths[job.spec.seed] -= 1
            raise RayError("the node died")
        try:
            return _perform_there(*self.tasks[reference])
        except Exception as error:
            raised = RayTaskError()
            raised.cause = error
            raise raised from error

    def cancel(self, reference: int, force: bool) -> None:
        self.cancelled.append(reference)


def dispatch(ray: PaperCluster, work: list[Job], store: Store) -> Counter[tuple[str, int]]:
    events: list[Event] = []
    _Dispatch(ray, RayExecutor(), store, events.append, deque(work)).work()
    return Counter((event.kind, event.job.spec.seed) for event in events)


def test_dead_nodes_runs_are_taken_up_by_others(jobs, store: Store) -> None:
    work = jobs(seeds=4)[::4]
    ray = PaperCluster({1: 1, 2: ATTEMPTS})
    kinds = dispatch(ray, work, store)
    assert kinds == {
        ("finished", 0): 1,
        ("retried", 1): 1,
        ("finished", 1): 1,
        ("retried", 2): ATTEMPTS - 1,
        ("failed", 2): 1,
        ("finished", 3): 1,
    }
    assert ray.most == 3  # as many as there are processors
    assert {run.spec["seed"] for run in store.runs()} == {0, 1, 3}
    assert [failure.reason for failure in store.failures()] == [f"RayError: the node died, {ATTEMPTS} times"]


def test_a_node_with_other_code_or_data_refuses(jobs, store: Store) -> None:
    work = jobs(seeds=2)[::4]
    right = [job.identity for job in work]
    stale = Job(Identity("k1", right[0].settings, "old"), work[0].spec)
    odd = Job(Identity("k2", "other data", right[1].code_version), work[1].spec)
    assert dispatch(PaperCluster({}), [stale, odd], store) == {("failed", 0): 1, ("failed", 1): 1}
    reasons = [failure.reason for failure in store.failures()]
    assert "ConfigError: Expected the same code on every node" in reasons[0]
    assert "ConfigError: Expected the same data on every node" in reasons[1]
    assert len(store) == 0


def test_stopping_frees_what_is_under_way(jobs, store: Store) -> None:
    (job, *_) = jobs()
    ray = PaperCluster({})
    under_way = _Dispatch(ray, RayExecutor(), store, lambda event: None, deque(), running={7: job})
    claim(store, job.identity.key)
    under_way.stop()
    assert ray.cancelled == [7]
    assert claim(store, job.identity.key, Owner("another machine", 1, 1)) is Claimed.YES


def test_without_ray_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"pip install 'lnp\[ray\]'"):
        import_ray()


@pytest.mark.slow
def test_a_node_is_removed_during_the_run(tmp_path: Path) -> None:
    if importlib.util.find_spec("ray") is None:
        pytest.skip("needs ray")
    script = Path(__file__).with_name("cluster_of_two.py")
    command = [sys.executable, str(script), str(tmp_path / "runs.sqlite")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["runs"], result["finished"], result["failures"], result["nodes"]) == (10, 10, 0, 1)
    assert result["retried"] >= 1
