"""`make faults`: every service of the function fails in every way, and docs/reliability.md says what came of it."""
