"""Event sources: one module for each."""
