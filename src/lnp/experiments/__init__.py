"""From a specification to a record."""
