"""Room for intermediate results that one computation after another throws away.

A matrix of a hundred megabytes costs more to be handed out by the system, page by page, than to be filled. Networks of
one step that compute one after the other therefore share theirs. A scratch lives as long as the step: whoever holds it
(the networks' gradients do) keeps the memory, and nothing is left behind.
"""

from __future__ import annotations

import math

from torch import Tensor

__all__ = ["Scratch"]


class Scratch:
    """Named pieces of memory, each as large as the largest matrix that it was asked for.

    >>> import torch
    >>> scratch = Scratch()
    >>> wide = scratch.matrix("layer", (3, 4), torch.zeros(1))
    >>> scratch.matrix("layer", (3, 2), wide).data_ptr() == wide.data_ptr()
    True
    """

    def __init__(self) -> None:
        self._pieces: dict[str, Tensor] = {}

    def matrix(self, name: str, shape: tuple[int, int], like: Tensor, *, room: int = 0) -> Tensor:
        """A matrix with whatever numbers were there before; valid until the same name is asked for again.

        Args:
            name: Which piece of memory.
            shape: Rows and columns.
            like: Says where and in which precision.
            room: Columns for which there is to be room in any case, because they will be asked for later.
        """
        wanted = shape[0] * max(shape[1], room)
        piece = self._pieces.get(name)
        if piece is None or piece.numel() < wanted or (piece.dtype, piece.device) != (like.dtype, like.device):
            piece = self._pieces[name] = like.new_empty(wanted)
        return piece[: math.prod(shape)].view(shape)
