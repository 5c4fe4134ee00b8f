"""Readers of suites: TOML, JSONL, seed 001's JSON, and folders in BEIR's layout."""
