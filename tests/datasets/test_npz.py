from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from lnp.datasets.npz import data_folder, is_graph_file, load_npz, read_arrays, save_npz
from lnp.errors import DataError

X = np.array([[1, 0, 2], [0, 0, 0], [0, 3, 0], [4, 5, 6]], np.float32)
CSR = sp.csr_array(X)
DENSE_PARTS = {"x": X}
SPARSE_PARTS = {
    "x_data": CSR.data.astype(np.uint8),
    "x_indices": CSR.indices,
    "x_indptr": CSR.indptr,
    "x_shape": np.array(CSR.shape),
}
GRAPH = {"edge_index": np.array([[0, 1, 3], [1, 2, 3]], np.int32), "y": np.array([0, 2, -1, 1], np.int16)}
MASKS = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]], bool)


def write(folder, name="graph.npz", **arrays):
    np.savez_compressed(folder / name, **arrays)
    return folder / name


@pytest.mark.parametrize("parts", [DENSE_PARTS, SPARSE_PARTS])
def test_a_file_becomes_a_dataset(tmp_path, parts):
    masks = dict(zip(("train_mask", "val_mask", "test_mask"), MASKS, strict=True))
    dataset = load_npz(write(tmp_path, **GRAPH, **parts, **masks), scaling="row")
    features = dataset.graph.features
    np.testing.assert_array_equal(features if parts is DENSE_PARTS else features.toarray(), X)
    assert dataset.graph.edges.tolist() == [[0, 1], [1, 2]]  # the self-loop is gone
    assert dataset.truth.labels.tolist() == [0, 2, -1, 1]
    assert (dataset.name, dataset.graph.class_names, dataset.scaling) == ("graph", ("0", "1", "2"), "row")
    (split,) = dataset.public_splits
    assert [split.train.tolist(), split.validation.tolist(), split.test.tolist()] == [[0], [1], [3]]


def test_every_column_of_the_masks_is_a_split(tmp_path):
    columns = {"train_mask": MASKS.T, "val_mask": np.roll(MASKS.T, 1, axis=1), "test_mask": np.roll(MASKS.T, 2, axis=1)}
    dataset = load_npz(write(tmp_path, **GRAPH, **DENSE_PARTS, **columns))
    assert [s.train.tolist() for s in dataset.public_splits] == [[0], [1], [3]]
    assert [s.test.tolist() for s in dataset.public_splits] == [[1], [3], [0]]


def test_labels_may_have_another_key_or_file(tmp_path):
    path = write(tmp_path, **GRAPH, **DENSE_PARTS, y_rank=np.array([1, 1, 0, 0]))
    assert load_npz(path, labels_key="y_rank").truth.labels.tolist() == [1, 1, 0, 0]
    masks = dict(zip(("train_mask", "val_mask", "test_mask"), MASKS, strict=True))
    other = write(tmp_path, "other.npz", y=np.array([0, 1, 0, 1]), **masks)
    dataset = load_npz(path, labels_file=other, class_names=("old", "new"))
    assert dataset.truth.labels.tolist() == [0, 1, 0, 1]
    assert dataset.graph.class_names == ("old", "new")
    assert len(dataset.public_splits) == 1
    assert dataset.source == str(other)


@pytest.mark.parametrize("parts", [DENSE_PARTS, SPARSE_PARTS])
def test_there_and_back(tmp_path, parts):
    columns = {"train_mask": MASKS.T, "val_mask": np.roll(MASKS.T, 1, axis=1), "test_mask": np.roll(MASKS.T, 2, axis=1)}
    first = load_npz(write(tmp_path, **GRAPH, **parts, **columns), class_names=("a", "b", "ç"))
    save_npz(first, tmp_path / "deep" / "graph.npz")
    second = load_npz(tmp_path / "deep" / "graph.npz")
    assert first.graph.checksum == second.graph.checksum
    assert first.graph.class_names == second.graph.class_names
    np.testing.assert_array_equal(first.truth.labels, second.truth.labels)
    for one, two in zip(first.public_splits, second.public_splits, strict=True):
        for part in ("train", "validation", "test"):
            np.testing.assert_array_equal(getattr(one, part), getattr(two, part))
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["graph.npz"]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({**GRAPH}, "features, `x` or x_data, .* but `x_data` is missing"),
        ({"y": GRAPH["y"], "x": X}, "to have `edge_index`, but it has only x, y"),
        ({"edge_index": GRAPH["edge_index"], "x": X}, "to have `y`, but it has only edge_index, x"),
        ({**GRAPH, "x": X[:3]}, "edges between nodes 0 to 2, but edge 2 names node 3"),
        ({**GRAPH, "x": X[0]}, r"`features` to be a \(nodes, features\) matrix, but got shape \(3,\)"),
        ({**GRAPH, "x": X, "y": GRAPH["y"][:3]}, "labels for 4 nodes in 3 classes, but got 3 nodes"),
        ({**GRAPH, "x": X, "y": GRAPH["y"] / 2}, "`y` to be one whole number per node, .* float"),
        ({**GRAPH, "x": X, "y": np.array([0, -5, 1, 1])}, "but node 1 has -5"),
        ({**GRAPH, "x": X, "edge_index": np.zeros((3, 2), int)}, r"`edges` to be a \(2, m\) array"),
        ({**GRAPH, "x": np.where(X == 3, np.nan, X)}, "finite features, but node 2, feature 1"),
        (
            {**GRAPH, "x": X, "train_mask": MASKS[0]},
            "all of train_mask, val_mask, test_mask or none, but got 1 of them",
        ),
        (
            {**GRAPH, "x": X, **dict.fromkeys(("train_mask", "val_mask", "test_mask"), MASKS[0, :3])},
            r"masks of 4 nodes, but got shape \(3,\)",
        ),
        (
            {**GRAPH, "x": X, **dict.fromkeys(("train_mask", "val_mask", "test_mask"), np.ones(4))},
            "three boolean masks",
        ),
        (
            {**GRAPH, "x": X, **dict.fromkeys(("train_mask", "val_mask", "test_mask"), MASKS[0])},
            "disjoint parts, but node 0 is in `validation`",
        ),
        ({**GRAPH, **SPARSE_PARTS, "x_indices": np.array([0, 2, 1, 0, 1, 9])}, "to be a CSR matrix, but got"),
        ({**GRAPH, **SPARSE_PARTS, "x_indptr": np.array([0, 2, 1, 3, 6])}, "to be a CSR matrix, but got"),
        ({**GRAPH, **SPARSE_PARTS, "x_indptr": np.array([0, 2, 3])}, "to be a CSR matrix, but got"),
    ],
)
def test_a_file_that_breaks_the_contract_is_named(tmp_path, arrays, message):
    with pytest.raises(DataError, match=message) as caught:
        load_npz(write(tmp_path, **arrays))
    assert "graph.npz" in str(caught.value)


@pytest.mark.parametrize("keep", [0, 10, 400, 0.5, 0.97])
def test_a_truncated_file_is_named(tmp_path, keep):
    path = write(tmp_path, **GRAPH, x=np.random.default_rng(0).normal(size=(4, 500)))
    content = path.read_bytes()
    path.write_bytes(content[: keep if isinstance(keep, int) else int(keep * len(content))])
    with pytest.raises(DataError, match=r"graph\.npz to be a readable npz file, .* may be truncated"):
        load_npz(path)
    assert not is_graph_file(path)


def test_a_file_with_damaged_content_is_named(tmp_path):
    path = write(tmp_path, **GRAPH, x=np.random.default_rng(0).normal(size=(4, 500)))
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 200] = bytes(200)
    path.write_bytes(content)
    with pytest.raises(DataError, match="to be a readable npz file"):
        load_npz(path)


def test_pickled_arrays_and_other_files_are_refused(tmp_path):
    path = tmp_path / "pickled.npz"
    np.savez(path, edge_index=np.array([{}], object), y=GRAPH["y"], x=X)
    with pytest.raises(
        DataError, match=r"to be a readable npz file, but got: an array of Python objects, .* strings with an empty one"
    ):
        load_npz(path)
    np.save(tmp_path / "single.npy", X)
    with pytest.raises(DataError, match="holds a single array"):
        read_arrays(tmp_path / "single.npy", ("x",))
    with pytest.raises(DataError, match=r"a data file at .*absent.npz, but there is none"):
        load_npz(tmp_path / "absent.npz")


def test_the_folder_is_named_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("LNP_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.setenv("LNP_DATA", str(tmp_path / "absent"))
    with pytest.raises(DataError, match=r"LNP_DATA to name a folder with npz files, but .*absent is none"):
        data_folder()
    monkeypatch.delenv("LNP_DATA")
    assert data_folder() is None
