"""An HTTP server that answers as Bedrock's runtime API does."""
