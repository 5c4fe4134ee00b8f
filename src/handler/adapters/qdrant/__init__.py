"""The two vector stores: a Qdrant server, and a Qdrant Edge index."""
