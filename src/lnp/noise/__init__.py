"""Ways in which labels go wrong."""
