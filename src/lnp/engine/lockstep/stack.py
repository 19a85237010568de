"""From one seed's point of view to all seeds at once.

A method is written for one seed. :func:`torch.func.vmap` runs such code for a whole stack of seeds: inside, every
tensor looks like that of one seed. Where one computation for all seeds together is faster, or where chance is drawn,
:func:`on_stack` steps outside and hands over the tensors as they are, with the seeds along the first dimension.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor
from torch._C import _functorch as functorch
from torch._functorch.pyfunctorch import VmapInterpreter, retrieve_current_functorch_interpreter

__all__ = ["on_stack"]


def on_stack(function: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """Inside ``vmap``: calls ``function`` once, with ``(S, …)`` tensors, and takes its result as one per seed.

    Args:
        function: From stacked tensors to one stacked tensor; differentiated as it is.
        tensors: What it gets; those that are the same for all seeds are repeated.

    >>> import torch
    >>> double = lambda stack: stack * torch.tensor([[1.0], [2.0]])
    >>> torch.func.vmap(lambda row: on_stack(double, row))(torch.ones(2, 3)).tolist()
    [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
    """
    interpreter = retrieve_current_functorch_interpreter()
    assert isinstance(interpreter, VmapInterpreter)
    level, count = interpreter.level(), interpreter.batch_size()
    stacked = [_outside(tensor, level, count) for tensor in tensors]
    # An autograd.Function with a rule for vmap would say the same, and spend more time on it than a small network.
    with interpreter.lower():
        result = function(*stacked)
    inside: Tensor = functorch._add_batch_dim(result, 0, level)
    return inside


def _outside(tensor: Tensor, level: int, count: int) -> Tensor:
    if functorch.is_batchedtensor(tensor) and functorch.maybe_get_level(tensor) == level:
        whole: Tensor = functorch.get_unwrapped(tensor)
        return whole.movedim(functorch.maybe_get_bdim(tensor), 0)
    return tensor.expand(count, *tensor.shape)
