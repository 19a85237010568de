"""How good predictions and suspicions are."""
