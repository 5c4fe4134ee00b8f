"""Runs the built function in AWS SAM's containers, with its services on this machine.

    python -m tools.sam_local invoke events/http-api-query.json
    python -m tools.sam_local start-api --port 3000

`make invoke-sam` and `make run-sam` build the function first. Needs a Docker daemon.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import yaml

from handler.adapters.qdrant import sparse_files
from handler.adapters.qdrant.manifest import SHARD
from handler.config import profiles
from handler.config.settings import PACKED, CollectionSettings, names
from handler.core.errors import PassageError
from passage.local.environment import LOCAL_KEY, LocalError, check_index, value_of
from tools.docker_bridge import reachable_address
from tools.doubles import cohere_emulator
from tools.qdrant.emulator import qdrant_emulator
from tools.runtime import architecture

FUNCTION = "RetrievalFunction"
TEMPLATE = Path(".aws-sam/local/template.yaml")
HOST_NAME = "host.docker.internal"
"""This machine, as a container calls it."""
APIS = {"http": "AWS::Serverless::HttpApi", "rest": "AWS::Serverless::Api"}
"""The kinds of API that the template's parameter Api chooses from."""
NESTED_STACK = "AWS::CloudFormation::Stack"


@dataclass(frozen=True, slots=True)
class SamLocal:
    """How to run `sam local`: the program, the built template, and the file of the function's variables."""

    sam: Path
    template: Path
    variables: Path

    def command(self, name: str, *arguments: str) -> list[str]:
        """`sam local <name>` with `arguments` and all options that it needs."""
        chosen = [FUNCTION] if name == "invoke" else []  # the template has other functions, too
        return [
            *(str(self.sam), "local", name, *chosen, *arguments),
            *("--template-file", str(self.template)),
            *("--parameter-overrides", f"Architecture={architecture()}"),
            *("--env-vars", str(self.variables)),
            *("--add-host", f"{HOST_NAME}:host-gateway"),
            # Docker still fetches a missing image. The option only skips asking for a newer one every time.
            "--skip-pull-image",
        ]

    @staticmethod
    def environment() -> dict[str, str]:
        return {"AWS_DEFAULT_REGION": "eu-central-1", **os.environ, "SAM_CLI_TELEMETRY": "0"}


@contextmanager
def sam_local(environ: Mapping[str, str], template: Path, index: Path, *, api: str | None = None) -> Iterator[SamLocal]:
    """Start the services that the function calls, and yield how to run it.

    With COHERE_API_KEY and QDRANT_URL set, these are the real ones. Otherwise they are emulators with the points of
    `index`; if two profiles name one collection, it has the default profile's points, or the first one's. All set
    variables of the function are passed on.

    Args:
        api: the kind of API; None for the template's default.

    Raises:
        LocalError: something is missing or conflicts; says what to change.
    """
    sam = _find_sam()
    built = _read(template)
    declared = set(built["Resources"][FUNCTION]["Properties"]["Environment"]["Variables"])
    with _services(environ, index) as services, TemporaryDirectory() as folder:
        given = {**{name: environ[name] for name in sorted(names()) if value_of(environ, name)}, **services}
        variables = Path(folder) / "variables.json"
        variables.touch(mode=0o600)  # the file may hold keys
        variables.write_text(json.dumps({"Parameters": _declared(given, declared)}), encoding="utf-8")
        yield SamLocal(sam, _with_one_api(built, template, api), variables)


def _declared(given: Mapping[str, str], declared: Collection[str]) -> dict[str, str]:
    """The variables, those that the template does not declare within PASSAGE_SETTINGS: SAM would silently drop them."""
    undeclared = [f"{name}={value}" for name, value in given.items() if name not in declared]
    packed = ",".join([*filter(None, [given.get(PACKED)]), *undeclared])
    return {name: value for name, value in given.items() if name in declared} | {PACKED: packed}


@contextmanager
def _services(environ: Mapping[str, str], index: Path) -> Iterator[dict[str, str]]:
    real = [bool(value_of(environ, name)) for name in ("COHERE_API_KEY", "QDRANT_URL")]
    if all(real):
        yield {}
        return
    if any(real):
        raise LocalError("Set both COHERE_API_KEY and QDRANT_URL, or neither for the emulators.")
    check_index(index, {"COHERE_BASE_URL": "http://localhost"})
    address = reachable_address()
    with TemporaryDirectory() as storage:
        served = _serve_index(index, Path(storage), CollectionSettings.from_env(environ))
        with cohere_emulator(host=address) as cohere, qdrant_emulator(Path(storage), host=address) as qdrant:
            yield {
                "COHERE_API_KEY": LOCAL_KEY,
                "COHERE_BASE_URL": cohere.url.replace(address, HOST_NAME),
                "STORE": "qdrant_server",
                "QDRANT_URL": qdrant.url.replace(address, HOST_NAME),
                "PROFILES": ",".join(served),
            }


def _serve_index(index: Path, storage: Path, settings: CollectionSettings) -> list[str]:
    """Copy each profile's points into the emulator's storage: a server writes to its collections.

    Returns the names of the profiles.
    """
    indexed = [name for name in profiles.names() if (index / name / SHARD).is_dir()]
    if not indexed:
        raise LocalError(f"There is no index in {index}: run `passage index` (or `make index`).")
    for name in sorted(indexed, key=lambda name: name != settings.default_profile):
        collection = profiles.load_with_settings(name, settings).collection
        if not (storage / collection.name).exists():
            sparse_files.copy_folder(index / name / SHARD, storage / collection.name)
    return indexed


def _read(template: Path) -> dict[str, Any]:
    try:
        return dict(yaml.safe_load(template.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise LocalError(f"{template} is not there: run `make build-local`.") from None


def _with_one_api(built: dict[str, Any], template: Path, api: str | None) -> Path:
    """Write a copy of the built template for `sam local`, next to the original because its paths are relative.

    SAM ignores conditions and serves every API: the REST API would get all requests, under the stage of the last API.
    It uses another name for a default route than an OpenAPI document. Nested stacks have nothing to run.
    """
    chosen = APIS.get(api or built["Parameters"]["Api"]["Default"])
    others = {*APIS.values(), NESTED_STACK} - {chosen}
    resources = {name: resource for name, resource in built["Resources"].items() if resource["Type"] not in others}
    for resource in resources.values():
        if resource["Type"] == APIS["http"]:
            paths = resource["Properties"].get("DefinitionBody", {}).get("paths", {})
            if "/$default" in paths:
                paths["$default"] = paths.pop("/$default")
            for operation in (each for path in paths.values() for each in path.values()):
                operation.pop("security", None)  # SAM asks no authorizer, and cannot read an absent one
    changed = {key: part for key, part in built.items() if key != "Outputs"} | {"Resources": resources}
    # SAM reads the template twice a command, and JSON is a hundred times faster. JSON has no dates: they become text.
    local = template.resolve().with_name(f"{template.stem}-{api or 'default'}.json")
    local.write_text(json.dumps(changed, default=str), encoding="utf-8")
    return local


def _find_sam() -> Path:
    for folder in (Path(".venv-sam/bin").resolve(), None):
        if found := shutil.which("sam", path=folder):
            return Path(found)
    raise LocalError(
        "AWS SAM CLI was not found: neither in .venv-sam nor on PATH (`make .venv-sam/.ready` installs it)."
    )


@click.group()
@click.option("--template", type=click.Path(path_type=Path), default=TEMPLATE, show_default=True)
@click.option("--index", type=click.Path(path_type=Path), default=Path(".passage/index"), show_default=True)
@click.option("--api", type=click.Choice(sorted(APIS)), help="The kind of API to serve.  [default: the template's]")
@click.pass_context
def main(context: click.Context, template: Path, index: Path, api: str | None) -> None:
    """Run the built function in AWS SAM's containers."""
    try:
        context.obj = context.with_resource(sam_local(os.environ, template, index, api=api))
    except (LocalError, PassageError) as error:
        raise click.ClickException(str(error)) from error


@main.command()
@click.argument("event", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.pass_obj
def invoke(local: SamLocal, event: str) -> None:
    """Print the function's answer to EVENT, a JSON file (or - for stdin); its log goes to stderr."""
    sys.exit(_run(local.command("invoke", "--event", event)))


@main.command()
@click.option("--port", type=click.IntRange(1, 65535), default=3000, show_default=True)
@click.pass_obj
def start_api(local: SamLocal, port: int) -> None:
    """Serve the API on 127.0.0.1."""
    sys.exit(_run(local.command("start-api", "--port", str(port), "--warm-containers", "EAGER")))


def _run(command: list[str]) -> int:
    """Run until SAM ends by itself, because it must remove its containers."""
    with subprocess.Popen(command, env=SamLocal.environment()) as process:  # noqa: S603 - our own command
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:  # Ctrl-C reaches SAM, too
                continue


if __name__ == "__main__":
    main()
