"""Readers of a user's own files: tables, XML, arrays, and the graphs of other libraries."""
