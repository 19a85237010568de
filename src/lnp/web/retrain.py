"""Training again in the background: one process at a time, with its progress, and a way to stop it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from lnp.engine.files import write_text

__all__ = ["Retraining", "Status", "reserve_folder"]

DONE = "done"
"""The last stage that the process reports; from then on there is nothing left to stop."""

GRACE = 5.0
"""Seconds that a process has to end when it is told to."""


@dataclass(frozen=True)
class Status:
    """How far it is.

    Args:
        state: idle, running, done, failed or stopped.
        stage: What is being done.
        epoch: Epochs of the stage so far.
        epochs: Epochs of the stage; 0 where it has none.
        verdicts: How many verdicts went into it.
        message: Why it failed, or where the new model is.
    """

    state: str = "idle"
    stage: str = ""
    epoch: int = 0
    epochs: int = 0
    verdicts: int = 0
    message: str = ""


class Retraining:
    """Starts and watches the process.

    Args:
        folder: The user's graph.
        scorer: Who scores the labels afterwards.
        on_done: Called with the folder of the new model and the file of its audit, in a thread of its own.
        command: What to run, before its arguments.
    """

    def __init__(
        self,
        folder: Path,
        scorer: str,
        on_done: Callable[[Path, Path], None],
        command: tuple[str, ...] = (sys.executable, "-m", "lnp.web.retrain_worker"),
    ) -> None:
        self._folder, self._scorer, self._on_done, self._command = folder, scorer, on_done, command
        self._lock = threading.Lock()
        self._status = Status()
        self._process: subprocess.Popen[str] | None = None
        self._watcher: threading.Thread | None = None

    @property
    def status(self) -> Status:
        """How far it is."""
        return self._status

    def start(self, model: Path, labels: str, verdicts: int) -> bool:
        """Trains with the settings of ``model`` and a label file of this content; ``False`` if one is under way."""
        with self._lock:
            if self._status.state == "running":
                return False
            self._status = Status("running", "starting", verdicts=verdicts)
            self._watcher = threading.Thread(target=self._run, args=(model, labels), daemon=True)
            self._watcher.start()
        return True

    def stop(self) -> bool:
        """Stops it; ``False`` if none is under way. The model in use stays."""
        with self._lock:
            if self._status.state != "running" or self._status.stage == DONE:
                return False
            self._status = replace(self._status, state="stopped", message="Stopped. The model in use stays.")
            process = self._process
        _end(process)
        return True

    def close(self) -> None:
        """Stops it and waits until it has ended."""
        self.stop()
        if self._watcher is not None:
            self._watcher.join(2 * GRACE)

    def _run(self, model: Path, labels: str) -> None:
        desk, out = Path(tempfile.mkdtemp(prefix="lnp-review-")), None
        try:
            out = reserve_folder(model)
            write_text(desk / "labels.csv", labels)
            paths = (self._folder, model, desk / "labels.csv", out, desk / "scores.npz")
            with (desk / "errors.txt").open("w+", encoding="utf-8") as errors:
                self._watch([*self._command, *map(str, paths), self._scorer], errors.fileno())
                errors.seek(0)
                trace = errors.read().strip()
            if self._status.state != "running":
                return
            if self._status.stage == DONE:
                self._on_done(out, desk / "scores.npz")
                self._settle("done", f"The new model is in {out}.")
            elif self._status.message:
                self._settle("failed", self._status.message)
            else:
                last = trace.splitlines()[-1] if trace else "the process ended without a word"
                self._settle("failed", f"Training ended early: {last}.")
        except Exception as error:  # whatever it was, the page must say so and go on
            self._settle("failed", f"Training could not be finished: {error}")
        finally:
            shutil.rmtree(desk, ignore_errors=True)
            if out is not None and self._status.state != "done":
                with suppress(OSError):
                    out.rmdir()  # if nothing was put there

    def _watch(self, command: list[str], errors: int) -> None:
        with self._lock:
            if self._status.state != "running":
                return
            # A session of its own: an interrupt from the keyboard is our business, and we pass it on.
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
                start_new_session=True,
            )  # fmt: skip
        process = self._process
        with process:
            assert process.stdout is not None
            for line in process.stdout:
                with suppress(ValueError):
                    self._note(json.loads(line))

    def _note(self, said: dict[str, object]) -> None:
        with self._lock:
            self._status = replace(
                self._status,
                stage=str(said["stage"]),
                epoch=int(str(said.get("epoch", 0))),
                epochs=int(str(said.get("epochs", 0))),
                message=str(said.get("error", self._status.message)),
            )

    def _settle(self, state: str, message: str) -> None:
        with self._lock:
            if self._status.state == "running":
                self._status = replace(self._status, state=state, message=message)
            self._process = None


def reserve_folder(model: Path) -> Path:
    """Makes an empty folder beside the model: ``model-review-1``, ``model-review-2``, …, the first that is not taken.

    A model that is one seed of several has its new one beside all of them.
    """
    home = model.resolve()
    home = home.parent if home.name.startswith("seed-") else home
    stem, number = home.name.partition("-review-")[0], 1
    while True:
        path = home.parent / f"{stem}-review-{number}"
        try:
            path.mkdir()
            return path
        except FileExistsError:
            number += 1


def _end(process: subprocess.Popen[str] | None) -> None:
    if process is None or process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
