"""`passage doctor`: checks a deployment or this machine, and says what to do about each finding."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from passage import api
from passage.commands.options import CouldNotRun, api_key_option, index_option, read_api_key
from passage.doctor import api_checks, settings_checks, stack_checks
from passage.doctor.findings import CheckOptions, Finding, as_json, lines, none_failed, summary
from passage.local.function import function, keep_stdout_clean, silence_log

QUESTION = "How do I get started?"


@click.command("doctor")
@click.argument("target", type=click.Choice(["local"]), required=False)
@click.option("--url", metavar="URL", help="Check the API at this address.")
@click.option("--stack", metavar="NAME", help="Check this CloudFormation stack, its API and its alarms.")
@click.option("--region", help="The stack's region.  [default: AWS's own settings]")
@click.option("--profile", help="Ask this profile.  [default: the deployment's default one]")
@click.option("--question", default=QUESTION, help="A question that your site answers.")
@click.option("--origin", metavar="ORIGIN", help="Your site, for CORS: https://docs.example.com")
@api_key_option()
@index_option("With local: the folder `passage index` wrote to.")
@click.option("--json", "as_json_", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def doctor(  # noqa: PLR0913 - one parameter for each option
    context: click.Context,
    *,
    target: str | None,
    url: str | None,
    stack: str | None,
    region: str | None,
    profile: str | None,
    question: str,
    origin: str | None,
    api_key_file: Path | None,
    index: Path,
    as_json_: bool,
) -> None:
    """Check settings, keys, the collection, CORS, a question end to end, and alarms.

    Name one target: local, --url or --stack. Exit codes: 0 no check failed, 1 one failed, 2 nothing could be checked.
    """
    if sum(each is not None for each in (target, url, stack)) != 1:
        raise click.UsageError("Name one target: local, --url URL or --stack NAME.")
    asked = CheckOptions(question, profile, origin)
    if stack is not None:
        findings = _stack(stack, region, asked, api_key_file)
    elif url is not None:
        findings = _url(url, asked, api_key_file)
    else:
        findings = _local(index, asked)
    seen = []
    for finding in findings:
        seen.append(finding)
        if not as_json_:
            click.echo("\n".join(lines(finding)))
    click.echo(json.dumps(as_json(seen), indent=2) if as_json_ else f"\n{summary(seen)}")
    context.exit(0 if none_failed(seen) else 1)


def _url(url: str, asked: CheckOptions, key_file: Path | None) -> Iterator[Finding]:
    with api.over_http(url, read_api_key(key_file)) as reached:
        yield from api_checks.checks(reached, asked)


def _stack(name: str, region: str | None, asked: CheckOptions, key_file: Path | None) -> Iterator[Finding]:
    """The stack's own checks, then its API's, or its function's where it has no API.

    Raises:
        CouldNotRun: the stack cannot be read.
    """
    try:
        client = stack_checks.clients(region)
        stack = stack_checks.read(client, name)
    except stack_checks.StackError as error:
        raise CouldNotRun(str(error)) from error
    yield from stack_checks.checks(client, stack)
    if asked.origin is None:
        asked = replace(asked, origin=stack.origin)
    if stack.url is not None:
        with api.over_http(stack.url, read_api_key(key_file)) as reached:
            yield from api_checks.checks(reached, asked)
    else:
        yield from api_checks.checks(api.by_invocation(client("lambda"), stack.function), asked)


def _local(index: Path, asked: CheckOptions) -> Iterator[Finding]:
    """The settings, then the function in this process, with emulators for the services that have no key.

    Raises:
        click.ClickException: the settings and the index do not go together.
    """
    silence_log()
    with keep_stdout_clean(), function(index) as handler:
        findings = [*settings_checks.checks(os.environ), *api_checks.checks(api.in_process(handler), asked)]
    yield from findings  # printed once stdout is the terminal's again
