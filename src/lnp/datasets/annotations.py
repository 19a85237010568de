"""Labels that a language model gave: real mistakes, not drawn ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lnp.datasets.npz import data_folder, read_arrays
from lnp.errors import DataError, UnknownNameError

__all__ = ["LLM_LABELS", "llm_labels"]

FILE = "llm_labels.npz"

LLM_LABELS: dict[str, str] = {"cora": "cora", "ogbn-arxiv-structural": "ogbn_arxiv_top5"}
"""Dataset → key in the file of annotations."""


def llm_labels(name: str) -> NDArray[np.int64]:
    """The first guess of a language model for every node, from title and abstract; −1 where it made none.

    About a third (Cora) and a quarter (ogbn-arxiv) are wrong, and which ones depends on the paper, so this is noise as
    annotators make it. Train on these, test on the truth.

    Args:
        name: A name of :data:`LLM_LABELS`; the class numbers are those of that dataset.
    """
    if name not in LLM_LABELS:
        raise UnknownNameError("dataset with language-model labels", name, LLM_LABELS)
    folder = data_folder()
    if folder is None:
        raise DataError(f"Expected LNP_DATA to name a folder with {FILE}, but it is not set.")
    ranked = read_arrays(folder / FILE, (LLM_LABELS[name],))[LLM_LABELS[name]]
    if ranked.ndim != 2 or not np.issubdtype(ranked.dtype, np.integer):
        raise DataError(
            f"Expected `{LLM_LABELS[name]}` of {FILE} to be one row of guesses per node, but got shape {ranked.shape} "
            f"of {ranked.dtype}."
        )
    return ranked[:, 0].astype(np.int64)
