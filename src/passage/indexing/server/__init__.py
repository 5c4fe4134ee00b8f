"""Keeps an index in a collection of a Qdrant server or Qdrant Cloud."""
