"""Packed strings come back as they went in, whatever is in them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnp.datasets.packed_text import pack, unpack


@given(st.lists(st.text(st.characters(codec="utf-8")), max_size=20))
def test_strings_survive(strings: list[str]) -> None:
    data, ends = pack(strings)
    assert unpack(data, ends) == tuple(strings)
    assert data.nbytes == sum(len(string.encode()) for string in strings)


def test_arrays_that_do_not_fit_are_refused() -> None:
    data, ends = pack(["one", "two"])
    for bad in (ends[:1], ends + 1, np.array([5, 3, 6]), ends.astype(float)):
        with pytest.raises(ValueError, match=r"expected bytes|do not divide"):
            unpack(data, bad)
