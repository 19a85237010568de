from __future__ import annotations

import torch

from lnp.nn.scratch import Scratch


def test_a_piece_is_handed_out_again_and_grows_where_it_must() -> None:
    scratch, like = Scratch(), torch.zeros(1)
    first = scratch.matrix("a", (5, 2), like, room=4)
    assert first.shape == (5, 2)
    assert first.is_contiguous()
    wide = scratch.matrix("a", (5, 4), like)
    assert wide.data_ptr() == first.data_ptr()  # there was room
    assert scratch.matrix("b", (5, 4), like).data_ptr() != wide.data_ptr()
    assert scratch.matrix("a", (6, 4), like).shape == (6, 4)
    double = scratch.matrix("a", (2, 2), like.double())
    assert double.dtype == torch.float64
