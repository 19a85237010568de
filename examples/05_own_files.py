"""Your own files: a table of papers and a table of citations, some labels wrong, a few of them checked.

``python 05_own_files.py papers`` writes the two files into the folder ``papers`` and stops: the guide docs/own_data.md
goes on from there on the command line. Without a folder, the same steps are done in Python.
"""

import csv
import sys
import tempfile
from pathlib import Path

import numpy as np

from lnp import LNPClassifier, load_graph

TOPICS = {
    "databases": "query index join table transaction schema storage record",
    "graphics": "pixel shader mesh texture light render camera surface",
    "networks": "packet router latency protocol link wireless traffic hop",
}
COMMON = "we study new fast method for large data and show results that improve work by others"


def write_files(folder: Path, papers: int = 240) -> np.ndarray:
    """Writes nodes.csv and edges.csv; returns the true topics, which no file has."""
    draw, names = np.random.default_rng(7), list(TOPICS)
    topic = draw.integers(0, 3, papers)
    wrong = draw.random(papers) < 0.3
    given = np.where(wrong, (topic + draw.integers(1, 3, papers)) % 3, topic)
    checked = np.isin(np.arange(papers), [np.flatnonzero(topic == k)[:6] for k in range(3)])
    given[checked] = topic[checked]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "nodes.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "label", "trusted", "abstract", "venue", "year"])
        for i in range(papers):
            words = [*draw.choice(TOPICS[names[topic[i]]].split(), 4), *draw.choice(COMMON.split(), 8)]
            label = "" if draw.random() < 0.2 and not checked[i] else names[given[i]]
            venue, year = draw.choice(["journal", "conference"]), draw.choice(["2009", "2015", "2021", ""])
            writer.writerow([f"paper-{i:03d}", label, int(checked[i]), " ".join(draw.permutation(words)), venue, year])
    pairs = draw.integers(0, papers, (4000, 2))
    alike = topic[pairs[:, 0]] == topic[pairs[:, 1]]
    with (folder / "edges.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "target"])
        for i, j in pairs[draw.random(4000) < np.where(alike, 0.4, 0.03)]:
            writer.writerow([f"paper-{i:03d}", f"paper-{j:03d}"])
    return topic


if len(sys.argv) > 1:
    write_files(Path(sys.argv[1]))
    print(f"Wrote {sys.argv[1]}/nodes.csv and {sys.argv[1]}/edges.csv.")
    sys.exit()

with tempfile.TemporaryDirectory() as name:
    truth = write_files(Path(name))
    own = load_graph(name, name="papers")
print(own)
for finding in own.summary.findings:
    print(f"- {finding.message}")
classifier = LNPClassifier("channel", epochs=100).fit(own.graph, own.labels)
quality, proposed = classifier.label_quality(), classifier.predict()
print("The five labels to check first:")
for i in np.argsort(np.where(own.labels.trusted, np.inf, quality))[:5]:  # those without a label come last
    label, better = own.class_names[own.labels.given[i]], own.class_names[proposed[i]]
    verdict = "indeed wrong" if own.labels.given[i] != truth[i] else "was right"
    print(f"  {own.node_ids[i]}  {label} → {better} ({verdict}):  {own.texts['abstract'][i]}")
print(f"Right among the predictions: {(proposed == truth).mean():.0%}")
