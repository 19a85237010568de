"""Mean and spread against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from lnp.report.statistics import mean_and_sd, percent


def test_the_spread_is_that_of_a_sample() -> None:
    values = np.random.default_rng(0).random(7).tolist()
    mean, sd = mean_and_sd(values)
    assert mean == pytest.approx(np.mean(values))
    assert sd == pytest.approx(np.std(values, ddof=1))
    assert mean_and_sd([0.5]) == (0.5, None)
    assert percent(values) == f"{100 * np.mean(values):.1f} ± {100 * np.std(values, ddof=1):.1f}"
