"""Train once, predict later: a model is a folder with a safetensors and a JSON file, and holds no code."""

import tempfile
from pathlib import Path

import numpy as np

from lnp import InputError, LNPClassifier, load_dataset

dataset = load_dataset("synthetic", nodes=400)
draw = np.random.default_rng(0)
given = np.where(draw.random(400) < 0.3, draw.integers(0, 5, 400), dataset.truth.labels)
trusted = np.arange(400) < 40
given[trusted] = dataset.truth.labels[trusted]

with tempfile.TemporaryDirectory() as home:
    folder = Path(home) / "model"
    classifier = LNPClassifier(version=2, epochs=60, options={"lambda_1": 0.5})
    classifier.fit(dataset.graph, given, trusted=trusted)
    classifier.save(folder)
    for file in sorted(folder.iterdir()):
        print(f"wrote {file.name}, {file.stat().st_size / 1024:.0f} KiB")

    # With the graph: the trained method is back and predicts the same to the last bit.
    again = LNPClassifier.load(folder, dataset.graph)
    same = np.array_equal(again.predict_proba(), classifier.predict_proba())
    print(f"loaded {again}; same probabilities: {same}; accuracy {again.score(dataset.truth):.0%}")

    # Without it: the stored predictions serve, for instance in a web service that has no need of the graph.
    stored = LNPClassifier.load(folder)
    print(f"node 7 is of class {stored.predict([7])[0]} with probability {stored.predict_proba([7]).max():.2f}")

    # With another graph: refused, and the message says what differs.
    try:
        LNPClassifier.load(folder, load_dataset("synthetic", nodes=400, homophily=0.5).graph)
    except InputError as error:
        print(str(error).replace(str(folder), "model"))
