"""A collection of a Qdrant server or Qdrant Cloud as the place of an index."""
