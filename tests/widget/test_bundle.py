"""The committed scripts in web/: what the sources give, small, typed, and without what a strict page forbids."""

import gzip
import json
import re
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT
from programs import NODE, run
from widget.servers import WEB

BUNDLE = WEB / "passage-chat.js"
MOST_BYTES = 16 * 1024
LANGUAGES = sorted((WEB / "languages").glob("*.js"))


def _node(*arguments: str) -> str:
    return run(NODE, *arguments, cwd=WEB).stdout


@pytest.fixture(scope="session")
def _packages() -> None:
    assert (WEB / "node_modules").is_dir(), "the test needs the packages of web/: run `make widget`"


def test_bundle_is_at_most_16_kb_gzipped() -> None:
    assert len(gzip.compress(BUNDLE.read_bytes(), 9)) <= MOST_BYTES


@pytest.mark.usefixtures("_packages")
def test_committed_scripts_are_what_the_sources_give(tmp_path: Path) -> None:
    _node("build.mjs", str(tmp_path))
    built = {path.relative_to(tmp_path): path.read_text("utf-8") for path in tmp_path.rglob("*.js")}
    assert built == {path.relative_to(WEB): path.read_text("utf-8") for path in [BUNDLE, *LANGUAGES]}


@pytest.mark.usefixtures("_packages")
def test_sources_have_no_type_errors() -> None:
    _node("node_modules/typescript/bin/tsc", "--project", ".")


@pytest.mark.parametrize(
    "sink", ["innerHTML", "outerHTML", "insertAdjacentHTML", "DOMParser", "eval(", "document.write"]
)
def test_sources_have_no_html_sink(sink: str) -> None:
    sources = (WEB / "src").rglob("*.js")
    assert [path.name for path in sources if sink in path.read_text("utf-8")] == []


def test_bundle_does_nothing_without_a_page() -> None:
    assert _node("--eval", f"require({json.dumps(str(BUNDLE))}); console.log('fine')") == "fine\n"


@pytest.mark.parametrize("path", LANGUAGES, ids=lambda path: path.stem)
def test_language_has_every_word_of_english(path: Path) -> None:
    def words(source: Path) -> set[str]:
        lines = re.findall(r"^  '?\w.*,$", source.read_text("utf-8"), re.M)
        keys = re.findall(r"'?([a-zA-Z.]+)'?: '", "\n".join(lines))
        return {key for key in keys if not re.match(r"count\.(zero|two|few|many)", key)}

    assert words(WEB / "src" / "languages" / path.name) == words(WEB / "src" / "strings.js")


def test_lock_names_no_registry() -> None:
    assert "http" not in (WEB / "package-lock.json").read_text("utf-8").replace("https://opencollective.com", "")


def test_widget_and_passage_have_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert json.loads((WEB / "package.json").read_text("utf-8"))["version"] == project["version"]
