"""Arrays in memory and in npz files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from lnp.datasets.files.from_arrays import from_arrays, read_npz
from lnp.datasets.files.import_options import ImportOptions
from lnp.datasets.npz import save_npz
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.errors import ConfigError, DataError, GraphError, LabelError
from lnp.seeds import Seeds

EDGES = np.array([[0, 1], [1, 2]])
WHOLE = {"edge_index": EDGES, "y": np.array([0, 1, 0])}


@pytest.mark.parametrize(
    ("labels", "given", "names"),
    [
        (["b", None, "a"], [1, -1, 0], ("a", "b")),
        (np.array(["b", "", "a"]), [1, -1, 0], ("a", "b")),
        ([3, -1, 7], [0, -1, 1], ("3", "7")),
        (np.array([1.0, np.nan, 0.0]), [1, -1, 0], ("0", "1")),
        ([True, False, True], [1, 0, 1], ("false", "true")),
    ],
)
def test_labels_as_they_come(labels: object, given: list[int], names: tuple[str, ...]) -> None:
    own = from_arrays(EDGES, labels, features=np.eye(3))  # type: ignore[arg-type]
    assert (own.labels.given.tolist(), own.class_names, own.node_ids) == (given, names, ("0", "1", "2"))


def test_names_of_classes_keep_their_order() -> None:
    names = ("z", "a", "unused")
    numbers = from_arrays(EDGES, [1, 0, -1], features=np.eye(3), class_names=names)
    words = from_arrays(EDGES, ["a", "z", None], features=np.eye(3), class_names=names)
    assert numbers.labels.given.tolist() == words.labels.given.tolist() == [1, 0, -1]
    for holes in ([1, 0, None], [1.0, 0.0, float("nan")]):  # numbers with holes are positions, too
        assert from_arrays(EDGES, holes, class_names=names).labels.given.tolist() == [1, 0, -1]
    assert numbers.class_names == words.class_names == names
    with pytest.raises(LabelError, match=r"among `class_names`, but 'q' is not"):
        from_arrays(EDGES, ["a", "q", None], class_names=names)


def test_marks_may_be_numbers() -> None:
    own = from_arrays(EDGES, ["a", "b", "a"], trusted=[1, 0, 0])
    assert own.labels.trusted.tolist() == [True, False, False]
    assert own.summary is not None
    assert own.summary.count("structural features") == own.graph.feature_count == 5


def test_what_does_not_fit_is_named() -> None:
    for change, error, message in [
        ({"features": np.eye(4)}, LabelError, r"each of the 4 rows of features, but got 3"),
        ({"node_ids": ["a", "b"]}, DataError, r"3 different `node_ids`, but got 2"),
        ({"node_ids": ["a", "b", "a"]}, DataError, r"3 different `node_ids`, but some repeat"),
        ({"features": np.array([[1], [np.inf], [2]])}, GraphError, r"node 1, feature 0 is not a number or infinite"),
        ({"weights": np.array([1, -1])}, GraphError, r"`weights` to be 2 positive numbers"),
        ({"trusted": [1, 2, 0]}, LabelError, r"`trusted` to be a mask"),
    ]:
        with pytest.raises(error, match=message):
            from_arrays(EDGES, ["a", "b", "a"], **change)  # type: ignore[arg-type]
    with pytest.raises(LabelError, match=r"one label per node, but got shape \(2, 2\)"):
        from_arrays(EDGES, [[1, 2], [3, 4]])


def test_our_own_npz_files_load(tmp_path: Path) -> None:
    data = synthetic(SyntheticConfig(nodes=60, classes=3, mean_degree=4), Seeds(0).generator("graph"))
    save_npz(data, tmp_path / "g.npz")
    own = read_npz(tmp_path / "g.npz", ImportOptions())
    assert own.graph.checksum == data.graph.checksum
    np.testing.assert_array_equal(own.labels.given, data.truth.labels)


def test_every_key_of_an_npz_file_counts(tmp_path: Path) -> None:
    x = sp.csr_array(np.array([[0, 1, 0, 0], [2, 0, 0, 0], [0, 0, 0, 3.0]]))
    np.savez(
        tmp_path / "g.npz",
        edge_index=EDGES,
        edge_weight=np.array([2.0, 3.0]),
        x_data=x.data,
        x_indices=x.indices,
        x_indptr=x.indptr,
        x_shape=np.array(x.shape),
        y=np.array(["b", "", "a"]),
        trusted=np.array([True, False, False]),
        node_ids=np.array(["p", "q", "r"]),
        feature_names=np.array(["f0", "f1", "f2", "f3"]),
        picture_shape=np.array([2, 2]),
    )
    own = read_npz(tmp_path / "g.npz", ImportOptions(name="pictures"))
    np.testing.assert_array_equal(own.graph.features.toarray(), x.toarray())
    assert own.graph.adjacency.toarray()[1, 2] == 3
    assert (own.node_ids, own.feature_names, own.picture_shape) == (("p", "q", "r"), ("f0", "f1", "f2", "f3"), (2, 2))
    assert (own.graph.name, own.labels.given.tolist(), own.class_names) == ("pictures", [1, -1, 0], ("a", "b"))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"y": np.array([0, 1, 0])}, "to have `edge_index`"),
        ({"edge_index": EDGES}, "to have `y`"),
        ({"edge_index": EDGES + 5, "y": WHOLE["y"]}, "g.npz: Expected edges between nodes 0 to 2"),
        ({"edge_index": EDGES * 0.5, "y": np.array([0, 1, 0])}, "g.npz: .*array of node numbers"),
        ({"edge_index": EDGES, "y": np.array([0.5, 1, 0])}, "g.npz: .*node 1, column 'label', but got 0.5"),
        ({**WHOLE, "x": np.zeros(3)}, "g.npz: .*matrix, but got shape"),
        ({**WHOLE, "x": np.array([["a"]] * 3)}, "g.npz: could not convert"),
        (
            {**WHOLE, "node_ids": np.zeros((3, 2))},
            "g.npz: .*`node_ids` to be a list",
        ),
    ],
)
def test_bad_npz_files_are_named(tmp_path: Path, arrays: dict[str, np.ndarray], message: str) -> None:
    np.savez(tmp_path / "g.npz", **arrays)
    with pytest.raises(DataError, match=message):
        read_npz(tmp_path / "g.npz", ImportOptions())


def test_pickles_and_empty_files_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", edge_index=EDGES, y=np.array([{}, 1, 2], dtype=object))
    with pytest.raises(DataError, match=r"g.npz to be a readable npz file, but got: an array of Python objects"):
        read_npz(tmp_path / "g.npz", ImportOptions())
    (tmp_path / "g.npz").write_text("id,label\n")  # numpy would advise to unpickle it
    with pytest.raises(DataError, match=r"but got: something else, by its first bytes. Write it with `numpy.savez`"):
        read_npz(tmp_path / "g.npz", ImportOptions())
    (tmp_path / "g.npz").write_bytes(b"")
    with pytest.raises(DataError, match=r"g.npz, but the file is empty"):
        read_npz(tmp_path / "g.npz", ImportOptions())
    with pytest.raises(ConfigError, match=r"`label` .* for an npz file"):
        read_npz(tmp_path / "g.npz", ImportOptions(label="y"))
