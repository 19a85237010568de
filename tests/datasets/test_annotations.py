from __future__ import annotations

import numpy as np
import pytest

from lnp.datasets.annotations import llm_labels
from lnp.datasets.catalog import list_datasets, load_dataset
from lnp.errors import DataError, UnknownNameError


def origins():
    return {row.name: row.origin for row in list_datasets()}


@pytest.mark.data
@pytest.mark.parametrize(("name", "right", "without"), [("cora", 0.677, 0), ("ogbn-arxiv-structural", 0.735, 36)])
def test_the_published_share_is_right(data_folder, name, right, without):
    if not (data_folder / "llm_labels.npz").is_file() or origins()[name] != "LNP_DATA":
        pytest.skip(f"needs llm_labels.npz and the file of {name} in LNP_DATA")
    guesses, truth = llm_labels(name), load_dataset(name).truth
    assert guesses.shape == truth.labels.shape
    assert np.mean(guesses == truth.labels) == pytest.approx(right, abs=5e-4)
    if without:
        assert int((guesses == -1).sum()) == without


def test_the_first_guess_counts(tmp_path, monkeypatch):
    np.savez(tmp_path / "llm_labels.npz", cora=np.array([[3, 1], [-1, -1], [0, 2]], np.int8))
    monkeypatch.setenv("LNP_DATA", str(tmp_path))
    assert llm_labels("cora").tolist() == [3, -1, 0]


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    with pytest.raises(UnknownNameError, match=r"labels 'pubmed'.* Choices: cora, ogbn-arxiv-structural"):
        llm_labels("pubmed")
    monkeypatch.delenv("LNP_DATA", raising=False)
    with pytest.raises(DataError, match=r"LNP_DATA to name a folder with llm_labels\.npz, but it is not set"):
        llm_labels("cora")
    monkeypatch.setenv("LNP_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"a data file at .*llm_labels\.npz, but there is none"):
        llm_labels("cora")
    np.savez(tmp_path / "llm_labels.npz", cora=np.zeros(3, int))
    with pytest.raises(DataError, match=r"`cora` of llm_labels\.npz to be one row of guesses per node"):
        llm_labels("cora")
