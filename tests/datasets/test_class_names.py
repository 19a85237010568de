from __future__ import annotations

import numpy as np
import pytest

from lnp.datasets.catalog import CATALOG, load_dataset
from lnp.datasets.class_names import CLASS_NAMES


@pytest.mark.parametrize("name", CLASS_NAMES)
def test_there_is_one_name_for_each_class(name):
    assert len(set(CLASS_NAMES[name])) == CATALOG[name].classes


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "sizes"),
    [  # published class sizes, all different: they identify the classes
        (
            "cora",
            {
                "case based": 298,
                "genetic algorithms": 418,
                "neural networks": 818,
                "probabilistic methods": 426,
                "reinforcement learning": 217,
                "rule learning": 180,
                "theory": 351,
            },
        ),
        (
            "citeseer",
            {
                "agents": 596,
                "artificial intelligence": 249 + 15,  # 15 nodes have no label and are counted here
                "databases": 701,
                "information retrieval": 668,
                "machine learning": 590,
                "human-computer interaction": 508,
            },
        ),
    ],
)
def test_names_match_the_published_class_sizes(data_folder, name, sizes):
    if not (data_folder / f"{name}.npz").is_file():
        pytest.skip(f"needs {name}.npz in LNP_DATA")
    dataset = load_dataset(name)
    counts = np.bincount(dataset.truth.labels)
    assert dict(zip(dataset.graph.class_names, counts.tolist(), strict=True)) == sizes
