"""Pages and tables, pure functions of records."""
