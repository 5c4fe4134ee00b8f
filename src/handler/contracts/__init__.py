"""The contracts: each a shape of request and response. A new one is a module here and a name in `registry`."""
