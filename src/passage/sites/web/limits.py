"""The limits of fetching a site. A run that fetches none imports nothing else of this package."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The limits of fetching in one run.

    Attributes:
        pages: the most URLs of pages to request.
        bytes: of all responses together, uncompressed.
        minutes: from the first request.
        rate: requests a second; a longer `Crawl-delay` of robots.txt comes first.
    """

    pages: int = 5_000
    bytes: int = 500_000_000
    minutes: float = 60.0
    rate: float = 5.0
