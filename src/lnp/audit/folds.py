"""Networks that have not seen the labels they judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from lnp.audit.network import ChannelNetwork, ChannelNetworkConfig
from lnp.audit.posterior import Floats
from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.methods.batch import Batch
from lnp.seeds import Generator, Seeds

__all__ = ["FOLDS", "OnNetwork", "draw_folds", "out_of_fold", "train_network"]

FOLDS = 4
"""How many parts the labels are cut into; each is judged by a network that learned from the others."""

OnNetwork = Callable[[], None]
"""Called when a network is trained."""


def draw_folds(given: NDArray[np.int64], nodes: NDArray[np.int64], generator: Generator) -> NDArray[np.int64]:
    """``(n,)`` the part of each of ``nodes``, −1 for all others; every class is shared out evenly.

    >>> draw_folds(np.zeros(9, int), np.arange(8), np.random.default_rng(0)).tolist().count(2)
    2
    """
    parts = np.full(given.size, -1, np.int64)
    for k in np.unique(given[nodes]):
        members = generator.permutation(nodes[given[nodes] == k])
        parts[members] = (np.arange(members.size) + generator.integers(FOLDS)) % FOLDS
    return parts


def train_network(
    batch: Batch, config: ChannelNetworkConfig, transition: Floats, generator: Generator
) -> NDArray[np.float64]:
    """``(n, c)`` log-probabilities of a network that learned from ``batch`` through the channel."""
    seeds = Seeds(int(generator.integers(2**31)))
    channel = torch.from_numpy(transition).to(batch.given.device, torch.float32)
    network = ChannelNetwork(config, batch, seeds.generator("initialisation"), channel).to(batch.given.device)
    fit(network, batch, select_last(), seeds.randomness())
    return np.asarray(network.log_probabilities(batch).double().cpu().numpy())


def out_of_fold(
    batch: Batch,
    config: ChannelNetworkConfig,
    transition: Floats,
    parts: NDArray[np.int64],
    generator: Generator,
    on_network: OnNetwork | None = None,
) -> NDArray[np.float64]:
    """``(n, c)`` log-probabilities of every node in a part, from the network that did not learn from that part.

    Not a number for nodes in no part; those always teach.

    Args:
        batch: All labels.
        config: The networks.
        transition: The channel they learn through.
        parts: The part of every node, −1 for none.
        generator: Where the networks' draws come from.
        on_network: Called after each network.
    """
    logs = np.full((batch.node_count, batch.class_count), np.nan)
    part = torch.from_numpy(parts).to(batch.given.device)
    for fold in range(FOLDS):
        held_out = parts == fold
        if held_out.any():
            noisy, trusted = (nodes[part[nodes] != fold] for nodes in (batch.noisy, batch.trusted))
            seen = replace(batch, noisy=noisy, trusted=trusted)
            logs[held_out] = train_network(seen, config, transition, generator)[held_out]
        if on_network is not None:
            on_network()
    return logs
