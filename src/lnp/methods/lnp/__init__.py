"""LNP: label noise resisted with a probabilistic graphical model."""
