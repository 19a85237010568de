"""What is written: only what differs, and into what is there."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

from lnp.experiments.configs import read_entries
from lnp.experiments.spec import RunSpec
from lnp.experiments.tuning_trials import Counts
from lnp.experiments.winners import merge, winner, write_winners


def study(
    rate: float = 0.4,
    *,
    trials: int = 3,
    score: float | None = 0.5,
    backbone: str | None = None,
    q: float = 0.5,
    seeds: int = 1,
    finalists: tuple[dict[str, object], ...] = (),
):
    """A study as far as winners look at it."""
    spec = RunSpec(dataset="cora", method="gce", rate=rate, protocol="paper")
    default = {"q": 0.7, "hidden": 64}
    best = SimpleNamespace(value=score, number=2, user_attrs={"options": {"q": q, "hidden": 64}, "sampler_seed": 11})
    inner = SimpleNamespace(
        spec=spec,
        backbone=backbone,
        selection="val-clean",
        default=default,
        seeds=seeds,
        space={"q": (0.5,)},
        finalists=finalists,
    )
    return SimpleNamespace(
        spec=inner,
        code_version="abc",
        best=lambda: None if score is None else best,
        counts=lambda: Counts(trials - 1, 1, 0, 0),
        default_score=lambda: 0.4,
    )


def test_options_that_are_the_default_are_left_out() -> None:
    entry = winner(study())
    assert entry["options"] == {"q": 0.5}
    assert winner(study(q=0.7))["options"] == {}
    assert (entry["protocol"], entry["selection"], "backbone" in entry) == ("paper", "val-clean", False)
    assert winner(study(backbone="h2gcn"))["backbone"] == "h2gcn"
    found = entry["found"]
    assert (found["trials"], found["complete"], found["pruned"], found["failed"]) == (3, 2, 1, 0)
    assert (found["score"], found["default_score"], found["code_version"]) == (0.5, 0.4, "abc")
    assert found["matched"] is True  # entries without it were compared by another score
    assert "finalists" not in found
    assert winner(study(finalists=({"q": 0.1}, {"q": 0.3})))["found"]["finalists"] == 2
    assert winner(study(score=None)) is None


def test_a_new_entry_replaces_that_for_the_same_and_no_other() -> None:
    old = [winner(study(0.4, q=0.1)), winner(study(0.8, q=0.1)), winner(study(0.4, q=0.1, backbone="h2gcn"))]
    strict = {**old[0], "protocol": "strict", "selection": "trusted"}
    both = merge([*old, strict], [winner(study(0.4, q=0.9))])
    changed = {(e["rate"], e.get("backbone"), e["protocol"]): e["options"]["q"] for e in both}
    assert changed == {
        (0.4, None, "paper"): 0.9,
        (0.8, None, "paper"): 0.1,
        (0.4, "h2gcn", "paper"): 0.1,
        (0.4, None, "strict"): 0.1,
    }
    assert merge(both, both) == both == merge(reversed(both), ())


def test_the_file_grows_and_an_unfinished_study_undoes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tuned.json"
    write_winners([study(0.4, trials=12, q=0.1), study(0.6, score=None)], path, trials=12)
    assert [entry["rate"] for entry in read_entries(path)] == [0.4]
    write_winners([study(0.4, trials=2, q=0.9), study(0.8, trials=2)], path, trials=12)
    assert [(entry["rate"], entry["options"]["q"]) for entry in read_entries(path)] == [(0.4, 0.1), (0.8, 0.5)]
    write_winners([study(0.4, trials=6, q=0.9)], path, trials=6)  # fewer were asked for: finished
    assert json.loads(path.read_text(encoding="utf-8"))[0]["options"] == {"q": 0.9}
    assert [file.name for file in tmp_path.iterdir()] == ["tuned.json"]


def test_what_more_seeds_judged_stays(tmp_path: Path) -> None:
    path = tmp_path / "tuned.json"
    for seeds, q, kept in ((3, 0.1, 0.1), (1, 0.9, 0.1), (3, 0.2, 0.2), (5, 0.3, 0.3)):
        write_winners([study(0.4, seeds=seeds, q=q)], path)
        assert read_entries(path)[0]["options"] == {"q": kept}


def test_nothing_found_is_an_empty_list(tmp_path: Path) -> None:
    write_winners([study(score=None)], tmp_path / "tuned.json")
    assert read_entries(tmp_path / "tuned.json") == ()
