"""Node classification on graphs whose labels cannot be trusted."""

__version__ = "0.1.0"
