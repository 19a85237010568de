"""When two runs are the same: a digest of everything that determines one."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, MutableMapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from lnp.datasets.annotations import llm_labels
from lnp.datasets.catalog import load_dataset
from lnp.datasets.dataset import Dataset
from lnp.datasets.download import cache_folder
from lnp.datasets.npz import data_folder
from lnp.engine.noise_channel import RULE
from lnp.errors import DataError
from lnp.experiments.code_version import SOURCE, code_version, digest_modules
from lnp.experiments.complete import list_files
from lnp.experiments.protocol import ANNOTATIONS, get_protocol
from lnp.experiments.spec import RunSpec
from lnp.noise.registry import MATRIX_PREFIX

__all__ = [
    "DatasetFacts",
    "FactsCache",
    "Identity",
    "data_folders",
    "dataset_facts",
    "identify",
    "matrix_digest",
    "none_at_hand",
]

CHANNEL = "lnp.engine.noise_channel"
"""What runs go through whose epoch is chosen behind a channel."""


@dataclass(frozen=True)
class DatasetFacts:
    """What of a dataset enters the identity of a run: its content, and the scaling that goes with it."""

    checksum: str
    scaling: str


FactsCache = MutableMapping[str, DatasetFacts]
"""Where facts are kept between runs of a program; the store has one."""


@dataclass(frozen=True)
class Identity:
    """Names of a run.

    Args:
        key: Of the run with the code as it is.
        settings: Of the run whatever the code: equal for runs that differ in the code version alone.
        code_version: What :func:`~lnp.experiments.code_version.code_version` says of the method.
    """

    key: str
    settings: str
    code_version: str


def identify(spec: RunSpec, facts: DatasetFacts) -> Identity:
    """The identity of a run: equal however its options were written down, different if anything else is."""
    rules = get_protocol(spec.protocol)
    settings = _digest(
        {
            "data": facts.checksum,
            "protocol": [spec.protocol, rules.split, rules.trusted_share],
            "noise": [spec.noise, dict(rules.noise_names).get(spec.noise, spec.noise)],
            "noise file": _noise_file(spec),
            "rate": float(spec.rate),
            "method": spec.method,
            "config": asdict(spec.config()),
            "seed": spec.seed,
            "trusted size": spec.trusted_size,
            "selection": spec.rule,
            "scaling": spec.scaling or facts.scaling,
            "patience": spec.patience,
            **({} if spec.batch == "full" else {"batch": spec.batch}),
        }
    )
    version = code_version(spec.method, *([CHANNEL] if spec.rule == RULE else []))
    return Identity(_digest([settings, version]), settings, version)


def dataset_facts(name: str, cache: FactsCache | None = None) -> DatasetFacts:
    """The facts of a dataset, from ``cache`` if no file has changed since they were kept there, else by loading it."""
    if cache is None or "path=" in name:  # nothing tells whether a file elsewhere has changed
        return _facts(load_dataset(name))
    stamp = f"{name} {_files_stamp()}"
    if stamp not in cache:
        cache[stamp] = _facts(load_dataset(name))
    return cache[stamp]


def none_at_hand(reasons: Mapping[str, str]) -> DataError:
    """The error where no dataset can be had: the reason of the first, which is that of the others as a rule.

    >>> print(none_at_hand({"cora": "No network.", "pubmed": "No network.", "actor": "No network."}))
    Expected at least one of the datasets to be at hand, but: No network. Nor are pubmed, actor.
    """
    reason, others = next(iter(reasons.values())), list(reasons)[1:]
    nor = f" Nor {'are' if len(others) > 1 else 'is'} {', '.join(others)}." if others else ""
    return DataError(f"Expected at least one of the datasets to be at hand, but: {reason}{nor}")


def data_folders() -> list[Path]:
    """Where data files are looked for."""
    named = data_folder()
    return [*([] if named is None else [named]), cache_folder()]


def _facts(dataset: Dataset) -> DatasetFacts:
    digest = hashlib.sha256(dataset.graph.checksum.encode())
    digest.update(dataset.truth.labels.tobytes())
    for split in dataset.public_splits:
        for part in (split.train, split.validation, split.test):
            digest.update(f"{part.size} ".encode() + part.tobytes())
    return DatasetFacts(digest.hexdigest()[:16], dataset.scaling)


def _files_stamp() -> str:
    """A digest of which data files there are, how large and how old, and of the code that reads or makes graphs."""
    return _digest([[[str(folder), list_files(folder)] for folder in data_folders()], _readers_version()])


@cache
def _readers_version() -> str:
    return digest_modules([f"lnp.datasets.{path.stem}" for path in (SOURCE / "datasets").glob("*.py")], SOURCE)


def _noise_file(spec: RunSpec) -> str | None:
    """A digest of the labels or the matrix, where the noise comes from a file."""
    if spec.noise == ANNOTATIONS:
        return _annotations_digest(spec.dataset, os.environ.get("LNP_DATA", ""))
    return matrix_digest(spec.noise)


def matrix_digest(noise: str) -> str | None:
    """A digest of the file with the matrix; ``None`` where the noise comes from none."""
    if not noise.startswith(MATRIX_PREFIX):
        return None
    return hashlib.sha256(Path(noise.removeprefix(MATRIX_PREFIX)).read_bytes()).hexdigest()


@cache
def _annotations_digest(dataset: str, folder: str) -> str:
    return hashlib.sha256(llm_labels(dataset).tobytes()).hexdigest()


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]
