"""The demo page of `passage serve`: the site's pages, the widget, and a panel that shows how each answer came about."""

from pathlib import Path

import click

from passage.local.demo.book import Book
from passage.local.demo.routes import add_demo
from passage.sites.model import SiteError

__all__ = ["add_demo", "find_book"]


def find_book(folder: Path) -> Book:
    """The site in a folder of Markdown. Raises ClickException, with what is missing."""
    try:
        return Book.of(folder)
    except SiteError as error:
        raise click.ClickException(f"--site: {error}") from error
