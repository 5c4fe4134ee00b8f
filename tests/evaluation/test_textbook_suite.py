"""The textbook's own suite, asked of the API with the emulator's vectors: it reaches its thresholds.

Vectors, words and their fusion give the same answers on every machine, so the measured values are exact.
docs/quality.md argues the thresholds.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from command.passage_command import in_process
from passage.api import Api, Request, over_http
from passage.evaluation import run as runs
from passage.evaluation.measured_run import measure_run, threshold_of_run
from passage.evaluation.run import Run
from passage.evaluation.suites.files import read_suite
from passage.indexing import noise
from textbook import TEXTBOOK

FIRST = 5


def test_right_page_is_in_the_first_five_for_95_percent(api_url: str, tmp_path: Path) -> None:
    done = in_process("evaluate", TEXTBOOK / "suite.toml", "--target", api_url, "--out", tmp_path)
    run = runs.read(tmp_path / "run.json")
    found = measure_run(run)
    assert found["hit@5"].mean >= 0.95
    assert found["nDCG@10"].mean >= 0.89
    assert first_passages(run) >= 0.95
    assert (run.missing, [same for _, same in run.repeated if not same]) == ({}, [])
    threshold = threshold_of_run(run)
    assert threshold is not None
    assert threshold.proposed.kept >= 0.95
    assert f"A cosine threshold of {threshold.proposed.threshold:.3f} keeps" in done.output
    assert "off-topic questions that keep none" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_fit_tells_answerable_questions_from_others(api_url: str) -> None:
    """The off-topic questions are not those that measured the index's noise."""
    own = [question.text for question in read_suite(TEXTBOOK / "suite.toml").questions if question.relevant]
    others = Path(__file__).with_name("off_topic.txt").read_text(encoding="utf-8").splitlines()
    assert (len(others), set(others) & set(noise.QUESTIONS)) == (100, set())
    with over_http(api_url, None) as api:
        answered, refused = Counter(first_fits(api, own)), Counter(first_fits(api, others))
    assert answered["none"] <= 0.02 * len(own), answered
    assert answered["good"] + answered["strong"] >= 0.8 * len(own), answered
    assert refused["good"] + refused["strong"] <= 10, refused
    assert refused["none"] >= 40, refused


def first_fits(api: Api, questions: list[str]) -> Iterator[str]:
    """The fit of each question's first passage."""
    for question in questions:
        asked = urlencode({"question": question, "k": 5, "fit": "true"})
        yield api.ask(Request("GET", f"/query?{asked}")).json()["results"][0]["fit"]


def first_passages(run: Run) -> float:
    """The share of questions with a right page among the first five passages, which may be of fewer pages."""
    own = [(question, answer) for question, answer in run.pairs() if question.relevant]
    hits = (any(hit.matches(one) for hit in a.results[:FIRST] for one in q.relevant) for q, a in own)
    return sum(hits) / len(own)
