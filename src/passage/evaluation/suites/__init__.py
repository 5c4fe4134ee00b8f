"""Readers of suites: TOML, JSON, JSONL, CSV, and folders in BEIR's layout."""
