"""Every option is checked at the door."""

from __future__ import annotations

import pytest

from lnp.errors import ConfigError
from lnp.methods.lnp.config import LNPConfig


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lambda_1": -0.1}, r"`lambda_1` to be in \[0, 1e\+06\], but got -0.1"),
        ({"delta": 1.5}, r"`delta` to be in \[0, 1\]"),
        ({"scale": 0.0}, "`scale`"),
        ({"tau": float("nan")}, "`tau`"),
        ({"similarity": "euclid"}, "one of cosine, minmax, probability, random, but got 'euclid'"),
        ({"fusion": "sum"}, "one of concatenation, prototypes"),
        ({"fusion": "concatenation", "told": False}, "`told` to be true where `fusion` is concatenation"),
        ({"negatives": -1}, "`negatives` to be at least 0"),
        ({"kl_direction": "JS"}, "one of PQ, QP"),
        ({"backbone": "gat"}, "one of gcn, h2gcn, mlp"),
    ],
)
def test_bad_options_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LNPConfig(**options)  # type: ignore[arg-type]
