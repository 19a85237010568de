"""One recorded seed, many independent streams of random numbers.

Nothing in this package seeds or draws from a global generator: every function that needs chance takes a
:class:`numpy.random.Generator`, and all generators of a run come from one :class:`Seeds`. Streams are drawn on the
CPU, so a run makes the same choices on every device.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from lnp.errors import ConfigError

__all__ = ["Generator", "Randomness", "Seeds"]

Generator = np.random.Generator


@dataclass(frozen=True)
class Seeds:
    """Named generators derived from one seed: drawing more from one never shifts another.

    >>> seeds = Seeds(7)
    >>> float(seeds.generator("noise").random()) == float(seeds.generator("noise").random())
    True
    >>> float(seeds.generator("noise").random()) == float(seeds.generator("split").random())
    False
    """

    seed: int

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ConfigError(f"Expected `seed` to be a whole number from 0, but got {self.seed}.")

    def generator(self, purpose: str) -> Generator:
        """A new generator for ``purpose``: "split", "trusted", "noise", "initialisation", "dropout", …."""
        key = zlib.crc32(purpose.encode())  # stable across processes, unlike hash()
        # SFC64 draws fast and is seeded through the same entropy pool as every other numpy generator.
        return Generator(np.random.SFC64(np.random.SeedSequence([self.seed, key])))

    def randomness(self) -> Randomness:
        """The streams that training consumes."""
        return Randomness(dropout=self.generator("dropout"), sampling=self.generator("sampling"))


@dataclass(frozen=True)
class Randomness:
    """The streams that training consumes; their state is part of a checkpoint."""

    dropout: Generator
    sampling: Generator

    def state(self) -> dict[str, dict[str, object]]:
        """The position of every stream, as JSON-ready values."""
        return {name: _plain(getattr(self, name).bit_generator.state) for name in ("dropout", "sampling")}

    def restore(self, state: dict[str, dict[str, object]]) -> None:
        """Continues from a position that :meth:`state` returned."""
        for name in ("dropout", "sampling"):
            getattr(self, name).bit_generator.state = state[name]


def _plain(value: object) -> dict[str, object]:
    assert isinstance(value, dict)
    plain: dict[str, object] = {}
    for key, item in value.items():
        if isinstance(item, dict):
            plain[key] = _plain(item)
        elif isinstance(item, np.ndarray):
            plain[key] = [int(number) for number in item]
        else:
            plain[key] = item if isinstance(item, str) else int(item)
    return plain
