"""The use case: answers one question or many, and reports failures."""
