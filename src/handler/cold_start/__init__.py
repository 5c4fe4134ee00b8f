"""Keeps a cold start short at run time: no collection, models built late, a warm-up. `make build` does the rest."""
