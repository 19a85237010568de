"""Methods, one file each."""
