"""Reads a site from its Markdown sources, by the conventions of the generator that builds it."""

from passage.sites.markdown.site import MarkdownSite, find_site

__all__ = ["MarkdownSite", "find_site"]
