"""The prior's rule on hand-made numbers."""

from __future__ import annotations

import torch

from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.prior import Prior, inform
from lnp.seeds import Seeds


def test_noisy_rows_move_half_way_to_the_prototype_of_their_given_label() -> None:
    h = torch.tensor([[2.0, 0.0], [0.0, 2.0], [4.0, 4.0], [9.0, 9.0]])
    noisy = Labelled(torch.tensor([0, 1, 2]), torch.tensor([0, 0, 1]))
    expected = torch.tensor([[1.5, 0.5], [0.5, 1.5], [4.0, 4.0], [9.0, 9.0]])  # r_0 = (1, 1), r_1 = (4, 4)
    torch.testing.assert_close(inform(h, noisy, 3), expected)


def test_version_one_is_the_embedding_itself(batch) -> None:  # type: ignore[no-untyped-def]
    prior = Prior(LNPConfig(hidden=5), batch, Seeds(0).generator("initialisation")).eval()
    noisy = Labelled(batch.noisy, batch.noisy_labels)
    with torch.no_grad():
        h = prior.embedding(batch.graph, None)
        torch.testing.assert_close(prior(batch.graph, None, None), h)
        torch.testing.assert_close(prior(batch.graph, noisy, None), inform(h, noisy, 3))
