"""The use case: one question or many answered, and failures reported."""
