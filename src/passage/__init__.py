"""What the owner of a site runs on their own machine: the `passage` command and the emulators behind it."""
