"""Read a documentation site."""
