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
        one_hop, two_hop = graph.propagation("one-hop"), graph.two_hop(self.two_hop)
        current = self.ego(graph.features).relu()
        blocks = [current]
        for k in range(self.rounds):
            current = dropout(current, self.dropout, source)
            current = torch.cat([one_hop @ current, two_hop @ current], dim=1)
            current = self.norms[k](current) if k < self.rounds - 1 else dropout(current, self.dropout, source)
            blocks.append(current)
        rows = current.shape[0]  # all nodes, or a part's own: each propagation of a part leaves out its outermost nodes
        return torch.cat([block[:rows] for block in blocks], dim=1)

    def forward(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """The outputs Z."""
        outputs: Tensor = self.readout(self.embed(graph, generator))
        return outputs
