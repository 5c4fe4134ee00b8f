"""Reads a site from Markdown: MkDocs' sources, or a folder without a generator."""

from passage.sites.markdown.site import MarkdownSite, find_site

__all__ = ["MarkdownSite", "find_site"]
