r"""The decoder on the labelled nodes alone, with its cross entropy, in one step with one gradient.

In training only the logits of T_N and T_C enter the loss, and their prototypes are means over some of the same nodes;
the decoder's other rows are needed by nobody. With q the posterior's probabilities, as in
:mod:`lnp.methods.lnp.decoder`,

.. math::
    m_i = \beta_i [y_i] + (1 - \beta_i) q_i, \qquad \beta_i = q_{i y_i} / \|q_i\|, \qquad
    \hat y_i = \tfrac12 (h_i + R^\top m_i), \qquad \ell_i = -\log \mathrm{softmax}(\hat y_i)_{y_i} ,

:math:`\beta_i = 0` where the given label is no input. With :math:`u = \frac12 R\, \partial L / \partial \hat y` the
gradient of m,

.. math::
    \frac{\partial L}{\partial q} = (1 - \beta) u + d \left( \frac{[y]}{\|q\|} - \frac{\beta q}{\|q\|^2} \right), \qquad
    d = u_y - \langle u, q \rangle .
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.unit import ClassMeans, factors_of, slices, to_outputs_
from lnp.nn.bounded_softmax import bounded_softmax
from lnp.nn.prototypes import WholeSums

__all__ = ["labelled_loss", "mixed"]


def mixed(probabilities: Tensor, labels: Tensor, counts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    r"""M of a block, β and :math:`1 / \|q\|`, ``(k, 1)``.

    Args:
        probabilities: q, ``(k, c)``.
        labels: y, ``(k, 1)``.
        counts: 1 where the given label is an input, 0 elsewhere, ``(k, 1)``.
    """
    inverse = 1 / torch.linalg.vector_norm(probabilities, dim=1, keepdim=True)
    beta = probabilities.gather(1, labels).mul_(inverse).mul_(counts)
    return (probabilities * (1 - beta)).scatter_add_(1, labels, beta), beta, inverse


def labelled_loss(
    outputs: Tensor,
    probabilities: Tensor,
    labels: Tensor,
    counts: Tensor,
    members: Labelled,
    scale: float,
    whole: WholeSums | None = None,
) -> tuple[Tensor, Tensor]:
    r""":math:`\ell_i` of k labelled nodes, and the decoder's probabilities of their classes, without gradient.

    Args:
        outputs: f of the decoder's network at these nodes, ``(k, c)``.
        probabilities: q at these nodes.
        labels: y, ``(k,)``.
        counts: 1 where the given label is an input of the decoder, 0 elsewhere, ``(k, 1)``.
        members: Which of these nodes, by position, make the prototypes, and their labels.
        scale: s.
        whole: Where the nodes are those of a part of the graph: turns sums over members into those of the whole.
    """
    labels = labels.unsqueeze(1)
    means = ClassMeans(outputs.detach(), members, scale, whole)
    losses, predictions = _Labelled.apply(  # type: ignore[no-untyped-call]
        outputs, probabilities, labels, counts, means
    )
    return losses, predictions


class _Labelled(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        outputs: Tensor,
        probabilities: Tensor,
        labels: Tensor,
        counts: Tensor,
        means: ClassMeans,
    ) -> tuple[Tensor, Tensor]:
        scale = means.scale
        losses, factors = torch.empty_like(counts), torch.empty_like(counts)
        predictions = torch.empty_like(outputs)
        for rows in slices(*outputs.shape):
            factors[rows] = factors_of(outputs[rows], scale)
            mixture = mixed(probabilities[rows], labels[rows], counts[rows])[0]
            logits = torch.addcmul(mixture @ means.vectors, outputs[rows], factors[rows]).mul_(0.5)
            predictions[rows], masses = bounded_softmax(logits, scale)
            losses[rows] = masses.sub_(logits.gather(1, labels[rows]))
        ctx.means = means
        ctx.save_for_backward(outputs, probabilities, labels, counts, factors, predictions)
        ctx.mark_non_differentiable(predictions)
        return losses.squeeze(1), predictions

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_losses: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        outputs, probabilities, labels, counts, factors, predictions = ctx.saved_tensors
        means, vectors = ctx.means, ctx.means.vectors
        of_losses = of_losses.unsqueeze(1) / 2
        of_outputs, of_probabilities = torch.empty_like(outputs), torch.empty_like(probabilities)
        of_means, turned = torch.zeros_like(vectors), vectors.T.contiguous()
        for rows in slices(*outputs.shape):
            y, q, unit = labels[rows], probabilities[rows], outputs[rows] * factors[rows]
            mixture, beta, inverse = mixed(q, y, counts[rows])
            half = torch.mul(predictions[rows], of_losses[rows], out=of_outputs[rows])
            half.scatter_add_(1, y, -of_losses[rows])
            of_means.addmm_(mixture.T, half)
            of_mixture = half @ turned
            of_beta = (of_mixture.gather(1, y) - (of_mixture * q).sum(dim=1, keepdim=True)).mul_(counts[rows])
            torch.mul(of_mixture, 1 - beta, out=of_probabilities[rows])
            of_beta.mul_(inverse)
            of_probabilities[rows].addcmul_(beta.mul_(inverse).mul_(of_beta), q, value=-1)
            of_probabilities[rows].scatter_add_(1, y, of_beta)
            to_outputs_(half, unit, factors[rows], means.scale)
        means.pass_to_members_(of_outputs, outputs, of_means)
        return of_outputs, of_probabilities, None, None, None
