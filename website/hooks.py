"""MkDocs hooks: pages made from the code, links to files outside of docs/, and the widget's script."""

import posixpath
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from website import reference

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(((?:\.\./)+[^)\s]*)\)")
"""A link that begins with `../`: its text, and its target."""
HREF = re.compile(r'<(?:a|link)\b[^>]*\bhref="([^"]*)"')


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the decisions in the navigation, oldest first."""
    for entry in config.nav or []:
        if "Decisions" in entry:
            entry["Decisions"] = [
                f"decisions/{path.name}" for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))
            ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and the widget."""
    for name, content in reference.pages().items():
        files.append(File.generated(config, name, content=content))
    files.append(File.generated(config, "index.md", content=reference.home(ROOT / "README.md")))
    files.append(File.generated(config, "passage-chat.js", abs_src_path=str(ROOT / "web" / "passage-chat.js")))
    return files


def on_post_build(config: MkDocsConfig) -> None:
    """Fail on a link to a file that the site does not have: MkDocs only mentions one to a file that it leaves out."""
    site = Path(config.site_dir)
    for page in sorted(site.rglob("*.html")):
        for href in HREF.findall(page.read_text("utf-8")) if page.name != "404.html" else ():
            split = urlsplit(href)
            target = page.parent / unquote(split.path) if split.path else page
            if not (split.scheme or split.netloc or target.is_file() or (target / "index.html").is_file()):
                raise Abort(f"{page.relative_to(site)} links to {href}, which the site does not have.")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Links to files outside of docs/ lead to the repository, where its address is known (REPOSITORY_URL)."""
    folder = posixpath.dirname(page.file.src_uri)

    def replaced(match: re.Match[str]) -> str:
        text, target = match.groups()
        path = posixpath.normpath(posixpath.join("docs", folder, target.partition("#")[0]))
        if path.startswith("docs/"):
            return match.group()
        return f"[{text}]({config.repo_url}/blob/main/{path})" if config.repo_url else text

    return LINK.sub(replaced, markdown)
