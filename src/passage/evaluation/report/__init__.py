"""The HTML report of a run: one file, without scripts, that loads nothing."""
