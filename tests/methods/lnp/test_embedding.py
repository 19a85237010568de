"""Norms of H."""

from __future__ import annotations

import torch

from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.embedding import Embedding
from lnp.seeds import Seeds


def test_unit_rows_have_the_norm_of_the_scale_and_raw_rows_are_the_network(batch) -> None:  # type: ignore[no-untyped-def]
    with torch.no_grad():
        for scale in (1.0, 5.0):
            unit = Embedding(LNPConfig(hidden=4, scale=scale), batch, Seeds(0).generator("initialisation")).eval()
            torch.testing.assert_close(unit(batch.graph, None).norm(dim=1), torch.full((60,), scale))
        raw = Embedding(LNPConfig(hidden=4, embedding="raw"), batch, Seeds(0).generator("initialisation")).eval()
        outputs = raw.network(batch.graph)
        torch.testing.assert_close(raw(batch.graph, None), outputs)
        torch.testing.assert_close(unit(batch.graph, None), 5 * outputs / outputs.norm(dim=1, keepdim=True))
