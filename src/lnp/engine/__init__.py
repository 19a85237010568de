"""The epoch loop and what belongs to it."""
