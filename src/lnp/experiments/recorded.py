"""Which runs the files of records have already, so that a table can be added to without its store.

A store is large and stays where it was written; the records in ``results/`` travel with the code. A run is recorded if
its line is there with the configuration it would have now. The version of the code does not count: a record says what
it was, and a further seed beside it is worth more than the same seed again. Nor does the rule that chose the epoch,
which a line does not have: where a table gives a method another rule, its old lines are to be removed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lnp.experiments.export import CONFIGURATION, file_name, key_of, read_lines
from lnp.experiments.grid import GridRun

__all__ = ["recorded_in"]


def recorded_in(folder: Path) -> Callable[[GridRun], bool]:
    """A function that says of a run whether a file in the folder has it. Each file is read once, when first needed."""
    files: dict[str, dict[tuple[object, ...], str]] = {}

    def is_recorded(run: GridRun) -> bool:
        name = file_name(run)
        if name not in files:
            files[name] = {key_of(line): line[CONFIGURATION] for line in read_lines(folder / name)}
        spec = run.spec
        key = (run.label, run.protocol, spec.dataset, spec.noise, spec.rate, spec.config().backbone, spec.method)
        return files[name].get((*key, float(spec.seed))) == spec.config_hash

    return is_recorded
