"""Many strings as two plain arrays, for files without pickle: all UTF-8 bytes in a row, and where each string ends.

numpy's own text arrays give every string the room of the longest; one long abstract among two million would cost
gigabytes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["pack", "unpack"]


def pack(strings: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of all strings, and the end of each within them.

    >>> data, ends = pack(["a", "", "né"])
    >>> data.tobytes().decode(), ends.tolist()
    ('ané', [1, 1, 4])
    """
    parts = [string.encode("utf-8", "surrogatepass") for string in strings]
    lengths = np.fromiter(map(len, parts), np.int64, len(parts))
    return np.frombuffer(b"".join(parts), np.uint8), np.cumsum(lengths)


def unpack(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> tuple[str, ...]:
    """The strings that :func:`pack` was given. A ``ValueError`` says that the two arrays do not fit each other.

    >>> unpack(*pack(["a", "", "né"]))
    ('a', '', 'né')
    """
    if data.ndim != 1 or data.dtype != np.uint8 or ends.ndim != 1 or not np.issubdtype(ends.dtype, np.integer):
        raise ValueError(f"expected bytes and their ends, got {data.dtype} {data.shape} and {ends.dtype} {ends.shape}")
    bounds = np.concatenate([np.zeros(1, np.int64), ends.astype(np.int64)])
    if bounds[-1] != data.size or (np.diff(bounds) < 0).any():
        raise ValueError(f"the ends of {ends.size} strings do not divide {data.size} bytes")
    whole, places = data.tobytes(), bounds.tolist()
    return tuple(whole[start:end].decode("utf-8", "surrogatepass") for start, end in itertools.pairwise(places))
