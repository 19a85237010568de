r"""Co-teaching+: two networks, each taught by the small-loss nodes that the other chose where they disagree.

In epoch e, with losses :math:`\ell^{(1)}, \ell^{(2)}` of both networks on T_N,

.. math::
    D &= \{ i \in T_N : \hat y^{(1)}_i \ne \hat y^{(2)}_i \} \quad (T_N \text{ in the warm-up and if empty}) \\
    I_k &= \text{the } \max(1, \lfloor R(e)\,|D| \rfloor) \text{ nodes of } D \text{ with the smallest } \ell^{(k)} \\
    L &= \operatorname{mean}_{I_2} \ell^{(1)} + \operatorname{mean}_{I_1} \ell^{(2)}

where the kept share R falls from 1 to :math:`1 - \tau`, and τ is the noise rate. Wrong labels that make up the majority
of a class have the *smaller* loss: under flip noise beyond one half the method must fail.

Without a noise rate, τ is estimated: each network first learns from one half of T_N; its most confident predictions for
the other half are compared with the labels given there (:func:`confident_noise_rate`); then training starts from fresh
weights. The epoch of that stage is chosen by the run's rule. Where networks are often wrong themselves the estimate is
far too large (Actor: 0.70 where 0.16 are wrong; docs/deviations.md), and a given τ is better.

Reference: Yu et al., *How does disagreement help generalization against label corruption?*, ICML 2019.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lnp.errors import ConfigError, check_choice, check_range
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.base import Epoch, Method, Optimiser, Stage, Terms, Update
from lnp.methods.batch import Batch
from lnp.methods.fine_tuning import FineTunedConfig, fine_tuning_stage
from lnp.nn.softmax import softmax
from lnp.seeds import Generator, Randomness

__all__ = [
    "CoteachingPlus",
    "CoteachingPlusConfig",
    "chosen_by_each",
    "confident_noise_rate",
    "exchanged_losses",
    "kept_share",
]

SCHEDULES = ("ramp", "official", "growing")
PREDICTIONS = ("mean", "better")


@dataclass(frozen=True, kw_only=True)
class CoteachingPlusConfig(FineTunedConfig):
    """Options of co-teaching+.

    Args:
        noise_rate: τ, the share of wrong labels in T_N, which is the share to forget; ``None`` estimates it.
        estimate_epochs: Epochs of the stage that estimates τ where it is not given.
        epochs: Epochs of the exchange.
        ramp_epochs: E_k, after how many epochs the whole share is forgotten. The authors' 10 suits images, where an
            epoch is hundreds of steps; a full-batch epoch is one, and nodes dropped before the networks have learnt
            anything are those of small classes, which are then lost for good.
        schedule: How the forgotten share grows; see :func:`kept_share`.
        warm_up: E_w, first epochs in which all of T_N is looked at, not only disagreement.
        prediction: "mean" of both networks' probabilities, or the "better" network by the run's selection rule (the
            first one where that rule scores nothing). The mean looks at no label and is the default.
    """

    noise_rate: float | None = None
    estimate_epochs: int = 100
    epochs: int = 300
    ramp_epochs: int = 300
    schedule: str = "ramp"
    warm_up: int = 150
    prediction: str = "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.noise_rate is not None:
            check_range("noise_rate", self.noise_rate, 0, 1)
        check_choice("schedule", self.schedule, SCHEDULES)
        check_choice("prediction", self.prediction, PREDICTIONS)
        for name, least in (("estimate_epochs", 1), ("ramp_epochs", 1), ("warm_up", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"Expected `{name}` to be at least {least}, but got {getattr(self, name)}.")


class CoteachingPlus(Method):
    """Two networks that exchange small-loss nodes. The noise rate is an input, or estimated where it is ``None``."""

    Config = CoteachingPlusConfig
    needs_noise_rate = True
    config: CoteachingPlusConfig
    epoch: Tensor
    forget_rate: Tensor
    second_is_better: Tensor
    in_first_half: Tensor

    def __init__(self, config: CoteachingPlusConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.config = config
        self.first = config.network(batch, generator)  # one stream after the other: never equal
        self.second = config.network(batch, generator)
        self.register_buffer("epoch", torch.zeros((), dtype=torch.int64))
        self.register_buffer("forget_rate", torch.tensor(config.noise_rate or 0.0, dtype=torch.float64))
        self.register_buffer("second_is_better", torch.zeros((), dtype=torch.bool))
        if config.noise_rate is None:
            order = torch.from_numpy(generator.permutation(batch.node_count))
            self.register_buffer("in_first_half", order % 2 == 0)

    def stages(self, batch: Batch) -> list[Stage]:
        """The noise rate where it is not given, then exchange on T_N, then fine-tuning of each network on T_C."""
        config = self.config
        optimisers = {"main": Optimiser(list(self.parameters()), config.learning_rate, config.weight_decay)}
        stages = []
        if config.noise_rate is None:
            halves = (Update(self._half_losses),)
            stages.append(
                Stage(name="noise-rate", epochs=config.estimate_epochs, optimisers=optimisers, updates=halves)
            )
        begin = None if config.noise_rate is not None else self._begin
        main = Stage(
            name="train", epochs=config.epochs, optimisers=optimisers, updates=(Update(self.loss),), begin=begin
        )
        networks: dict[str, nn.Module] = {"first": self.first, "second": self.second}
        return [*stages, main, *fine_tuning_stage(config, batch, networks, self._logits)]

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """The exchanged small losses of both networks."""
        if batch.noisy.numel() == 0:
            return {}
        first, second = (logits[batch.noisy] for logits in self._logits(batch, randomness))
        config, epoch = self.config, int(self.epoch)
        candidates = torch.ones_like(batch.noisy, dtype=torch.bool)
        if epoch >= config.warm_up:
            candidates = first.argmax(dim=1) != second.argmax(dim=1)
        share = kept_share(epoch, config.epochs, float(self.forget_rate), config.ramp_epochs, config.schedule)
        losses = cross_entropy(first, batch.noisy_labels), cross_entropy(second, batch.noisy_labels)
        taught_first, taught_second = exchanged_losses(*losses, candidates, share)
        return {"first_ce": taught_first, "second_ce": taught_second}

    def predict(self, batch: Batch) -> Tensor:
        """The mean of both networks' probabilities, or those of the better one."""
        probabilities: Tensor
        if self.config.prediction == "mean":
            probabilities = (softmax(self.first(batch.graph)) + softmax(self.second(batch.graph))) / 2
            return probabilities
        better = self.second if bool(self.second_is_better) else self.first
        probabilities = softmax(better(batch.graph))
        return probabilities

    def end_epoch(self, batch: Batch, epoch: Epoch) -> None:
        """Counts the epoch, and compares the networks where the better one is to predict."""
        if epoch.stage == "train":
            self.epoch.fill_(epoch.index + 1)
        if self.config.prediction == "better":
            first, second = (epoch.score(softmax(network(batch.graph))) for network in (self.first, self.second))
            self.second_is_better.fill_(second > first)

    def _logits(self, batch: Batch, randomness: Randomness) -> list[Tensor]:
        return [network(batch.graph, randomness.dropout) for network in (self.first, self.second)]

    def _half_losses(self, batch: Batch, randomness: Randomness) -> Terms:
        """Each network on its own half of T_N."""
        terms: Terms = {}
        in_first = self.in_first_half[batch.noisy]
        for name, logits, members in zip(
            ("first_half_ce", "second_half_ce"), self._logits(batch, randomness), (in_first, ~in_first), strict=True
        ):
            nodes = batch.noisy[members]
            if nodes.numel():
                terms[name] = cross_entropy(logits[nodes], batch.given[nodes]).mean()
        return terms

    @torch.no_grad()
    def _begin(self, batch: Batch, randomness: Randomness) -> None:
        """Estimates τ from what each network says of the half it has not seen, and starts both anew."""
        first, second = (softmax(network(batch.graph))[batch.noisy] for network in (self.first, self.second))
        unseen = torch.where(self.in_first_half[batch.noisy].unsqueeze(1), second, first)
        self.forget_rate.fill_(confident_noise_rate(unseen, batch.noisy_labels))
        for network in (self.first, self.second):
            fresh = self.config.network(batch, randomness.sampling)
            network.load_state_dict(fresh.state_dict())


def kept_share(epoch: int, epochs: int, rate: float, ramp: int, schedule: str = "ramp") -> float:
    r"""R(e), the share of candidates to learn from in epoch e of E.

    ==============  ===============================================================================
    ``ramp``        :math:`1 - \tau \min(e / E_k, 1)`
    ``official``    the same with :math:`e / (E_k - 1)`: the authors' code
    ``growing``     :math:`1 - \min(\tau e / E_k,\; \tau (1 + (e - E_k) / (E - E_k)))` for :math:`e > E_k`, ``ramp``
                    before: the paper's text
    ==============  ===============================================================================

    >>> [round(kept_share(e, 200, 0.4, 10), 2) for e in (0, 5, 10, 100)]
    [1.0, 0.8, 0.6, 0.6]
    """
    if schedule == "official":
        return 1 - rate * min(epoch / max(ramp - 1, 1), 1.0)
    if schedule == "growing" and epoch > ramp:
        return max(0.0, 1 - rate * min(epoch / ramp, 1 + (epoch - ramp) / max(epochs - ramp, 1)))
    return 1 - rate * min(epoch / ramp, 1.0)


def chosen_by_each(first: Tensor, second: Tensor, candidates: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """I_1 and I_2: the candidates with the smallest loss in each network, as positions.

    Args:
        first: Losses of the first network, one per node of T_N.
        second: Losses of the second network.
        candidates: Mask of D; where it is empty, all nodes are candidates.
        share: R, the share of D to choose (at least one node).
    """
    members = candidates.nonzero().squeeze(1)
    if members.numel() == 0:
        members = torch.arange(candidates.numel(), device=candidates.device)
    count = max(1, int(share * members.numel() + 1e-9))  # 1e-9: (1 - 0.9) * 10 is one node, not none
    chosen = [members[losses.detach()[members].topk(count, largest=False).indices] for losses in (first, second)]
    return chosen[0], chosen[1]


def exchanged_losses(first: Tensor, second: Tensor, candidates: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """Each network's mean loss on the nodes that the other one chose; see :func:`chosen_by_each`."""
    by_first, by_second = chosen_by_each(first, second, candidates, share)
    return first[by_second].mean(), second[by_first].mean()


def confident_noise_rate(probabilities: Tensor, given: Tensor, *, share: float = 0.25) -> float:
    """The share of wrong labels, from predictions for nodes that were not learnt from.

    It is the share of disagreement between prediction and given label among the most confident predictions of every
    class. All disagreement would count the predictor's own errors as noise; those are rare where it is confident, and
    how confident it is does not depend on the node's own label, which it has not seen. What error is left is counted
    as noise: a little on a graph that is easy to learn, most of it on one that is not.

    Args:
        probabilities: ``(k, c)`` predictions.
        given: ``(k,)`` labels.
        share: The part of every predicted class to look at, at least one node.

    >>> probabilities = torch.tensor([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.55, 0.45]])
    >>> confident_noise_rate(probabilities, torch.tensor([0, 1, 1, 1]), share=0.5)
    0.5
    """
    value, predicted = probabilities.max(dim=1)
    seen = wrong = 0
    for k in range(probabilities.shape[1]):
        members = (predicted == k).nonzero().squeeze(1)
        count = min(members.numel(), max(1, round(share * members.numel())))
        surest = members[value[members].topk(count).indices]
        seen += count
        wrong += int((given[surest] != k).sum())
    return wrong / max(1, seen)
