"""The tools for a site's owner: the `passage` command and the emulators."""
