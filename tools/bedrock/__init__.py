"""An HTTP server that emulates Bedrock's runtime API."""
