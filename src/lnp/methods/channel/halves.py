r"""Two networks that each learn from one half of T_N and speak about the other.

What a network says about a node whose label it has learnt is biased towards that label; about all others it is not. So
T_N is cut in two at random, and

.. math:: \pi_i = \begin{cases}
        P_{\theta_1}(y_i \mid G)  & i \text{ in the first half, from which } \theta_0 \text{ learns} \\
        P_{\theta_0}(y_i \mid G)  & i \text{ in the second half, from which } \theta_1 \text{ learns} \\
        \text{the mean of both}  & \text{otherwise}
    \end{cases}

Each network is half as wide as the one that is trained in the end, and they are computed side by side
(:mod:`lnp.methods.channel.pair`), so both together cost about as much as that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from lnp.methods.batch import Batch
from lnp.methods.channel.config import ChannelConfig
from lnp.methods.channel.pair import both_logits
from lnp.methods.channel.prior import Prior
from lnp.nn.softmax import softmax
from lnp.seeds import Generator

__all__ = ["Halves"]


class Halves(nn.Module):
    """Both networks and who learns from which node.

    Attributes:
        networks: Two priors.
        side: 0 or 1 for the nodes of T_N, −1 for all others, and for all before :meth:`draw`. T_C is cut like T_N
            between :meth:`cut_trusted` and :meth:`join_trusted`.
    """

    side: Tensor

    def __init__(self, config: ChannelConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.config = config
        self.hidden = max(1, config.hidden // 2)
        self.networks = nn.ModuleList(self._fresh(batch, generator) for _ in range(2))
        self.register_buffer("side", torch.full((batch.node_count,), -1, dtype=torch.int8))

    def draw(self, batch: Batch, generator: Generator) -> None:
        """Cuts T_N in two."""
        order = torch.from_numpy(generator.permutation(batch.noisy.numel())).to(batch.noisy.device)
        self.side.fill_(-1)
        self.side[batch.noisy[order]] = (torch.arange(order.numel(), device=order.device) % 2).to(self.side.dtype)

    def cut_trusted(self, batch: Batch) -> None:
        """Lets each network learn every other trusted node of a class, and be asked about the rest."""
        labels = batch.trusted_labels
        order = labels.argsort(stable=True)
        first = labels.bincount(minlength=batch.class_count).cumsum(0).roll(1)
        first[0] = 0
        place = torch.arange(order.numel(), device=order.device) - first[labels[order]]
        self.side[batch.trusted[order]] = (place % 2).to(self.side.dtype)

    def join_trusted(self, batch: Batch) -> None:
        """Lets both networks learn all of T_C, as before it was cut."""
        self.side[batch.trusted] = -1

    def restart(self, batch: Batch, generator: Generator) -> None:
        """Forgets everything learned."""
        for network in self.networks:
            network.load_state_dict(self._fresh(batch, generator).state_dict())

    def learnt(self, index: int, nodes: Tensor) -> Tensor:
        """Those of some nodes that network ``index`` learns from: its own half, and whatever is not cut."""
        side = self.side[nodes]
        return nodes[(side < 0) | (side == index)]

    def logits(self, batch: Batch, variant: str, generator: Generator | None, *, bound: float) -> Sequence[Tensor]:
        """The logits of both networks, for all nodes."""
        return both_logits(cast("list[Prior]", list(self.networks)), batch.graph, variant, generator, bound=bound)

    def predict(self, batch: Batch, variant: str, *, bound: float) -> Tensor:
        """Class probabilities of every node by who has not learnt its label, ``(n, c)``."""
        first, second = (softmax(logits) for logits in self.logits(batch, variant, None, bound=bound))
        side = self.side.unsqueeze(1)
        return torch.where(side == 0, second, torch.where(side == 1, first, (first + second) / 2))

    def _fresh(self, batch: Batch, generator: Generator) -> Prior:
        return Prior(self.config, batch, generator, hidden=self.hidden).to(batch.given.device)
