"""From a site's Markdown to an index: find the pages, cut them by their structure, embed, write."""
