"""Event sources: one module for each way a question arrives."""
