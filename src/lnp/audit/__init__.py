"""Finding wrong labels."""
