"""`passage evaluate`: asks a suite of questions, measures the answers, and says whether they are good enough."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handler.core.errors import PassageError
from passage.commands.options import (
    CouldNotRun,
    api_key_option,
    index_option,
    option,
    parameter,
    read_api_key,
    takes,
)
from passage.evaluation import run as runs
from passage.evaluation import targets, thresholds
from passage.evaluation.drafting import WARNING, draft_suite
from passage.evaluation.measured_run import refuse_others
from passage.evaluation.measures import MeasureError
from passage.evaluation.run import Run, RunError
from passage.evaluation.service import SetupError
from passage.evaluation.suite import Suite
from passage.evaluation.suites.files import read_suite
from passage.evaluation.suites.records import SuiteError
from passage.evaluation.thresholds import ThresholdError
from passage.local.function import keep_stdout_clean, silence_log
from passage.sites.model import SiteError
from passage.sites.source import SiteOptions, open_source
from passage.sites.web.limits import FetchLimits

if TYPE_CHECKING:
    from passage.evaluation.results import Results

DEFAULT_OUT = Path(".passage/evaluation")
EXTRA = ("ir_measures", "jinja2", "numpy", "scipy")


class Rate(click.ParamType[int]):
    """A number of questions a minute: `20` or `20/min`."""

    name = "N/min"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        rate = re.fullmatch(r"([1-9][0-9]{0,5})(?:/min)?", str(value).strip())
        return int(rate[1]) if rate else self.fail(f"'{value}' must be as in 20/min, from 1.", param, ctx)


@dataclass(frozen=True, slots=True)
class EvaluateArguments:
    """The arguments of the command line."""

    suite: Path = parameter(click.argument("suite", type=click.Path(path_type=Path)))
    profile: str | None = option(help="The profile to ask.  [default: the target's default one]")
    target: str = option(
        metavar="local|URL|lambda:NAME",
        default="local",
        help="The function on this machine, an API, or a deployed function.",
    )
    index: Path = parameter(index_option("With --target local: the folder `passage index` wrote to."))
    compare: Path | None = option(
        type=click.Path(exists=True, path_type=Path),
        metavar="RUN",
        help="An earlier run's folder or run.json, with the same questions and --top-k.",
    )
    out: Path | None = option(
        type=click.Path(file_okay=False, path_type=Path),
        help=f"The folder for the run and its report.  [default: a new one in {DEFAULT_OUT}]",
    )
    top_k: int = option(
        type=click.IntRange(1, 100),
        default=10,
        help="How many passages a test case looks at, where a question does not say.",
    )
    rate: int | None = option(
        type=Rate(), help="The most questions a minute, as a trial key allows.  [default: no limit]"
    )
    resume: bool = option(is_flag=True, help="Continue the last run, and ask the questions with an error again.")
    thresholds: tuple[str, ...] = option(
        multiple=True,
        metavar="NAME=VALUE,…",
        help="What must be reached, as in hit@5=0.95,p95_ms=800.  [default: the suite's, else SC-001 to SC-006]",
    )
    api_key_file: Path | None = parameter(api_key_option())
    explain: bool = option(is_flag=True, help="Save how each answer came about, where the target shows it. Times grow.")
    make: int | None = option(type=click.IntRange(min=1), metavar="N", help="Draft a suite of N questions, and stop.")
    site: str | None = option(metavar="SOURCE", help="With --make: the site, as `passage index` takes it.")
    site_url: str | None = option(
        help="With --make: where the site is published.  [default: from its pages or configuration]"
    )
    as_json: bool = option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")


@click.command("evaluate")
@click.pass_context
@takes(EvaluateArguments)
def evaluate(context: click.Context, args: EvaluateArguments) -> None:
    """Ask the questions of SUITE and measure the answers.

    SUITE is a file (TOML, JSONL, or seed 001's JSON), or a folder in BEIR's layout (queries.jsonl, qrels/test.tsv).
    Without one yet, --make drafts it. docs/evaluate.md describes the formats.

    Exit codes: 0 passed, 1 a threshold was missed or a question got an error, 2 could not run.
    """
    if args.make is not None:
        _draft(args, args.make)
        return
    if args.site is not None or args.site_url is not None:
        raise click.UsageError("--site and --site-url are for --make: the questions are asked of --target.")
    _check_extra()
    local = args.target == "local"
    if local:
        silence_log()
    with _could_not_run(), keep_stdout_clean() if local else nullcontext():
        results = _evaluate(args)
    click.echo(_show(results, as_json=args.as_json))
    context.exit(0 if results.passed else 1)


@contextmanager
def _could_not_run() -> Iterator[None]:
    """Every error that ends a run has the exit code 2."""
    try:
        yield
    except (SuiteError, SetupError, RunError, MeasureError, SiteError, PassageError) as error:
        raise CouldNotRun(str(error)) from error
    except ThresholdError as error:
        raise CouldNotRun(f"--thresholds: {error}") from error
    except click.ClickException as error:  # from the function's environment, which has the exit code 1
        raise CouldNotRun(error.message) from error
    except OSError as error:
        raise CouldNotRun(f"A file cannot be read or written: {error}.") from error
    except KeyboardInterrupt:
        raise CouldNotRun("Interrupted. --resume continues from here.") from None


def _check_extra() -> None:
    absent = [name for name in EXTRA if find_spec(name) is None]
    if absent:
        raise CouldNotRun(
            f"{', '.join(absent)} is not installed: `pip install ir-measures jinja2 scipy`. The metrics' C code "
            "has wheels for Linux and Windows on x86-64 and for macOS. Elsewhere pip builds it, and downloads "
            "trec_eval's source for that."
        )


def _evaluate(args: EvaluateArguments) -> "Results":
    from passage.evaluation.results import judge  # noqa: PLC0415 - needs the packages of `EXTRA`
    from passage.evaluation.runner import RunPlan, run  # noqa: PLC0415 - reads what `silence_log` sets

    suite = read_suite(args.suite)
    limits = thresholds.read(args.thresholds) or suite.thresholds
    baseline = _baseline(args)
    folder = _folder(args, suite)
    key = read_api_key(args.api_key_file)
    with targets.open_target(args.target, args.profile, index=args.index, key=key) as target:
        plan = RunPlan(
            suite=suite,
            target=target,
            top_k=args.top_k,
            folder=folder,
            per_minute=args.rate,
            resume=args.resume,
            explain=args.explain,
            pages=thresholds.most_pages(limits),
        )
        if baseline is not None:  # before any question is asked
            asked = target.served.clamp(plan.passages)
            refuse_others(replace(baseline, suite=suite, top_k=args.top_k, passages=asked), baseline)
        answered = run(plan)
    return judge(answered, baseline, limits, folder)


def _show(results: "Results", *, as_json: bool) -> str:
    from passage.evaluation.results import to_json  # noqa: PLC0415 - needs the packages of `EXTRA`
    from passage.evaluation.summary import lines  # noqa: PLC0415 - as above

    if as_json:
        return json.dumps(to_json(results), ensure_ascii=False, indent=2)
    return "\n".join(lines(results))


def _baseline(args: EvaluateArguments) -> Run | None:
    from passage.evaluation.results import RUN  # noqa: PLC0415 - needs the packages of `EXTRA`

    if args.compare is None:
        return None
    return runs.read(args.compare / RUN if args.compare.is_dir() else args.compare)


def _folder(args: EvaluateArguments, suite: Suite) -> Path:
    """The run's folder: the given one, the newest one to resume, or a new one."""
    if args.out is not None:
        return args.out
    home = DEFAULT_OUT / (re.sub(r"[^\w.-]+", "-", suite.name).strip("-.") or "suite")
    if args.resume:
        before = sorted(path.parent for path in home.glob("*/answers.jsonl"))
        if before:
            return before[-1]
    return home / datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")


def _draft(args: EvaluateArguments, questions: int) -> None:
    if args.site is None:
        raise click.UsageError("--make needs --site SOURCE: the folder or URL of the site that `passage index` takes.")
    if args.suite.suffix != ".toml":
        raise click.UsageError("--make writes TOML: SUITE must end in .toml.")
    if args.suite.exists():
        raise click.UsageError(f"{args.suite} exists: delete it, or name another file.")
    with _could_not_run():
        site = open_source(args.site, SiteOptions(url=args.site_url), Path(".passage/cache/sites"), FetchLimits())
        drafted = draft_suite(site, questions, args.suite.stem)
        args.suite.write_text(drafted.toml, encoding="utf-8")
    click.echo(f"{args.suite}: {drafted.questions} questions. {WARNING}", err=True)
