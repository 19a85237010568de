"""Several seeds of one method at once, step by step together."""
