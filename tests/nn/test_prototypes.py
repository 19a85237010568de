from __future__ import annotations

import numpy as np
import torch

from lnp.nn.prototypes import Prototypes, class_prototypes, class_sums


def test_means_against_a_loop_and_an_empty_class() -> None:
    generator = np.random.default_rng(0)
    embeddings = torch.tensor(generator.normal(size=(20, 4)), dtype=torch.float32)
    nodes = torch.tensor([3, 5, 7, 11, 13, 17, 19])
    labels = torch.tensor([0, 2, 0, 4, 2, 2, 0])
    vectors, present = class_prototypes(embeddings, nodes, labels, 5)
    assert present.tolist() == [True, False, True, False, True]
    for k in range(5):
        members = [embeddings[i] for i, label in zip(nodes.tolist(), labels.tolist(), strict=True) if label == k]
        expected = torch.stack(members).mean(0) if members else torch.zeros(4)
        torch.testing.assert_close(vectors[k], expected)


def test_gradient_spreads_evenly_over_the_members() -> None:
    embeddings = torch.zeros(5, 2, requires_grad=True)
    vectors, _ = class_prototypes(embeddings, torch.tensor([0, 1, 4]), torch.tensor([1, 1, 0]), 2)
    (vectors * torch.tensor([[1.0, 2.0], [4.0, 8.0]])).sum().backward()
    assert embeddings.grad.tolist() == [[2, 4], [2, 4], [0, 0], [0, 0], [1, 2]]


def test_nearest_by_inner_product_against_a_loop() -> None:
    generator = np.random.default_rng(1)
    embeddings = torch.tensor(generator.normal(size=(30, 3)), dtype=torch.float32)
    prototypes = Prototypes(torch.tensor(generator.normal(size=(4, 3)), dtype=torch.float32), torch.ones(4).bool())
    nearest = prototypes.nearest(embeddings)
    for i in range(30):
        products = [float(embeddings[i] @ prototypes.vectors[k]) for k in range(4)]
        assert torch.equal(nearest[i], prototypes.vectors[int(np.argmax(products))])


def test_an_empty_class_is_never_the_nearest() -> None:
    # Every inner product with the two real prototypes is negative; the zero vector of class 1 would win.
    vectors = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    prototypes = Prototypes(vectors, torch.tensor([True, False, True]))
    nearest = prototypes.nearest(torch.tensor([[-1.0, -3.0], [-3.0, -1.0]]))
    assert nearest.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_two_parts_with_each_others_sums_have_the_prototypes_of_the_whole() -> None:
    generator = np.random.default_rng(2)
    embeddings = torch.tensor(generator.normal(size=(12, 3)), dtype=torch.float32)
    labels = torch.tensor([0, 1, 2, 0, 1, 2, 0, 0, 0, 1, 1, 0])
    whole, present = class_prototypes(embeddings, torch.arange(12), labels, 4)
    other = class_sums(embeddings[5:], labels[5:], 4)
    part = class_prototypes(
        embeddings[:5], torch.arange(5), labels[:5], 4, lambda sums, counts: (sums + other[0], counts + other[1])
    )
    torch.testing.assert_close(part.vectors, whole)
    assert part.present.tolist() == present.tolist()
