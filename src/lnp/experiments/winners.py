"""What tuning found, as entries of the file that ``lnp reproduce`` reads; see :mod:`lnp.experiments.configs`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lnp.engine.files import alone_in, write_text
from lnp.experiments.configs import Entry, read_entries
from lnp.experiments.search_space import digest
from lnp.experiments.tuning_trials import Trials

__all__ = ["merge", "winner", "write_winners"]

WHERE = ("method", "dataset", "noise", "rate", "backbone", "protocol", "selection")
"""What an entry is for; of two entries for the same one replaces the other."""


def winner(study: Trials) -> Entry | None:
    """The best configuration of a study and how it was found; ``None`` before the first score."""
    best = study.best()
    if best is None:
        return None
    spec, counts = study.spec.spec, study.counts()
    options, default = best.user_attrs["options"], study.spec.default
    entry: Entry = {"method": spec.method, "dataset": spec.dataset, "noise": spec.noise, "rate": spec.rate}
    if study.spec.backbone is not None:
        entry["backbone"] = study.spec.backbone
    found: dict[str, Any] = {
        "trials": counts.counted,
        "complete": counts.complete,
        "pruned": counts.pruned,
        "failed": counts.failed,
        "score": best.value,
        "default_score": study.default_score(),
        "trial": best.number,
        "sampler_seed": best.user_attrs.get("sampler_seed"),
        "seeds": study.spec.seeds,
        "matched": True,
        **({"finalists": len(study.spec.finalists)} if study.spec.finalists else {}),
        "patience": spec.patience,
        "code_version": study.code_version,
        "space": digest(study.spec.space),
    }
    return entry | {
        "protocol": spec.protocol,
        "selection": study.spec.selection,
        "options": {option: value for option, value in options.items() if value != default[option]},
        "found": found,
    }


def merge(old: Iterable[Entry], new: Iterable[Entry]) -> list[Entry]:
    """Both together, in order; a new entry replaces an old one for the same."""
    merged = {_where(entry): entry for entry in (*old, *new)}
    return [merged[where] for where in sorted(merged, key=str)]


def write_winners(studies: Iterable[Trials], path: Path, *, trials: int = 0) -> list[Entry]:
    """Adds the winners of the studies to a file, which is whole at any moment.

    Args:
        studies: Those without a score yet are left out.
        path: The file.
        trials: How many a study shall have. One that has fewer does not replace what was found with more.

    What fewer seeds judged never replaces what more seeds did: one seed is a poor judge. Entries without ``matched``
    are from before scores were matched to the test nodes (:mod:`lnp.experiments.matched`).

    Returns:
        The winners.
    """
    found = [entry for entry in map(winner, studies) if entry is not None]
    with alone_in(path.parent):
        old = read_entries(path) if path.is_file() else ()
        known = {_where(entry): entry for entry in old}
        new = [one for one in found if _replaces(one, known.get(_where(one), {}), trials)]
        lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in merge(old, new))
        write_text(path, f"[\n{lines}\n]\n" if lines else "[]\n")
    return found


def _where(entry: Entry) -> tuple[object, ...]:
    return tuple(entry.get(key) for key in WHERE)


def _replaces(one: Entry, old: Entry, trials: int) -> bool:
    enough = _found(one, "trials") >= min(trials, _found(old, "trials"))
    return enough and _found(one, "seeds") >= _found(old, "seeds")


def _found(entry: Entry, what: str) -> int:
    return int(entry.get("found", {}).get(what, 0))
