"""Graphs, labels and splits."""
