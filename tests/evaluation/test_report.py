"""The HTML report: what it shows, and that no text of a suite or a site becomes markup."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from passage.evaluation.compare import ComparisonError
from passage.evaluation.measured_run import compare_runs, threshold_of_run
from passage.evaluation.report.facts import facts
from passage.evaluation.report.page import render
from passage.evaluation.run import Run, SavedAnswer, SavedHit
from passage.evaluation.suite import Expected, Suite, SuiteQuestion

HOSTILE = "</style><script>alert(1)</script><img src=x onerror=alert(1)>&\"'\x00\ud800<svg/onload=x>"


def hit(rank: int, page: str, score: float = 0.5) -> SavedHit:
    url = f"https://site.example/{page}/#part"
    return SavedHit(rank, f"id-{page}-{rank}", f"{page}_{rank}", url, page, score, "The passage.")


def question(name: str, *pages: str, answerable: bool = True, tags: tuple[str, ...] = ()) -> SuiteQuestion:
    expected = tuple(Expected(f"/{page}/") for page in pages)
    return SuiteQuestion(name, f"What is {name}?", expected, answerable=answerable, tags=tags)


def run(answers: dict[str, list[str]], *, search: str = "hybrid", top_k: int = 10) -> Run:
    """Each question `q…` expects the page `right`; the others are off topic."""
    questions, given_answers = [], []
    for name, pages in answers.items():
        own = name.startswith("q")
        questions.append(
            question(name, *(["right"] if own else []), answerable=own, tags=("own",) if own else ("off",))
        )
        score = 0.8 if own else 0.2
        hits = tuple(hit(rank, page, score - rank / 100) for rank, page in enumerate(pages, start=1))
        given_answers.append(SavedAnswer(name, hits, 12.0))
    return Run(
        Suite("A suite", tuple(questions)), tuple(given_answers), "local", "ours", top_k, 50, search={"mode": search}
    )


GOOD = run({**{f"q{number}": ["right", "x"] for number in range(8)}, "off": ["x"]})
POOR = run(
    {**{f"q{number}": ["x", "y", "right"] for number in range(7)}, "q7": ["right"], "off": ["x"]}, search="dense"
)


class Parsed(HTMLParser):
    """The tags, the attributes and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts += data.split()

    def values(self, attribute: str) -> list[str]:
        return [value for name, value in self.attributes if name == attribute]


def text_of(asked: Run, baseline: Run | None = None) -> str:
    """The words of the report, with one space between them."""
    return " ".join(Parsed(render(facts(asked, baseline))).texts)


def run_of_one(asked: SuiteQuestion, *hits: SavedHit) -> Run:
    return Run(Suite("s", (asked,)), (SavedAnswer(asked.id, hits, 1.0),), "local", "p", 5, 50)


def with_error(asked: Run) -> Run:
    failed = replace(asked.answers[0], results=(), error="HTTP 429", error_kind="rate_limit")
    return replace(asked, answers=(failed, *asked.answers[1:]))


def hostile_run() -> Run:
    asked = SuiteQuestion(HOSTILE, HOSTILE, (Expected(HOSTILE),), tags=(HOSTILE,))
    bad = SavedHit(1, HOSTILE, HOSTILE, "javascript:alert(1)", HOSTILE, 0.5, HOSTILE)
    failed = SuiteQuestion("failed", "failed?", answerable=False)
    answers = (SavedAnswer(HOSTILE, (bad,), 1.0), SavedAnswer("failed", (), 1.0, error=HOSTILE, error_kind="service"))
    suite = Suite(HOSTILE, (asked, failed), notes=(HOSTILE,))
    return Run(suite, answers, HOSTILE, HOSTILE, 5, 50, model=HOSTILE, collection=HOSTILE, search={HOSTILE: HOSTILE})


def test_hostile_text_never_becomes_markup() -> None:
    page = render(facts(hostile_run(), hostile_run()))
    parsed = Parsed(page)
    assert not {"script", "img", "iframe", "object", "link", "base", "form"} & set(parsed.tags)
    assert not [name for name, _ in parsed.attributes if name.startswith("on")]
    assert parsed.values("href") == []
    assert " ".join(parsed.texts).count("<script>alert(1)</script>") > 10
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", page.encode().decode())


def test_page_loads_nothing() -> None:
    page = render(facts(GOOD, POOR))
    assert any(value.startswith("default-src 'none'") for value in Parsed(page).values("content"))
    assert not re.search(r"\b(src|srcset|data|action|poster)=", page)
    assert not re.search(r"url\(|@import", page)


@pytest.mark.parametrize(
    "url",
    ["https://site.example/?a=1&b=2", "javascript:x", "data:text/html,x", "//host/x", "", "http://[x", "file:///x"],
)
def test_only_http_addresses_become_links(url: str) -> None:
    asked = run_of_one(question("q", "a"), replace(hit(1, "b"), url=url))
    assert Parsed(render(facts(asked))).values("href") == ([url] if url.startswith("https:") else [])


def test_page_shows_each_measure_with_its_interval() -> None:
    text = text_of(GOOD)
    for name in ("hit@5", "recall@5", "MRR", "nDCG@10"):
        assert re.search(rf"{name} 1\.000 95 %: [01]\.\d+ to 1\.000 ", text)
    assert "8 questions are measured. 1 have no relevant page and are left out" in text


def test_worst_question_comes_first_with_expected_and_found() -> None:
    text = text_of(run({"q0": ["right"], "q1": ["x", "right"], "q2": ["x", "y"]}))
    worst = text.index("Questions, worst first")
    assert text.index("What is q2?", worst) < text.index("What is q1?", worst)
    assert "What is q0?" not in text[worst:]
    assert "/right/ (not found)" in text
    assert "/right/ (found at 2)" in text


def test_failed_test_case_comes_before_questions_that_passed() -> None:
    many = run({f"q{number:02}": ["x", "right"] for number in range(70)})
    failed = replace(many.suite.questions[-1], keywords=("torque",))
    first = replace(many.answers[-1], results=(hit(1, "right"),))
    suite = replace(many.suite, questions=(*many.suite.questions[:-1], failed))
    text = text_of(replace(many, suite=suite, answers=(*many.answers[:-1], first)))
    assert "test cases passed 69 of 70" in text
    worst = text.index("Questions, worst first")
    assert worst < text.index("What is q69?", worst) < text.index("What is q00?", worst)
    assert "Test case: RELEVANCE: The results do not contain: torque." in text[worst:]


def test_unrated_wrong_and_right_passages_are_told_apart() -> None:
    asked = SuiteQuestion("q", "q?", (Expected("/a/", grade=2), Expected("/b/", grade=0)))
    text = text_of(run_of_one(asked, hit(1, "c"), hit(2, "b"), hit(3, "a")))
    assert text.index("unrated c") < text.index("wrong b") < text.index("right, 2 a")


def test_comparison_counts_better_and_worse_questions() -> None:
    text = text_of(GOOD, POOR)
    assert "search: mode hybrid, was mode dense" in text
    assert "7 better, 0 worse" in text
    assert "Questions that changed, losses first" in text


def test_error_is_shown_and_no_mean_is() -> None:
    text = text_of(with_error(GOOD))
    assert "1 of 8 questions got an error" in text
    assert "Error: HTTP 429" in text
    assert "nDCG@10 1.000" not in text
    assert "Not compared: 1 of 8 questions got an error" in text_of(GOOD, with_error(GOOD))


def test_threshold_counts_kept_and_rejected_questions() -> None:
    threshold = threshold_of_run(GOOD)
    assert threshold is not None
    assert (threshold.proposed.kept, threshold.proposed.rejected, threshold.off_topic) == (1.0, 1.0, 1)
    assert "A score_threshold of 0.790 keeps 100.0% of 8 answerable questions" in text_of(GOOD)
    assert threshold_of_run(run({"q0": []})) is None, "nothing has a cosine"


def test_reranked_run_has_no_threshold() -> None:
    """Its scores are relevances, but a threshold applies to cosines."""
    first, *others = GOOD.answers
    explained = replace(first, debug={"found": {"dense": 50, "rerank": 50}})
    for reranked in (replace(GOOD, search={"rerank": "cohere"}), replace(GOOD, answers=(explained, *others))):
        assert threshold_of_run(reranked) is None
        assert "Score threshold" not in text_of(reranked)


@pytest.mark.parametrize("top_k", [3, 10, 50])
def test_every_measured_question_has_a_place_in_the_plot(top_k: int) -> None:
    """A run asks for more passages than a test case looks at."""
    others = [f"page-{number}" for number in range(60)]
    places = (0, 4, 5, 9, 10, 49, 60)
    answers = {f"q{place}": [*others[:place], "right"] if place < 60 else others for place in places}
    plot = render(facts(run(answers, top_k=top_k))).split("Place of the first right passage")[-1]
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", plot.partition("</svg>")[0])
    counts = dict(zip(texts[1::2], map(int, texts[::2]), strict=True))
    assert counts == {"1": 1, "2": 0, "3": 0, "4": 0, "5": 1, "6-10": 2, "&gt; 10": 2, "none": 1}


def test_other_questions_are_refused_in_words() -> None:
    fewer = run({"q0": ["right"], "q9": ["right"]})
    changed = replace(fewer.suite.questions[0], text="Another?")
    others = replace(fewer, suite=Suite("s", (changed, fewer.suite.questions[1])))
    with pytest.raises(ComparisonError, match=r"1 question only in the baseline \(q9\)"):
        compare_runs(run({"q0": ["right"]}), fewer)
    with pytest.raises(ComparisonError, match=r"1 question changed \(q0\)"):
        render(facts(others, fewer))
