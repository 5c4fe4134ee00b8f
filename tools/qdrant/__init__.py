"""An HTTP server that emulates Qdrant's REST API."""
