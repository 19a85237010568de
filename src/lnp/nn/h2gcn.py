"""H2GCN (Zhu et al., NeurIPS 2020) in the form used by LINKX (Lim et al., NeurIPS 2021)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lnp.nn.backbone import Backbone, BackboneSpec
from lnp.nn.batch_norm import BatchNorm
from lnp.nn.dropout import dropout
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.linear import Linear
from lnp.seeds import Generator

__all__ = ["H2GCN"]


class H2GCN(Backbone):
    r"""Keeps a node, its neighbours and its strict two-hop neighbours in separate blocks.

    .. math::
        R_0 &= \mathrm{relu}(X W_e + b_e) \\
        R_k &= \mathrm{BN}([S_1 R_{k-1} \,\|\, S_2 R_{k-1}]) \\
        Z   &= [R_0 \,\|\, R_1 \,\|\, \dots \,\|\, R_K]\,W_o + b_o

    with :math:`S_1, S_2` the normalised one-hop and two-hop matrices, dropout before each round and after the last,
    and no BatchNorm in the last round. For K rounds the last map reads :math:`h (2^{K+1} - 1)` columns.
    """

    def __init__(self, spec: BackboneSpec, generator: Generator) -> None:
        super().__init__()
        rounds = spec.layers
        self.ego = Linear(spec.inputs, spec.hidden, generator, initialisation=spec.initialisation)
        self.norms = nn.ModuleList(BatchNorm(spec.hidden * 2**k) for k in range(1, rounds))
        width = spec.hidden * (2 ** (rounds + 1) - 1)
        self.readout = Linear(width, spec.outputs, generator, initialisation=spec.initialisation)
        self.rounds = rounds
        self.dropout = spec.dropout
        self.two_hop = "two-hop-with-self" if spec.self_in_two_hop else "two-hop"

    def embed(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """All rounds side by side."""
        source = self.dropout_source(generator)
        blocks = self._before_last(graph, source)
        last = self._round(graph, dropout(blocks[-1], self.dropout, source))
        return _side_by_side([*blocks, dropout(last, self.dropout, source)])

    def forward(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """The outputs Z."""
        if self.training:
            outputs: Tensor = self.readout(self.embed(graph, generator))
            return outputs
        # Nothing is dropped between the last round and the last map, so S (R W) takes the place of (S R) W: in most of
        # what an evaluation costs, columns for classes instead of twice those of the round before.
        blocks = self._before_last(graph, None)
        before, current = _side_by_side(blocks), blocks[-1]
        weight, bias = self.readout.weight, self.readout.bias
        assert bias is not None
        widths = [before.shape[1], current.shape[1], current.shape[1]]
        of_before, of_one_hop, of_two_hop = torch.split(weight, widths)
        near = graph.propagation("one-hop") @ (current @ of_one_hop)
        far = graph.two_hop(self.two_hop) @ (current @ of_two_hop)
        result: Tensor = before[: near.shape[0]] @ of_before + near + far + bias
        return result

    def _before_last(self, graph: GraphTensors, source: Generator | None) -> list[Tensor]:
        """R_0 and all rounds but the last."""
        blocks = [self.ego(graph.features).relu()]
        for norm in self.norms:
            blocks.append(norm(self._round(graph, dropout(blocks[-1], self.dropout, source))))
        return blocks

    def _round(self, graph: GraphTensors, current: Tensor) -> Tensor:
        return torch.cat([graph.propagation("one-hop") @ current, graph.two_hop(self.two_hop) @ current], dim=1)


def _side_by_side(blocks: list[Tensor]) -> Tensor:
    rows = blocks[-1].shape[0]  # all nodes, or a part's own: each propagation of a part leaves out its outermost nodes
    return torch.cat([block[:rows] for block in blocks], dim=1)
