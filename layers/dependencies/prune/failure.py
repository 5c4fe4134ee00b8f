"""The one exception of the build step."""


class PruneFailed(Exception):
    """A package does not fit the list any more; says which line of the list, and what is wrong."""
