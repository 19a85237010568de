"""The parameters and buffers of all seeds, each name one tensor with the seeds along its first dimension."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor, nn

from lnp.methods.base import Method

__all__ = ["StackedState"]


class StackedState:
    """Takes the state of several methods into one place; each method keeps a view of its own part.

    So whatever one method does to its own state (load a selected one, update a buffer) happens to the stack, and what
    an optimiser does to the stack happens to every method. A number or truth value without dimensions (an epoch
    counter, a switch) is the same in all seeds that are training and stays with the methods.

    Attributes:
        tensors: Name → ``(S, …)``; parameters are leaves that want a gradient.
    """

    def __init__(self, methods: Sequence[Method]) -> None:
        self.methods = methods
        self.tensors: dict[str, Tensor] = {}
        for name, parameter in methods[0].named_parameters():
            stack = torch.stack([method.get_parameter(name).detach() for method in methods])
            for method, view in zip(methods, stack.unbind(), strict=True):
                method.get_parameter(name).data = view
            self.tensors[name] = stack.requires_grad_(parameter.requires_grad)
        for name, buffer in methods[0].named_buffers():
            if _is_common(buffer):
                continue
            self.tensors[name] = torch.stack([method.get_buffer(name) for method in methods])
            for method, view in zip(methods, self.tensors[name].unbind(), strict=True):
                _set_buffer(method, name, view)

    def common(self, seed: int) -> dict[str, Tensor]:
        """Counters and switches, as the method of that number has them."""
        return {name: buffer for name, buffer in self.methods[seed].named_buffers() if _is_common(buffer)}

    def select(self, method: Method, parameters: Iterable[nn.Parameter]) -> list[Tensor]:
        """The stacks that go by the names which ``parameters`` have in ``method``."""
        names = {id(parameter): name for name, parameter in method.named_parameters()}
        return [self.tensors[names[id(parameter)]] for parameter in parameters]

    def release(self) -> None:
        """Gives every method a state of its own again."""
        for method in self.methods:
            for name, parameter in method.named_parameters():
                if name in self.tensors:
                    parameter.data = parameter.detach().clone()
            for name in self._buffers(method):
                _set_buffer(method, name, method.get_buffer(name).clone())

    def _buffers(self, method: Method) -> Iterator[str]:
        return (name for name, _ in list(method.named_buffers()) if name in self.tensors)


def _is_common(buffer: Tensor) -> bool:
    return buffer.dim() == 0 and not buffer.is_floating_point()


def _set_buffer(method: Method, name: str, value: Tensor) -> None:
    parent, _, leaf = name.rpartition(".")
    setattr(method.get_submodule(parent), leaf, value)
