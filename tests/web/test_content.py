from __future__ import annotations

import base64
import zlib
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from lnp.datasets.own_graph import OwnGraph
from lnp.web.content import FEATURES, SNIPPET, Content


def pixels(uri: str) -> np.ndarray:
    """The shades of a small grey PNG, decoded by hand."""
    raw = base64.b64decode(uri.removeprefix("data:image/png;base64,"))
    width, height = (int.from_bytes(raw[k : k + 4], "big") for k in (16, 20))
    start = raw.index(b"IDAT")
    size = int.from_bytes(raw[start - 4 : start], "big")
    rows = np.frombuffer(zlib.decompress(raw[start + 4 : start + 4 + size]), np.uint8).reshape(height, width + 1)
    return rows[:, 1:]


def test_a_picture_is_its_features_with_ink_for_large_ones(own: OwnGraph) -> None:
    uri = Content(own).picture(5)
    assert uri is not None
    shown = 1 - pixels(uri) / 255
    expected = own.graph.features[5].reshape(2, 3) / own.graph.features.max()
    np.testing.assert_allclose(shown, expected, atol=1 / 255)


def test_without_a_shape_there_is_no_picture(own: OwnGraph) -> None:
    assert Content(replace(own, picture_shape=None)).picture(5) is None


def test_dense_features_stand_out_by_their_distance_from_the_mean(own: OwnGraph) -> None:
    generator = np.random.default_rng(0)
    features = generator.normal(size=(60, 30))
    features[:, 4] = 7.0  # never stands out: all nodes have it
    wide = replace(own, graph=own.graph.with_features(features), feature_names=(), picture_shape=None)
    shown = Content(wide).strongest(9)
    centred = wide.graph.features - wide.graph.features.mean(axis=0)
    deviations = np.abs(centred / np.where(np.arange(30) == 4, 1, centred.std(axis=0)))[9]
    deviations[4] = 0
    best = np.argsort(-deviations)[:FEATURES]
    assert [one.name for one in shown] == [f"feature {k}" for k in best]
    np.testing.assert_allclose([one.strength for one in shown], deviations[best] / deviations.max(), rtol=1e-4)
    assert shown[0].note.startswith(f"{deviations.max():.1f} sd")


def test_of_a_bag_of_words_the_heaviest_words_are_shown(own: OwnGraph) -> None:
    words = sp.csr_array(np.where(np.arange(6) % 2, np.arange(6.0), 0.0)[None].repeat(60, axis=0))
    sparse = replace(own, graph=own.graph.with_features(words), picture_shape=None)
    shown = Content(sparse).strongest(0)
    assert [(one.name, one.value) for one in shown] == [("f", "5"), ("d", "3"), ("b", "1")]
    assert [one.strength for one in shown] == [1.0, 0.6, 0.2]


def test_texts_and_snippets(own: OwnGraph) -> None:
    long = tuple("word\n" * 100 for _ in range(60))
    texts = Content(replace(own, texts={"empty": ("",) * 60, "body": long}))
    assert texts.texts(3) == [("body", long[3])]
    snippet = texts.snippet(3)
    assert snippet.startswith("word word")
    assert snippet.endswith("…")
    assert len(snippet) <= SNIPPET
    assert Content(replace(own, texts={})).snippet(0) == ""
