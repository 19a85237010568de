"""Your own data: a graph from arrays, class names, given labels, a few checked ones; then, which labels to check next.

The story: 300 documents in three languages, described by how often they use 40 words (a sparse matrix, most of it
zero), linked when one cites the other. Somebody labelled them in a hurry; for five per language the label was checked.
"""

import numpy as np
import scipy.sparse as sp

from lnp import Graph, LNPClassifier

CLASS_NAMES = ("Basque", "Finnish", "Welsh")
draw = np.random.default_rng(7)

# Documents: 300 true languages, words that lean towards one of them, citations mostly within a language.
language = draw.integers(0, 3, 300)
leaning = np.where(np.arange(40) % 3 == language[:, None], 0.35, 0.15)
words = sp.csr_array(draw.binomial(1, leaning))
pairs = draw.integers(0, 300, (2, 6000))
alike = language[pairs[0]] == language[pairs[1]]
citations = pairs[:, draw.random(6000) < np.where(alike, 0.3, 0.03)]

# Labels: text as people write it, one in five wrong; the checked ones are right. "" means nobody labelled it.
hurried = np.where(draw.random(300) < 0.2, draw.integers(0, 3, 300), language)
text = np.array(CLASS_NAMES, dtype=object)[hurried]
text[draw.random(300) < 0.3] = ""
checked = np.zeros(300, bool)
for k in range(3):
    checked[np.flatnonzero(language == k)[:5]] = True
text[checked] = np.array(CLASS_NAMES, dtype=object)[language[checked]]

# From here on it is what you would do: names to numbers (-1 for unknown), a graph, a fit, the list to check.
number = {name: k for k, name in enumerate(CLASS_NAMES)}
given = np.array([number.get(label, -1) for label in text])
ids = tuple(f"doc-{i:03d}" for i in range(300))
graph = Graph.from_edges(citations, words, class_names=CLASS_NAMES, node_ids=ids, name="documents")
classifier = LNPClassifier(version=2, epochs=100).fit(graph, given, trusted=checked)

quality, proposed = classifier.label_quality(), classifier.predict()
suspects = np.argsort(np.where(checked, np.inf, quality))[:10]  # unlabelled documents (not a number) come last
print(graph)
print("The ten labels to check first:")
for i in suspects:
    verdict = "indeed wrong" if given[i] != language[i] else "was right"
    print(f"  {ids[i]}  given {text[i]:8} proposed {CLASS_NAMES[proposed[i]]:8} quality {quality[i]:.2f}  ({verdict})")
unlabelled = given == -1
print(f"Accuracy on the {unlabelled.sum()} documents without a label: {classifier.score(language, unlabelled):.0%}")
