"""The commands that have more to say than `passage.cli` has room for, one module each."""
