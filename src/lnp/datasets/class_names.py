"""Names of classes, where they are public and certain. Every other graph's classes are called by their number."""

from __future__ import annotations

__all__ = ["CLASS_NAMES"]

SUBJECT_CODES = (
    "NA MM LO CY CR DC HC CE NI CC AI MA GL NE SC AR CV GR ET SY "
    "CG OH PL SE LG SD SI RO IT PF CL IR MS FL DS OS GT DB DL DM"
)
ARXIV_SUBJECTS = tuple(f"cs.{code}" for code in SUBJECT_CODES.split())

CLASS_NAMES: dict[str, tuple[str, ...]] = {
    "cora": (
        "theory",
        "reinforcement learning",
        "genetic algorithms",
        "neural networks",
        "probabilistic methods",
        "case based",
        "rule learning",
    ),
    "citeseer": (
        "artificial intelligence",
        "machine learning",
        "information retrieval",
        "databases",
        "agents",
        "human-computer interaction",
    ),
    "pubmed": ("experimental diabetes", "type 1 diabetes", "type 2 diabetes"),
    "ogbn-arxiv": ARXIV_SUBJECTS,
    "ogbn-arxiv-structural": ARXIV_SUBJECTS,
    "arxiv-year": ("to 2013", "2014–2015", "2016–2017", "2018", "from 2019"),
    "tolokers": ("not banned", "banned"),
    "minesweeper": ("free", "mine"),
    "twitch-de": ("not mature", "mature"),
    "npm-downloads": ("under 10", "10–16", "17–31", "32–153", "from 154"),
    "ncbi-taxonomy": (
        "bacteria",
        "invertebrates",
        "mammals",
        "phages",
        "plants and fungi",
        "primates",
        "rodents",
        "synthetic",
        "unassigned",
        "viruses",
        "vertebrates",
        "environmental samples",
    ),
    "ncbi-taxonomy-rank": ("species", "no rank", "genus", "strain", "subspecies", "other"),
}
"""Dataset → names in the order of the class numbers."""
