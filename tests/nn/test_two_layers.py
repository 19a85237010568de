"""Both layers in one step against layer by layer."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from lnp.nn.activation import relu_dropout_
from lnp.nn.scratch import Scratch
from lnp.nn.sparse import SparseMatrix
from lnp.nn.two_layers import two_layers
from lnp.seeds import Seeds

N, D, H, C = 12, 5, 6, 3
Weights = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


def parts(seed: int = 0, columns: int = C) -> tuple[torch.Tensor, SparseMatrix, Weights]:
    rng = np.random.default_rng(seed)
    matrix = SparseMatrix.from_scipy(sp.random_array((N, N), density=0.3, rng=rng, dtype=np.float32, format="csr"))
    shapes = ((D, H), (H,), (H, columns), (columns,))
    one, two, three, four = (torch.from_numpy(rng.normal(size=shape).astype(np.float32)) for shape in shapes)
    return torch.from_numpy(rng.normal(size=(N, D)).astype(np.float32)), matrix, (one, two, three, four)


def plain(
    propagated: torch.Tensor, weights: Weights, matrix: SparseMatrix, rate: float, training: bool
) -> torch.Tensor:
    generator = Seeds(1).generator("dropout") if training else None
    hidden = relu_dropout_(propagated @ weights[0] + weights[1], rate, generator)
    return matrix @ (hidden @ weights[2]) + weights[3]


@pytest.mark.parametrize("columns", [C, H + 2])
@pytest.mark.parametrize(("rate", "training"), [(0.5, True), (0.3, True), (0.5, False)])
@pytest.mark.parametrize("rows", [None, [7, 0, 3]])
def test_outputs_and_gradients(columns: int, rate: float, training: bool, rows: list[int] | None) -> None:
    propagated, matrix, weights = parts(columns=columns)
    ends = matrix if rows is None else matrix.rows(torch.tensor(rows))
    results = []
    for large in (False, True):
        leaves = tuple(weight.clone().requires_grad_() for weight in weights)
        if large:
            generator = Seeds(1).generator("dropout") if training else None
            outputs = two_layers(propagated, leaves, ends, rate, generator, Scratch())  # type: ignore[arg-type]
        else:
            outputs = plain(propagated, leaves, matrix, rate, training)  # type: ignore[arg-type]
            outputs = outputs if rows is None else outputs[rows]
        results.append([outputs.detach(), *torch.autograd.grad(outputs.sin().sum(), leaves)])
    for ours, theirs in zip(results[1], results[0], strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_networks_that_share_a_scratch_do_not_disturb_each_other() -> None:
    """Forward one after the other, then backward in any order, and once more in evaluation in between."""
    cases = [parts(seed) for seed in range(3)]
    alone, together = [], []
    for shared in (False, True):
        scratch = Scratch()
        leaves = [tuple(weight.clone().requires_grad_() for weight in weights) for _, _, weights in cases]
        outputs = [
            two_layers(f, own, matrix, 0.5, Seeds(2).generator("dropout"), scratch if shared else Scratch())  # type: ignore[arg-type]
            for (f, matrix, _), own in zip(cases, leaves, strict=True)
        ]
        if shared:
            with torch.no_grad():
                two_layers(cases[0][0], cases[0][2], cases[0][1], 0.5, None, scratch)
        for number in (1, 2, 0):
            gradients = torch.autograd.grad(outputs[number].square().sum(), leaves[number])
            (together if shared else alone).extend([outputs[number].detach(), *gradients])
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(together, alone, strict=True))


def test_in_training_one_hidden_layer_is_kept_and_in_evaluation_none() -> None:
    propagated, matrix, weights = parts()
    kept: list[tuple[int, ...]] = []
    leaves = tuple(weight.clone().requires_grad_() for weight in weights)
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: (kept.append(tuple(t.shape)), t)[1], lambda t: t)
    with hooks:
        two_layers(propagated, leaves, matrix, 0.5, Seeds(1).generator("dropout"), Scratch())  # type: ignore[arg-type]
    assert kept.count((N, H)) == 1
    kept.clear()
    with hooks, torch.no_grad():
        two_layers(propagated, weights, matrix, 0.5, None, Scratch())
    assert kept == []
