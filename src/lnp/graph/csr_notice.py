"""PyTorch's notices that sparse CSR tensors are new: news, not trouble, and the same at every call."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_csr_notice"]


@contextmanager
def without_csr_notice() -> Iterator[None]:
    """Silences these notices and no other warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse (CSR tensor support|invariant checks)")
        yield
