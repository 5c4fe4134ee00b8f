SITENAME = "Harbour mill"
SITEURL = ""
PATH = "content"
TIMEZONE = "UTC"
DEFAULT_LANG = "en"
AUTHOR = "The miller"
PAGE_PATHS = ["pages"]
STATIC_PATHS = ["stones.png"]
LINKS = (("Grain", "https://grain.example/"),)
MARKDOWN = {
    "extension_configs": {
        "markdown.extensions.codehilite": {"linenums": True},
        "markdown.extensions.extra": {},
        "markdown.extensions.admonition": {},
        "markdown.extensions.toc": {"permalink": True},
    },
    "output_format": "html5",
}
