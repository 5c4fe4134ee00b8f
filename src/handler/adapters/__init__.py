"""The only modules that import an SDK. They translate its types and errors into the core's."""
