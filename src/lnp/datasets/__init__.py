"""Graphs to try methods on."""
