"""LNP on many nodes: the same formulas, block of rows by block of rows, with gradients written out."""
