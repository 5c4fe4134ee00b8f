"""Reads a published site over HTTP: politely, within its origin, and bounded."""
