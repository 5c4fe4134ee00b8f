"""Prunes the layer's packages; the recipe runs it as `python -m prune <folder>`. Needs the standard library only."""
