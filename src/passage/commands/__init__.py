"""The commands of `passage.cli`, one module each."""
