"""Pictures against another reader of the format."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest

from lnp.report.pictures import data_uri, png

image = pytest.importorskip("PIL.Image")


def test_another_library_reads_the_same_pixels() -> None:
    ink = np.random.default_rng(0).random((5, 8))
    read = np.asarray(image.open(io.BytesIO(png(ink))))
    np.testing.assert_array_equal(read, np.rint(255 * (1 - ink)))


def test_the_uri_holds_the_file() -> None:
    kind, _, text = data_uri([[0, 0.5], [1, 2]]).partition(",")
    assert kind == "data:image/png;base64"
    assert np.asarray(image.open(io.BytesIO(base64.b64decode(text)))).tolist() == [[255, 128], [0, 0]]
