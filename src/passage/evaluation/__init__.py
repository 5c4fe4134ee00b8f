"""Asks a suite of questions and measures the answers."""
