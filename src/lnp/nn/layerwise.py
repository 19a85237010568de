"""Networks evaluated on a whole graph layer by layer, block of rows by block, with every neighbour.

The outputs are those of the network on the whole graph; what differs is how much is held at a time. Between two layers
there is one matrix with a row for every node; everything within a layer (its product with S, activations, the two-hop
rows of H2GCN) exists for one block of rows only, and nothing is kept for a backward pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatchmethod
from itertools import pairwise
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnp.graph.graph import Features, Graph
from lnp.nn.backbone import Backbone, EvaluatesNetworks
from lnp.nn.gcn import GCN
from lnp.nn.graph_part import Scales
from lnp.nn.graph_tensors import WIDTHS, GraphTensors
from lnp.nn.h2gcn import H2GCN
from lnp.nn.hops import HopRows, stored_hops
from lnp.nn.linear import Linear
from lnp.nn.mlp import MLP
from lnp.nn.propagation import propagation_matrix
from lnp.nn.sign import SIGN
from lnp.nn.sparse import SUM
from lnp.nn.two_hop import row_blocks, two_hop_rows

__all__ = ["Layerwise", "RowBlocks"]

BLOCK = 2**15
"""Rows computed at a time."""

KEPT_ENTRIES = 2**25
"""Up to how many entries the two-hop rows are kept between rounds and epochs (eight bytes each)."""

PROPAGATED_BYTES = 2**30
"""Up to which size S X is kept."""


class RowBlocks:
    """A matrix that is multiplied block of rows by block, without gradient; it shares the memory of what it is made of.

    Args:
        matrix: Dense or CSR.
        device: Where the products are wanted.
    """

    def __init__(self, matrix: Features, device: torch.device) -> None:
        self.shape: tuple[int, int] = (int(matrix.shape[0]), int(matrix.shape[1]))
        self.device = device
        self._dense: Tensor | None = None
        if isinstance(matrix, np.ndarray):
            self._dense = torch.from_numpy(matrix)
            return
        index = np.int32 if matrix.nnz < 2**31 else np.int64
        self._indptr = torch.from_numpy(matrix.indptr.astype(index, copy=False))
        self._indices = torch.from_numpy(matrix.indices.astype(index, copy=False))
        self._values = torch.from_numpy(matrix.data)

    def rows(self, start: int, stop: int, dense: Tensor) -> Tensor:
        """Rows ``start`` to ``stop`` of the product with ``dense``."""
        if self._dense is not None:
            return self._dense[start:stop].to(self.device) @ dense
        offsets = self._indptr[start : stop + 1]
        part = slice(int(offsets[0]), int(offsets[-1]))
        return torch.embedding_bag(
            dense,
            self._indices[part].to(self.device),
            (offsets - offsets[0]).to(self.device),
            mode=SUM,
            per_sample_weights=self._values[part].to(self.device),
            include_last_offset=True,
        )[0]

    def __matmul__(self, dense: Tensor) -> Tensor:
        product = torch.empty(self.shape[0], dense.shape[1], device=self.device)
        for start, stop in _blocks(self.shape[0], BLOCK):
            product[start:stop] = self.rows(start, stop, dense)
        return product


class Layerwise(GraphTensors, EvaluatesNetworks):
    """A whole graph on which networks in evaluation mode are computed in bounded memory.

    The last outputs of a network are kept and given again while its weights stay as they are: a method that predicts at
    the end of an epoch and looks at its embeddings at the start of the next computes them once.

    Args:
        graph: The graph.
        scales: Its scales, if somebody has them already.
        device: Where to compute.
        block: Rows computed at a time.
        propagated_bytes: Up to which size S X is computed once and kept; 0 never does.
    """

    def __init__(
        self,
        graph: Graph,
        scales: Scales | None = None,
        device: torch.device | str = "cpu",
        *,
        block: int = BLOCK,
        propagated_bytes: int = PROPAGATED_BYTES,
    ) -> None:
        self.graph = graph
        self.propagated_bytes = propagated_bytes
        self.device = torch.device(device)
        self.block = block
        self.scales = scales or Scales(graph)
        self.features = RowBlocks(graph.features, self.device)  # type: ignore[assignment]
        self._matrices: dict[str, RowBlocks] = {}
        self._first: dict[str, Tensor] = {}
        self._far: dict[str, list[sp.csr_array]] = {}
        self._known: WeakKeyDictionary[Backbone, tuple[dict[str, Tensor], Tensor]] = WeakKeyDictionary()

    @torch.no_grad()
    def evaluate(self, network: Backbone) -> Tensor:
        """The network's outputs for every node, ``(n, c)``."""
        state = network.state_dict()
        known = self._known.get(network)
        if known is not None and all(torch.equal(known[0][name], value) for name, value in state.items()):
            return known[1]
        outputs = self._outputs(network)
        self._known[network] = ({name: value.clone() for name, value in state.items()}, outputs)
        return outputs

    def propagated(self, kind: str, width: int) -> Tensor | None:
        """S X, computed at the first call; ``None`` where X is sparse, too wide for it to pay, or too large to keep."""
        n, d = self._features.shape
        dense = isinstance(self.graph.features, np.ndarray)
        if not dense or d > WIDTHS * width or 4 * n * d > self.propagated_bytes:
            return None
        if kind not in self._first:
            with torch.no_grad():
                features = torch.from_numpy(self.graph.features).to(self.device)
                self._first[kind] = self._matrix(kind) @ features
        return self._first[kind]

    @singledispatchmethod
    def _outputs(self, network: Backbone) -> Tensor:
        raise TypeError(f"Nobody has said how a {type(network).__name__} is computed layer by layer.")

    @_outputs.register
    def _(self, network: MLP) -> Tensor:
        outputs = self._empty(network.layers[-1])
        for start, stop in self._row_blocks():
            hidden = _apply(network.layers[0], self._features.rows(start, stop, _weight(network.layers[0])))
            for norm, layer in zip(network.norms, list(network.layers)[1:], strict=True):
                hidden = layer(norm(hidden.relu()))
            outputs[start:stop] = hidden
        return outputs

    @_outputs.register
    def _(self, network: GCN) -> Tensor:
        matrix, weight = self._matrix(network.propagation), _weight(network.layers[0])
        known = self.propagated(network.propagation, weight.shape[1])
        product = self._features @ weight if known is None else known
        for number, (layer, following) in enumerate(pairwise([*network.layers, None])):
            assert layer is not None
            result = self._empty(following or layer)
            for start, stop in self._row_blocks():
                first = number == 0 and known is not None
                rows = product[start:stop] @ weight if first else matrix.rows(start, stop, product)
                rows = _apply(layer, rows)
                result[start:stop] = rows if following is None else rows.relu() @ _weight(following)
            product = result
        return product

    @_outputs.register
    def _(self, network: H2GCN) -> Tensor:
        near = self._matrix("one-hop")
        current = _apply(network.ego, self._features @ network.ego.weight).relu_()
        widths = [network.ego.weight.shape[1] * 2**k for k in range(network.rounds + 1)]
        readout = torch.split(network.readout.weight, widths)
        outputs = _apply(network.readout, current @ readout[0])
        for k in range(network.rounds):
            last = k == network.rounds - 1
            result = None if last else current.new_empty(current.shape[0], 2 * current.shape[1])
            for start, far in self._two_hop(network.two_hop):
                stop = start + far.shape[0]
                rows = torch.cat([near.rows(start, stop, current), far @ current], dim=1)
                if result is not None:
                    result[start:stop] = rows = network.norms[k](rows)
                outputs[start:stop] += rows @ readout[k + 1]
            current = current if result is None else result
        return outputs

    @_outputs.register
    def _(self, network: SIGN) -> Tensor:
        hops = stored_hops(self.graph, network.propagation, len(network.weights) - 1)
        outputs = self._empty(network.readout)
        for start, stop in self._row_blocks():
            rows = torch.from_numpy(hops.read(np.arange(start, stop))).to(self.device)
            outputs[start:stop] = network.forward(HopRows(rows, network.propagation))  # type: ignore[arg-type]
        return outputs

    @property
    def _features(self) -> RowBlocks:
        assert isinstance(self.features, RowBlocks)
        return self.features

    def _empty(self, layer: object) -> Tensor:
        return torch.empty(self.node_count, _weight(layer).shape[1], device=self.device)

    def _row_blocks(self) -> Iterator[tuple[int, int]]:
        return _blocks(self.node_count, self.block)

    def _matrix(self, kind: str) -> RowBlocks:
        if kind not in self._matrices:
            matrix = propagation_matrix(self.graph.adjacency, kind, self.graph.features)
            self._matrices[kind] = RowBlocks(matrix, self.device)
        return self._matrices[kind]

    def _two_hop(self, kind: str) -> Iterator[tuple[int, RowBlocks]]:
        """S_2 in blocks of rows, each with the number of its first; computed anew every time unless it is small."""
        start = 0
        for rows in self._two_hop_blocks(kind):
            yield start, RowBlocks(rows, self.device)
            start += rows.shape[0]

    def _two_hop_blocks(self, kind: str) -> Iterator[sp.csr_array]:
        if kind in self._far:
            yield from self._far[kind]
            return
        kept: list[sp.csr_array] = []
        entries = 0
        for nodes in row_blocks(self.graph.adjacency):
            for part in np.split(nodes, range(self.block, nodes.size, self.block)):
                rows = self._scaled(part, kind)
                entries += rows.nnz
                if entries <= KEPT_ENTRIES:
                    kept.append(rows)
                yield rows
        if entries <= KEPT_ENTRIES:
            self._far[kind] = kept

    def _scaled(self, nodes: NDArray[np.int64], kind: str) -> sp.csr_array:
        left, right = self.scales.sides(kind)
        rows = two_hop_rows(self.graph.adjacency, nodes, self.scales.marks)
        values = rows.data * right[rows.indices] * left[nodes].repeat(np.diff(rows.indptr))
        rows = sp.csr_array((values.astype(np.float32), rows.indices, rows.indptr), shape=rows.shape)
        if kind == "two-hop-with-self":
            places = (np.arange(nodes.size), nodes)
            itself = sp.coo_array(((left[nodes] * right[nodes]).astype(np.float32), places), shape=rows.shape)
            rows = sp.csr_array(rows + itself.tocsr())
        return rows


def _blocks(count: int, block: int) -> Iterator[tuple[int, int]]:
    return ((start, min(start + block, count)) for start in range(0, count, block))


def _weight(layer: object) -> Tensor:
    assert isinstance(layer, Linear)
    return layer.weight


def _apply(layer: object, product: Tensor) -> Tensor:
    """What is left of a linear map once its product is there."""
    assert isinstance(layer, Linear)
    return product if layer.bias is None else product + layer.bias
