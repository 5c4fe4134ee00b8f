"""Cohere's API through the official SDK."""
