"""An HTTP server that emulates Cohere's API."""
