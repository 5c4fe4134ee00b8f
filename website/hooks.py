"""MkDocs hooks: pages made from the code, links to files outside of docs/, and the widget's script."""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from website import reference

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(((?:\.\./)+[^)\s]*)\)")
"""A link that begins with `../`: its text, and its target."""


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
    if (excluded := files.get_file_from_path("openapi.json")) is not None:
        files.remove(excluded)
    files.append(File.generated(config, "openapi.json", abs_src_path=str(ROOT / "docs" / "openapi.json")))
    return files


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
