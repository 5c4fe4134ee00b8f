"""MCP: the Model Context Protocol, by which coding assistants search the site. Loaded at its first request."""
