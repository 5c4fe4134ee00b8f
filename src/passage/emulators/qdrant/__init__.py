"""An HTTP server that answers as Qdrant's REST API does."""
