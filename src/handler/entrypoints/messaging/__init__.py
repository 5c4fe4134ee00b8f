"""Queues, topics and event buses: questions in messages, answers in replies."""
