"""The composition root: builds adapters from settings."""
