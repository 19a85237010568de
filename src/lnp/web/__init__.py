"""The review page: people look at suspect labels, one after the other, and say what they should be."""
