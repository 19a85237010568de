"""Losses: pure functions with one value per node."""
