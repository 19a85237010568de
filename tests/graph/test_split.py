from __future__ import annotations

import numpy as np
import pytest

from lnp.errors import LabelError
from lnp.graph.split import Split, choose_trusted, random_split, sequential_split
from lnp.seeds import Seeds


def generator(seed=0):
    return Seeds(seed).generator("split")


@pytest.mark.parametrize(
    ("nodes", "sizes"),
    [  # the sizes of the released code
        (2708, (1083, 1083, 542)),
        (3327, (1330, 1331, 666)),
        (19717, (7886, 7887, 3944)),
        (2277, (910, 911, 456)),
        (7600, (3040, 3040, 1520)),
        (5201, (2080, 2080, 1041)),
    ],
)
def test_sequential_split_is_the_released_one(nodes, sizes):
    split = sequential_split(np.zeros(nodes, int))
    assert (split.train.size, split.validation.size, split.test.size) == sizes
    np.testing.assert_array_equal(np.r_[split.train, split.validation, split.test], np.arange(nodes))


def test_sequential_split_leaves_unlabelled_nodes_out():
    labels = np.array([0, -1, 1, 0, 1, -1, 0, 1, 1, -1])
    split = sequential_split(labels)
    assert [part.tolist() for part in (split.train, split.validation, split.test)] == [[0, 2, 3], [4, 6, 7], [8]]


def test_random_split_is_a_stratified_partition_of_the_labelled_nodes():
    labels = np.repeat([0, 1, 2, -1], [500, 100, 30, 70])
    labels = np.random.default_rng(1).permutation(labels)
    split = random_split(labels, generator())
    together = np.sort(np.r_[split.train, split.validation, split.test])
    np.testing.assert_array_equal(together, np.flatnonzero(labels >= 0))
    for part, share in ((split.train, 0.4), (split.validation, 0.4), (split.test, 0.2)):
        counts = np.bincount(labels[part], minlength=3)
        assert np.abs(counts - share * np.array([500, 100, 30])).max() <= 1


def test_random_split_keeps_the_shares_of_tiny_classes_on_average():
    labels = np.repeat([0, 1], [3, 3])
    sizes = np.array([random_split(labels, generator(seed)).train.size for seed in range(500)])
    # Each class gives 1.2 training nodes on average: 1 with probability 0.8, 2 with 0.2.
    assert abs(sizes.mean() - 2.4) < 4 * np.sqrt(2 * 0.16 / 500)


def test_random_split_depends_on_the_seed_alone():
    labels = np.arange(100) % 4
    same = [random_split(labels, generator(3)).train for _ in range(2)]
    np.testing.assert_array_equal(*same)
    assert not np.array_equal(same[0], random_split(labels, generator(4)).train)


def test_masks_and_numbers_give_the_same_split():
    masks = np.eye(3, 6, dtype=bool)
    split = Split.from_masks(*masks)
    assert [split.train.tolist(), split.validation.tolist(), split.test.tolist()] == [[0], [1], [2]]


def test_parts_are_sorted():
    assert Split([3, 1], [2], [0]).train.tolist() == [1, 3]


def test_parts_that_overlap_are_named():
    with pytest.raises(LabelError, match="disjoint parts, but node 2 is in `test` and in another part"):
        Split([0, 2], [1], [2])
    with pytest.raises(LabelError, match="each node once in `validation`"):
        Split([0], [1, 1], [2])


def test_trusted_nodes_are_the_same_number_of_every_class():
    labels = np.arange(700) % 7
    candidates = np.arange(200, 500)
    trusted = choose_trusted(labels, candidates, generator(), size=25, class_count=7)
    assert np.bincount(labels[trusted]).tolist() == [3] * 7  # 25 // 7
    assert np.isin(trusted, candidates).all()
    assert (np.diff(trusted) > 0).all()


def test_trusted_choice_is_uniform_over_the_candidates():
    labels = np.zeros(4, int)
    labels[2:] = 1
    picks = [choose_trusted(labels, np.arange(4), generator(seed), size=2, class_count=2) for seed in range(1000)]
    shares = np.bincount(np.concatenate(picks), minlength=4) / 1000
    assert np.abs(shares - 0.5).max() < 4 * np.sqrt(0.25 / 1000)


def test_a_class_gives_at_least_one_and_at_most_what_it_has():
    labels = np.array([0, 0, 0, 0, 1])
    assert choose_trusted(labels, np.arange(5), generator(), size=1, class_count=2).size == 2
    trusted = choose_trusted(labels, np.arange(5), generator(), size=6, class_count=2)
    assert np.bincount(labels[trusted]).tolist() == [3, 1]


def test_a_class_without_candidates_is_named():
    labels = np.array([0, 0, 1])
    assert choose_trusted(labels, np.array([0, 1]), generator(), size=2, class_count=2).tolist() in ([0], [1])
    with pytest.raises(LabelError, match="to choose trusted ones from, but there are none"):
        choose_trusted(labels, np.array([], int), generator(), size=2, class_count=2)
