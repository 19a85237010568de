from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from lnp.datasets.label_file import read_label_file
from lnp.datasets.own_graph import OwnGraph
from lnp.web.board import Board
from lnp.web.labels_now import history_csv, label_csv, labels_now
from lnp.web.verdicts import VerdictStore


def said(own: OwnGraph, path: Path) -> tuple[VerdictStore, Board]:
    store = VerdictStore(path)
    names = own.class_names
    store.add("n7", "accept", "Ada, the first", label=names[own.labels.given[7]], given=names[own.labels.given[7]])
    store.add("n10", "choose", "Ada", label=names[1], given=names[own.labels.given[10]])
    store.add("n10", "choose", "Bob", label=names[2], given=names[own.labels.given[10]])
    store.add("n11", "skip", "Bob")
    store.add("n12", "choose", "Bob", label=names[0])
    store.undo("Bob")
    return store, Board(own, store)


def test_the_label_file_trains_as_the_verdicts_say(own: OwnGraph, tmp_path: Path) -> None:
    _, board = said(own, tmp_path / "v.sqlite")
    (tmp_path / "verdicts.csv").write_text(label_csv(own, board), encoding="utf-8")
    read, now = read_label_file(tmp_path / "verdicts.csv", own).labels, labels_now(own, board)
    np.testing.assert_array_equal(read.given, now.given)
    np.testing.assert_array_equal(read.trusted, now.trusted)
    np.testing.assert_array_equal(read.before, now.before)
    assert now.before[[7, 10]].tolist() == own.labels.given[[7, 10]].tolist()
    changed = np.flatnonzero((now.given != own.labels.given) | (now.trusted != own.labels.trusted))
    assert changed.tolist() == [7, 10]
    assert now.given[[7, 10]].tolist() == [own.labels.given[7], 2]
    assert now.trusted[[7, 10]].all()


def test_the_label_file_says_who_and_when_and_what_was_before(own: OwnGraph, tmp_path: Path) -> None:
    store, board = said(own, tmp_path / "v.sqlite")
    rows = list(csv.DictReader(io.StringIO(label_csv(own, board))))
    assert [(row["node"], row["label"], row["trusted"], row["reviewer"]) for row in rows] == [
        ("n7", own.class_names[own.labels.given[7]], "1", "Ada, the first"),
        ("n10", own.class_names[2], "1", "Bob"),
    ]
    assert rows[1]["given"] == own.class_names[own.labels.given[10]]
    assert rows[1]["time"] == store.since(0)[2].time


def test_the_history_has_everything(own: OwnGraph, tmp_path: Path) -> None:
    store, _ = said(own, tmp_path / "v.sqlite")
    rows = list(csv.DictReader(io.StringIO(history_csv(store))))
    assert [row["kind"] for row in rows] == ["accept", "choose", "choose", "skip", "choose", "undo"]
    assert rows[-1]["undoes"] == rows[-2]["number"]
