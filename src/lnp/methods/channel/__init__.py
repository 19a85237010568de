"""LNP with a noise channel: the true labels are latent, and one network stands where the paper has three."""
