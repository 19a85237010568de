from __future__ import annotations

import warnings

import pytest

from lnp.graph.csr_notice import without_csr_notice


@pytest.mark.parametrize(
    "text", ["Sparse CSR tensor support is in beta state.", "Sparse invariant checks are disabled."]
)
def test_only_the_notice_is_silenced(text: str) -> None:
    with without_csr_notice():
        warnings.warn(text, UserWarning, stacklevel=1)  # an error everywhere else in these tests
        with pytest.raises(UserWarning, match="loss is not finite"):
            warnings.warn("The loss is not finite.", UserWarning, stacklevel=1)
    with pytest.raises(UserWarning, match="Sparse"):
        warnings.warn(text, UserWarning, stacklevel=1)
