"""The options of LNP, each with its symbol and what the paper says of it."""

from __future__ import annotations

from dataclasses import dataclass

from lnp.errors import ConfigError, check_choice, check_range
from lnp.methods.config import MethodConfig

__all__ = ["LNPConfig"]


@dataclass(frozen=True, kw_only=True)
class LNPConfig(MethodConfig):
    r"""Options of LNP-v1 and LNP-v2. The class defaults are the preset ``paper``: the text, made to work.

    Where the paper leaves a choice, the choice is an option here, and ``docs/deviations.md`` has a row for it.

    Args:
        lambda_1: :math:`\lambda_1`, weight of the weighted cross entropy of the decoder on Y_N.
        lambda_2: :math:`\lambda_2`, weight of the prior's cross entropy, on Y_N in v1 and on Y_C in v2.
        lambda_3: :math:`\lambda_3`, weight of the contrastive loss.
        delta: :math:`\delta`, similarity above which a node of T_N joins T_C for the next epoch.
        tau: :math:`\tau`, temperature of the contrastive loss.
        fusion: "prototypes" (the paper), or "concatenation": labels beside features at the input (ablation ``nv``).
            There ``alpha``, ``beta``, ``grown_as`` and ``expectation`` have nothing to do, nor has ``delta`` in v2.
        embedding: H as "unit" rows times ``scale``, or "raw".
        scale: Norm of unit embeddings. At 1 no probability of seven classes exceeds 0.33 and δ can hardly be reached.
        similarity: How w and the δ rule compare a prediction p with a given label: "cosine" of p and the one-hot label,
            "minmax" (cosine stretched to [0, 1] over T_N), "probability" p_y, or "random" (the released code).
        told: Whether the prediction that w compares with a given label has been told that label (the paper): v2 is
            conditioned on it, and nodes that joined T_C are in both versions. If not, it is what the same networks
            would say of a node without a label.
        weights: "similarity" (the paper) or "one" (ablation ``nw``).
        odds_power: λ1 is multiplied by this power of ρ (:mod:`lnp.methods.lnp.label_odds`), which is 1 unless given
            labels mean other classes than they say. 0 keeps λ1 as it is: the paper's objective, which needs a λ1 for
            each noise rate.
        alpha: α as "cosine" of h and r, kept in [0, 1], or "dot" as in the released code.
        beta: β as "cosine", or "random" with a second softmax as in the released code.
        grown_as: Nodes that joined T_C follow the rule of "trusted" nodes in Q, or that of "noisy" ones.
        expectation: :math:`E_Q \log P`: "plug-in" (the paper's zero variance) or "exact", a sum over classes.
        kl_direction: "QP" for :math:`KL(Q \| P)` (the paper) or "PQ".
        kl_nodes: KL over "all" nodes or those "outside-noisy".
        negatives: Negatives k of the contrastive loss; 0 takes all nodes.
    """

    normalisation: str = "row"
    weight_decay: float = 2e-3
    lambda_1: float = 1.0
    lambda_2: float = 2.0
    lambda_3: float = 2.0
    delta: float = 0.7
    tau: float = 0.5
    fusion: str = "prototypes"
    embedding: str = "unit"
    scale: float = 5.0
    similarity: str = "cosine"
    told: bool = True
    weights: str = "similarity"
    odds_power: float = 4.0
    alpha: str = "cosine"
    beta: str = "cosine"
    grown_as: str = "trusted"
    expectation: str = "plug-in"
    kl_direction: str = "QP"
    kl_nodes: str = "all"
    negatives: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("lambda_1", "lambda_2", "lambda_3"):
            check_range(name, getattr(self, name), 0, 1e6)
        check_range("delta", self.delta, 0, 1)
        check_range("scale", self.scale, 1e-3, 1e3)
        check_range("odds_power", self.odds_power, 0, 10)
        check_range("tau", self.tau, 1e-3, 1e3)
        check_choice("fusion", self.fusion, ("prototypes", "concatenation"))
        check_choice("embedding", self.embedding, ("unit", "raw"))
        check_choice("similarity", self.similarity, ("cosine", "minmax", "probability", "random"))
        check_choice("weights", self.weights, ("similarity", "one"))
        check_choice("alpha", self.alpha, ("cosine", "dot"))
        check_choice("beta", self.beta, ("cosine", "random"))
        check_choice("grown_as", self.grown_as, ("trusted", "noisy"))
        check_choice("expectation", self.expectation, ("plug-in", "exact"))
        check_choice("kl_direction", self.kl_direction, ("QP", "PQ"))
        check_choice("kl_nodes", self.kl_nodes, ("all", "outside-noisy"))
        if self.fusion == "concatenation" and not self.told:
            raise ConfigError(
                "Expected `told` to be true where `fusion` is concatenation, but got false: with labels among the "
                "features nobody knows what a network would say without one. Use prototypes."
            )
        if self.negatives < 0:
            raise ConfigError(f"Expected `negatives` to be at least 0, but got {self.negatives}.")
