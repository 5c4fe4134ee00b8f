"""The retrieval itself. Knows no AWS, HTTP, Cohere, Qdrant or environment variable."""
