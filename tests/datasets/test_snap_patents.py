from __future__ import annotations

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from lnp.datasets.catalog import list_datasets, load_dataset
from lnp.datasets.snap_patents import even_quantile_labels
from lnp.errors import DataError, UnknownNameError

YEARS = np.array([1963, 1970, 1971, 1975, 1975, 1980, 1983, 1985, 1990, 1999])
# numpy's quantiles of ten sorted numbers lie at the places 1.8, 3.6, 5.4, 7.2: 1970.8, 1975, 1981.2, 1986.
CUTS = [1970.8, 1975.0, 1981.2, 1986.0]
CLASSES = [0, 0, 1, 2, 2, 2, 3, 3, 4, 4]
EDGES = np.array([[0, 1, 2, 2, 3, 9, 5], [1, 0, 3, 3, 4, 0, 5]])  # one both ways, one doubled, one self-loop


def parts(**changed):
    features = sp.random_array((10, 6), density=0.4, rng=np.random.default_rng(0), format="csc")
    whole = {"edge_index": EDGES, "node_feat": features, "num_nodes": 10, "years": YEARS[None, :]}
    return {key: value for key, value in (whole | changed).items() if value is not None}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LNP_DATA", str(tmp_path))
    return tmp_path


def save(folder, **changed):
    path = folder / "snap_patents.mat"
    scipy.io.savemat(path, parts(**changed), do_compression=True)
    return path


def test_the_graph_is_that_of_the_file(folder):
    save(folder)
    dataset = load_dataset("snap-patents")
    graph = dataset.graph
    assert (graph.name, graph.node_count, graph.edge_count, graph.feature_count) == ("snap-patents", 10, 4, 6)
    assert graph.edges.T.tolist() == [[0, 1], [0, 9], [2, 3], [3, 4]]
    np.testing.assert_allclose(graph.features.toarray(), parts()["node_feat"].toarray().astype(np.float32))
    assert dataset.truth.labels.tolist() == CLASSES
    assert graph.class_names == ("to 1970", "1971–1974", "1975–1981", "1982–1985", "from 1986")
    row = next(row for row in list_datasets() if row.name == "snap-patents")
    assert (row.origin, row.available) == ("LNP_DATA", True)


def test_classes_are_cut_at_the_quantiles_by_hand():
    labels, cuts = even_quantile_labels(YEARS.astype(float), 5)
    np.testing.assert_allclose(cuts, CUTS)
    assert labels.tolist() == CLASSES


def test_classes_agree_with_numpy_and_the_definition():
    years = np.random.default_rng(3).integers(1963, 2000, 5000).astype(float)
    labels, _ = even_quantile_labels(years, 5)
    q = [-np.inf, *(np.quantile(years, share) for share in (0.2, 0.4, 0.6, 0.8)), np.inf]
    for k in range(5):
        np.testing.assert_array_equal(labels == k, (years >= q[k]) & (years < q[k + 1]))


def test_a_patent_without_a_year_has_no_class_and_moves_no_cut(folder):
    years = np.append(YEARS, np.nan)
    labels, cuts = even_quantile_labels(years, 5)
    np.testing.assert_allclose(cuts, CUTS)
    assert labels.tolist() == [*CLASSES, -1]


def test_another_path_can_be_named(folder, tmp_path, monkeypatch):
    path = save(folder)
    monkeypatch.delenv("LNP_DATA")
    by_text, by_keyword = load_dataset(f"snap-patents:path={path}"), load_dataset("snap-patents", path=path)
    assert by_text.graph.checksum == by_keyword.graph.checksum
    with pytest.raises(DataError, match=r"file of snap-patents at .*nowhere\.mat, but there is none"):
        load_dataset("snap-patents:path=nowhere.mat")
    with pytest.raises(UnknownNameError, match=r"Unknown option of snap-patents 'pth'.*path"):
        load_dataset("snap-patents:pth=x")


def test_drawn_splits_are_the_same_at_every_load_and_say_so(folder):
    save(folder, num_nodes=2000, years=np.arange(2000), node_feat=sp.eye_array(2000, 6, format="csc"))
    first, again = load_dataset("snap-patents"), load_dataset("snap-patents")
    assert "drawn here" in first.source
    assert len(first.public_splits) == 5
    for split, same in zip(first.public_splits, again.public_splits, strict=True):
        assert [split.train.size, split.validation.size, split.test.size] == pytest.approx([1000, 500, 500], abs=5)
        np.testing.assert_array_equal(split.test, same.test)
    assert not np.array_equal(first.public_splits[0].test, first.public_splits[1].test)


def test_masks_beside_the_file_are_used(folder):
    save(folder)
    place = np.arange(10)
    np.savez(
        folder / "snap_patents_splits.npz",
        train_mask=np.stack([place < 5, place >= 5], axis=1),
        val_mask=np.stack([place == 5, place == 4], axis=1),
        test_mask=np.stack([place > 7, place < 2], axis=1),
    )
    dataset = load_dataset("snap-patents")
    assert [split.test.tolist() for split in dataset.public_splits] == [[8, 9], [0, 1]]
    assert "snap_patents_splits.npz" in dataset.source
    np.savez(folder / "snap_patents_splits.npz", **dict.fromkeys(("train_mask", "val_mask", "test_mask"), place < 0))
    save(folder, num_nodes=11, years=np.arange(11), node_feat=sp.eye_array(11, 6, format="csc"))
    with pytest.raises(DataError, match="Expected masks of 11 nodes"):
        load_dataset("snap-patents")


def test_an_absent_file_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("LNP_DATA", raising=False)
    with pytest.raises(DataError, match=r"with snap_patents\.mat, .* is not set\. .*Lim et al.*synthetic-patents"):
        load_dataset("snap-patents")
    monkeypatch.setenv("LNP_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"names .*, which has no such file"):
        load_dataset("snap-patents")
    row = next(row for row in list_datasets() if row.name == "snap-patents")
    assert (row.origin, row.available) == ("nowhere", False)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"years": None}, "lacks years"),
        ({"num_nodes": 11}, "for the 10 rows of `node_feat`, but got .*11"),
        ({"years": YEARS[:9]}, "9 years"),
        ({"years": np.full(10, np.nan)}, "no number among them"),
        ({"years": np.array(["x"] * 10)}, "`years` to be numbers"),
        ({"edge_index": EDGES + 5}, "names node 14"),
        ({"edge_index": EDGES.T}, r"\(2, m\) array"),
    ],
)
def test_a_file_with_something_wrong_is_named(folder, changed, message):
    save(folder, **changed)
    with pytest.raises(DataError, match=rf"snap_patents\.mat.*{message}"):
        load_dataset("snap-patents")


def test_a_cut_or_foreign_file_is_named(folder):
    path = save(folder)
    whole = path.read_bytes()
    for content in (b"", b"not a matlab file at all" * 20, whole[: len(whole) // 2], whole[:130]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"snap_patents\.mat"):
            load_dataset("snap-patents")
