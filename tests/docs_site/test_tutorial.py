"""Every command of the tutorial, in its order, in a folder of its own."""

import json
from collections.abc import Iterator

import pytest

from conftest import ROOT
from docs_site.shell import Shell, blocks, shell

TUTORIAL = ROOT / "docs" / "tutorial.md"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """The tutorial, once done. `make run` has a test of its own."""
    folder = tmp_path_factory.mktemp("tutorial")
    for name in (".venv", "web"):
        (folder / name).symlink_to(ROOT / name)
    commands = blocks(TUTORIAL)
    assert commands[0] == "make run\n"
    with shell(folder, "3100", "8000") as running:
        for block in commands[1:]:
            running.run(block)
        yield running


def test_question_finds_the_section_by_meaning(done: Shell) -> None:
    (answer,) = (json.loads(output) for output in done.output if output.startswith('{"query"'))
    assert answer["results"][0]["url"].endswith("#descale")


def test_doctor_finds_nothing_to_repair(done: Shell) -> None:
    report = done.output[-1]
    assert "FAIL" not in report
    assert "WARN" not in report
    assert "ok    CORS" in report
