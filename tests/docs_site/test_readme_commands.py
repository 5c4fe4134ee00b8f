"""Every command of the README, but `make test`, which runs this, and `make deploy`, which needs AWS."""

import json
import re
from collections.abc import Iterator
from urllib.request import Request, urlopen

import pytest

from conftest import ROOT
from docs_site.shell import Shell, blocks, shell

README = ROOT / "README.md"
ELSEWHERE = ("make test\n", "make deploy")
"""`make deploy` needs AWS: tests/architecture/test_deploy_commands.py reads its parameters."""
QUESTION = re.compile(r"curl -s http://127.0.0.1:3000/query -H '[^']+' -d '(\{[^']+\})'")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """The README's servers, on other ports, in a folder beside a built site."""
    place = tmp_path_factory.mktemp("readme")
    folder, site = place / "passage", place / "my-site" / "build"
    site.mkdir(parents=True)
    head = '<title>Bells</title><link rel="canonical" href="https://bells.example/">'  # as a generator writes it
    main = "<main><h1>Bells</h1><p>A bell is cast in one piece.</p></main>"
    (site / "index.html").write_text(f'<html lang="en">{head}{main}</html>', encoding="utf-8")
    folder.mkdir()
    for path in ROOT.iterdir():
        if path.name != ".passage":
            (folder / path.name).symlink_to(path)
    with shell(folder, "3000", "3100") as running:
        for block in blocks(README):
            if block == "make run\n":
                running.run(f"make run PORT={running.ports['3000']}")
            elif not block.startswith(ELSEWHERE):
                for line in block.splitlines():
                    running.run(line)
        yield running


def test_sample_question_is_answered_as_shown(done: Shell) -> None:
    text = README.read_text(encoding="utf-8")
    asked = QUESTION.search(text)
    assert asked
    answer = _post(f"http://127.0.0.1:{done.ports['3000']}/query", asked.group(1))
    first = answer["results"][0]
    assert f'"url": "{first["url"]}"' in text
    assert f'"relevance_score": {first["relevance_score"]}' in text


def test_page_shows_the_textbook_and_the_widget(done: Shell) -> None:
    with urlopen(f"http://127.0.0.1:{done.ports['3000']}/") as page:
        html = page.read().decode()
    assert "passage-chat" in html


def test_own_site_answers(done: Shell) -> None:
    answer = _post(f"http://127.0.0.1:{done.ports['3100']}/query", '{"text": "How is a bell made?"}')
    assert answer["results"][0]["chunk_text"].endswith("A bell is cast in one piece.")


def _post(url: str, body: str) -> dict[str, list[dict[str, object]]]:
    with urlopen(Request(url, body.encode(), {"Content-Type": "application/json"})) as answer:
        parsed: dict[str, list[dict[str, object]]] = json.loads(answer.read())
    return parsed
