"""Ten lines: handwritten digits as a graph, six labels in ten made wrong, a classifier that resists."""

from lnp import LNPClassifier, load_dataset
from lnp.experiments.protocol import prepare
from lnp.seeds import Seeds

digits = load_dataset("digits")
task = prepare(digits, "strict", noise="flip", rate=0.6, seeds=Seeds(0), selection="last")
classifier = LNPClassifier(version="channel", selection="last").fit(task.graph, task.observed)
print(f"{digits.graph}, {task.observed.trusted_nodes.size} trusted labels")
print(f"right among the given labels of the training nodes: {1 - task.corruption.realised_rate:.0%}")
print(f"right among the predictions for nodes never seen:   {classifier.score(digits.truth, task.split.test):.0%}")
