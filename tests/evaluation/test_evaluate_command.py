"""`passage evaluate` over HTTP, by Lambda and on this machine: what it prints, its files and its exit codes."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from command.passage_command import PASSAGE, clean_environment, in_process
from entrypoints.aws import CREDENTIALS
from handler import app
from handler.config import profiles
from http_server import Received, Response, http_server
from passage.evaluation import run as runs
from passage.evaluation.drafting import draft_suite
from passage.evaluation.run import Run
from passage.evaluation.suites.files import read_suite
from passage.local.environment import LocalContext
from passage.sites.markdown import find_site
from textbook import TEXTBOOK

evaluate = partial(in_process, "evaluate")

SITE = "https://physical-ai.example"
SUITE = """
[thresholds]
"hit@5" = 0.5

[[questions]]
id = "twin"
text = "What is a digital twin?"
expected = ["/digital-twins/what-is-a-digital-twin/"]
keywords = ["twin"]

[[questions]]
id = "pid"
text = "How do I tune a PID controller?"
expected = ["/control/pid/", "/control/model-predictive-control/"]

[[questions]]
id = "pizza"
text = "Best pizza in town?"
answerable = false
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.toml"
    path.write_text(SUITE, encoding="utf-8")
    return path


def saved(folder: Path) -> Run:
    return runs.read(folder / "run.json")


@pytest.mark.parametrize("profile", profiles.names())
def test_every_contract_is_asked_over_http(api_url: str, suite: Path, tmp_path: Path, profile: str) -> None:
    done = evaluate(suite, "--target", api_url, "--profile", profile, "--out", tmp_path / "out", "--json")
    run = saved(tmp_path / "out")
    assert [answer.error for answer in run.answers] == [None] * 3
    assert run.profile == profile
    first = run.answers[0].results[0]
    assert first.page.startswith(SITE)
    assert first.text
    assert len(run.by_id_ms) == 3
    assert all(right for _, right in run.error_checks)
    assert [same for _, same in run.repeated] == [True] * 3
    assert (run.missing, run.unchecked) == ({}, 0)
    printed = json.loads(done.stdout[done.stdout.index("{\n") :])
    assert printed["measures"]["hit@5"] == 1.0
    result = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert result["total_tests"] == 3
    assert datetime.fromisoformat(result["timestamp"]).tzinfo is UTC
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_summary_has_measures_thresholds_and_report(api_url: str, suite: Path, tmp_path: Path) -> None:
    suite.write_text(f"{SUITE}draft = true\n", encoding="utf-8")
    done = evaluate(suite, "--target", f"{api_url}/query", "--out", tmp_path / "out")
    drafts = "1 questions are drafts that nobody checked"
    for part in ("hit@5     1.000", "over 2 questions", "Test cases: ", "A cosine threshold of", "met", drafts):
        assert part in done.output
    assert f"Report: {tmp_path / 'out' / 'report.html'}" in done.output


@pytest.mark.parametrize(
    ("thresholds", "code"),
    [
        ("hit@5=1,recall@5=0.5", 0),
        ("nDCG@10=1,avg_ms=0.001", 1),
        ("SC-003=1,SC-005=1,pass_rate=0", 0),
        ("max_ms=0.001", 1),
    ],
)
def test_missed_threshold_exits_1(api_url: str, suite: Path, tmp_path: Path, thresholds: str, code: int) -> None:
    done = evaluate(suite, "--target", api_url, "--out", tmp_path / "out", "--thresholds", thresholds, code=code)
    assert ("MISSED" in done.output) is (code == 1)
    assert (">missed<" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")) is (code == 1)


def test_question_with_an_error_exits_1(api_url: str, tmp_path: Path) -> None:
    suite = tmp_path / "suite.jsonl"
    lines = [
        {"text": "What is a digital twin?", "expected": ["/digital-twins/what-is-a-digital-twin/"]},
        {"text": "x" * 2_001},
    ]
    suite.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    more = ("--profile", "chunks", "--thresholds", "MRR=0")
    done = evaluate(suite, "--target", api_url, "--out", tmp_path / "out", *more, code=1)
    assert "1 errors" in done.output
    assert saved(tmp_path / "out").answers[1].error_kind == "request"


def test_two_runs_are_compared(api_url: str, suite: Path, tmp_path: Path) -> None:
    for arguments in (("--out", tmp_path / "a"), ("--out", tmp_path / "b", "--compare", tmp_path / "a")):
        done = evaluate(suite, "--target", api_url, *arguments)
    assert "Against the run of" in done.output
    assert "cannot be decided" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--top-k", "3"), "--top-k is 3 in this run and 10 in the baseline"),
        (("--top-k", "60"), "60 passages are asked for in this run and 50 in the baseline"),
        (("--thresholds", "recall@12=0"), "60 passages are asked for in this run and 50 in the baseline"),
        (("--profile", "chunks"), "20 passages are asked for in this run and 50 in the baseline"),
    ],
)
def test_run_that_asked_otherwise_is_not_compared(
    api_url: str, suite: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    evaluate(suite, "--target", api_url, "--out", tmp_path / "a")
    more = ("--compare", tmp_path / "a", "--out", tmp_path / "b", *arguments)
    refused = evaluate(suite, "--target", api_url, *more, code=2)
    assert message in refused.output
    assert not (tmp_path / "b").exists()  # before any question is asked


@pytest.mark.parametrize(("pages", "asked"), [(5, 50), (12, 60), (80, 100)])
def test_threshold_at_k_asks_for_five_passages_a_page(
    api_url: str, suite: Path, tmp_path: Path, pages: int, asked: int
) -> None:
    evaluate(suite, "--target", api_url, "--out", tmp_path / "a", "--thresholds", f"recall@{pages}=0")
    run = saved(tmp_path / "a")
    assert run.passages == asked
    assert len(run.answers[0].results) == asked


def test_resumed_run_asks_only_what_has_no_answer(api_url: str, suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    evaluate(suite, "--target", api_url, "--out", out)
    before = saved(out)
    heading, first, second, third = (out / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    failed = runs.answer_to_json(runs.SavedAnswer("pid", (), 1.0, error="HTTP 503", error_kind="service"))
    (out / "answers.jsonl").write_text("\n".join([heading, first, failed, third[:40]]), encoding="utf-8")
    done = evaluate(suite, "--target", api_url, "--out", out, "--resume")
    assert "Asking 2 questions" in done.output
    after = saved(out)
    assert after.answers[0] == before.answers[0] == runs.answer_from_json(first)
    assert after.answers[1].results == before.answers[1].results == runs.answer_from_json(second).results
    changed = evaluate(suite, "--target", api_url, "--out", out, "--resume", "--top-k", 4, code=2)
    assert "has the answers of another run (top_k changed)" in changed.output


@pytest.mark.parametrize("setting", ["model", "collection", "search"])
def test_resume_after_another_setting_is_refused(api_url: str, suite: Path, tmp_path: Path, setting: str) -> None:
    out = tmp_path / "out"
    evaluate(suite, "--target", api_url, "--out", out)
    heading, *answers = (out / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    before = json.dumps({**json.loads(heading), setting: "other"})
    (out / "answers.jsonl").write_text("\n".join([before, *answers]), encoding="utf-8")
    refused = evaluate(suite, "--target", api_url, "--out", out, "--resume", code=2)
    assert f"has the answers of another run ({setting} changed)" in refused.output


def test_resume_without_a_folder_takes_the_newest_run(
    api_url: str, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    evaluate(suite, "--target", api_url)
    (home,) = (tmp_path / ".passage" / "evaluation" / "suite").iterdir()
    older = home.with_name("2020-01-01T00-00-00")
    older.mkdir()
    (older / "answers.jsonl").write_text("", encoding="utf-8")
    done = evaluate(suite, "--target", api_url, "--resume")
    assert "Asking 0 questions" in done.output
    assert f"Report: {home.relative_to(tmp_path) / 'report.html'}" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--target", "http://127.0.0.1:9"), "--target: http://127.0.0.1:9 cannot be reached"),
        (("--target", "ftp://x"), "'ftp://x' must be local, a URL that begins with http, or lambda:NAME"),
        (("--profile", "other"), "--profile: the target has no profile 'other', or no index for it. It has chunks,"),
        (("--thresholds", "hits=1"), "--thresholds: 'hits' is not a figure of a run; allowed: SC-001"),
        (("--thresholds", "hit@5"), "--thresholds: 'hit@5' must be NAME=VALUE"),
        (
            ("--thresholds", "hit@5=1,recall@200=1"),
            "A threshold looks at 200 pages, and the profile 'query-response' gives at most 100 passages: K of hit@K "
            "and recall@K may be 1 to 100.",
        ),
        (("--profile", "chunks", "--thresholds", "hit@21=1"), "K of hit@K and recall@K may be 1 to 20."),
        (("--thresholds", "hit@5=95"), "--thresholds: 'hit@5' must be 0 to 1, not 95"),
        (("--rate", "fast"), "'fast' must be as in 20/min"),
        (("--site", "x"), "--site and --site-url are for --make"),
        (("--make", "3"), "--make needs --site SOURCE"),
    ],
)
def test_wrong_setting_exits_2_and_is_named(
    api_url: str, suite: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    target = () if "--target" in arguments else ("--target", api_url)
    done = evaluate(suite, *target, "--out", tmp_path / "out", *arguments, code=2)
    assert message in done.output


def test_profile_that_a_question_names_is_refused_by_its_id(api_url: str, suite: Path) -> None:
    suite.write_text(f'{SUITE}profile = "other"\n', encoding="utf-8")
    done = evaluate(suite, "--target", api_url, code=2)
    assert "question 'pizza': the target has no profile 'other', or no index for it. It has chunks," in done.output


def test_summary_says_why_test_cases_failed(api_url: str, suite: Path, tmp_path: Path) -> None:
    suite.write_text(SUITE.replace('"twin"]', '"twin", "xylophone"]'), encoding="utf-8")
    done = evaluate(suite, "--target", api_url, "--out", tmp_path / "out")
    assert "2 of 3 passed" in done.output
    assert "  twin: RELEVANCE: The results do not contain: xylophone." in done.output


def test_drafted_suite_in_a_missing_folder_exits_2(tmp_path: Path) -> None:
    file = tmp_path / "none" / "suite.toml"
    done = evaluate(file, "--make", 3, "--site", TEXTBOOK, code=2)
    assert f"A file cannot be read or written: [Errno 2] No such file or directory: '{file}'" in done.output
    assert "--out" not in done.output


def test_missing_library_exits_2(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("passage.commands.evaluate.EXTRA", ("ir_measures", "no_such_library"))
    done = evaluate(suite, code=2)
    assert "no_such_library is not installed: `pip install ir-measures jinja2 scipy`" in done.output


@contextmanager
def lambda_service(*, fails: bool = False) -> Iterator[str]:
    """Lambda's Invoke API in front of the function in this process."""

    def answer(received: Received) -> Response:
        if received.target != "/2015-03-31/functions/passage%3Alive/invocations":
            refused = json.dumps({"Message": "Function not found"}).encode()
            return 404, {"X-Amzn-ErrorType": "ResourceNotFoundException"}, refused
        if fails:
            return 200, {"X-Amz-Function-Error": "Unhandled"}, json.dumps({"errorMessage": "out of memory"}).encode()
        return 200, {}, json.dumps(app.lambda_handler(json.loads(received.body), LocalContext())).encode()

    with http_server(answer) as url:
        yield url


@pytest.fixture
def as_aws(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, value in {**CREDENTIALS, "AWS_MAX_ATTEMPTS": "1"}.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.mark.usefixtures("api_url")  # it starts the function
def test_deployed_function_is_invoked(as_aws: pytest.MonkeyPatch, suite: Path, tmp_path: Path) -> None:
    with lambda_service() as url:
        as_aws.setenv("AWS_ENDPOINT_URL_LAMBDA", url)
        evaluate(suite, "--target", "lambda:passage:live", "--out", tmp_path / "out")
        assert saved(tmp_path / "out").target == "lambda:passage:live"
        unknown = evaluate(suite, "--target", "lambda:other", "--out", tmp_path / "out", code=2)
    assert "--target: the function 'other' could not be invoked: " in unknown.output
    assert "ResourceNotFoundException" in unknown.output


def test_function_that_fails_exits_2(as_aws: pytest.MonkeyPatch, suite: Path, tmp_path: Path) -> None:
    with lambda_service(fails=True) as url:
        as_aws.setenv("AWS_ENDPOINT_URL_LAMBDA", url)
        done = evaluate(suite, "--target", "lambda:passage:live", "--out", tmp_path / "out", code=2)
    assert "--target: the function failed: {'errorMessage': 'out of memory'}" in done.output


def test_explained_run_has_stages(api_url: str, suite: Path, tmp_path: Path) -> None:
    evaluate(suite, "--target", api_url, "--out", tmp_path / "out", "--explain")
    debug = saved(tmp_path / "out").answers[0].debug
    assert debug is not None
    assert {"dense", "text", "fused"} <= debug["passages"][0]["stages"].keys()


def test_missing_document_is_found_on_this_machine(textbook_index: Path, suite: Path, tmp_path: Path) -> None:
    suite.write_text(SUITE.replace("/control/model-predictive-control/", "/no/such/page/"), encoding="utf-8")
    command = [PASSAGE, "evaluate", str(suite), "--index", str(textbook_index), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, env=clean_environment(), check=False)
    assert done.returncode == 1, done.stderr
    run = saved(tmp_path / "out")
    assert (run.missing, run.unchecked) == ({"pid": ("/no/such/page/",)}, 0)
    assert "1 expected documents are not in the collection (of pid): correct the suite." in done.stdout
    assert "  pid: The collection has no document /no/such/page/: correct the suite" in done.stdout
    assert len(run.index) == 64
    assert done.stderr.splitlines() == ["Asking 3 questions …"]


def test_drafted_suite_is_read_and_deterministic(tmp_path: Path) -> None:
    path = tmp_path / "draft.toml"
    done = evaluate(path, "--make", 9, "--site", TEXTBOOK)
    assert "favour BM25" in done.output
    drafted = read_suite(path)
    assert path.read_text(encoding="utf-8") == draft_suite(find_site(TEXTBOOK, None), 9, "draft").toml
    assert len({question.text for question in drafted.questions}) == 9
    assert all(question.draft and question.relevant for question in drafted.questions)
    assert {tag for question in drafted.questions for tag in question.tags} == {"heading", "sentence"}
    again = evaluate(path, "--make", 9, "--site", TEXTBOOK, code=2)
    assert "exists: delete it" in again.output
