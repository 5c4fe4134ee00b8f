"""An HTTP server that answers as Cohere's API does."""
