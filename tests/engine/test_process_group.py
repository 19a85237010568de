from __future__ import annotations

import importlib.util
import signal
from pathlib import Path

import pytest

from lnp.engine.process_group import VARIABLES, LostProcessError, _told_to_stop, process_group
from lnp.errors import ConfigError

HERE = Path(__file__).parent


def test_without_torchrun_it_says_how_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match=r"RANK is not set\. Start them as: torchrun"), process_group():
        pass


def run_two(script: str, folder: Path) -> tuple[list[int], list[str]]:
    """Exit codes and what went to standard error."""
    spec = importlib.util.spec_from_file_location("lnp_tests_processes", HERE / "processes.py")
    assert spec is not None
    assert spec.loader is not None
    processes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(processes)
    jobs = processes.start([str(HERE / script), str(folder)], 2)
    try:
        errors = [job.communicate(timeout=120)[1] for job in jobs]
    finally:
        for job in jobs:
            job.kill()
    return [job.returncode for job in jobs], errors


def test_processes_talk_and_one_that_goes_is_missed_at_once(tmp_path: Path) -> None:
    codes, errors = run_two("one_goes.py", tmp_path)
    assert codes == [0, 7], errors
    seconds, sentence = (tmp_path / "said").read_text().split("\n", 1)
    assert float(seconds) < 20
    assert sentence.startswith("Process 0 of 2 has lost another process of the job, which was stopped, killed or cut")
    assert "\n" not in sentence
    assert sentence.endswith(").")


def test_who_is_done_waits_for_the_others(tmp_path: Path) -> None:
    codes, errors = run_two("one_is_late.py", tmp_path)
    assert codes == [0, 0], errors
    done, left = ([float((tmp_path / f"{what} {rank}").read_text()) for rank in (0, 1)] for what in ("done", "left"))
    assert done[0] < done[1] <= left[0]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc")
def test_threads_of_a_group_end_with_it(tmp_path: Path) -> None:
    codes, errors = run_two("group_ends.py", tmp_path)
    assert codes == [0, 0], errors
    for rank in (0, 1):
        before, within, after = map(int, (tmp_path / f"threads {rank}").read_text().split())
        assert within > before  # there is something to end
        assert after == before


def test_being_told_to_stop_is_an_error_of_the_same_kind() -> None:
    with pytest.raises(LostProcessError, match=r"Process 1 of 4 was told to stop"):
        _told_to_stop(1, 4, signal.SIGTERM, None)
