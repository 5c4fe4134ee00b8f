"""The contracts: what a caller sends and gets. A new one is a module here and a name in `registry`."""
