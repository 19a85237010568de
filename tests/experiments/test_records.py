"""What is kept of a run."""

from __future__ import annotations

from lnp.engine.history import EpochRecord, History
from lnp.experiments.records import pack_history, unpack_history


def test_history_comes_back_rounded_with_stages_and_selected_epochs() -> None:
    rows = [
        EpochRecord("training", 0, {"ce": 1.23456789}, 0.5, True),
        EpochRecord("training", 1, {"ce": 1e-9 / 3}, 0.7, True),
        EpochRecord("training", 2, {"ce": 0.0}, 0.6, False),
        EpochRecord("fine-tuning", 0, {"trusted": 2.0}, float("nan"), False),
    ]
    content = unpack_history(pack_history(History(rows)))
    assert content["stages"] == [["training", 3], ["fine-tuning", 1]]
    assert content["selected"] == [1, None]
    assert content["columns"] == {
        "ce": [1.2346, 3.3333e-10, 0.0, None],
        "trusted": [None, None, None, 2.0],
        "score": [0.5, 0.7, 0.6, None],
    }


def test_five_hundred_epochs_take_some_kilobytes() -> None:
    names = ("reconstruction", "kl", "weighted_ce", "prior_ce", "contrastive")
    rows = [
        EpochRecord("training", epoch, {name: 1 / (epoch + 3 + i) for i, name in enumerate(names)}, 0.5, True)
        for epoch in range(500)
    ]
    assert len(pack_history(History(rows))) < 15_000


def test_an_empty_history_is_one() -> None:
    assert unpack_history(pack_history(History())) == {"stages": [], "selected": [], "columns": {"score": []}}
