"""Cohere's models on Amazon Bedrock."""
