"""Measures reading a key: from the AWS Parameters and Secrets Lambda Extension, or through boto3.

Both services are emulated on loopback, so what is measured is the function's own work: mostly imports. Each figure is
of a fresh process that has imported what the function imports anyway (httpx, pydantic, Powertools).
"""

import logging
import os
import statistics
import subprocess
import sys
from pathlib import Path

from aiohttp import web
from moto.server import ThreadedMotoServer

from passage.emulators.server import EmulatedService
from tools.doubles.server import EmulatorServer

ROUNDS = 9
SRC = Path(__file__).resolve().parent.parent / "src"

READ = """
import os, time
from handler.adapters.aws.secrets import CachedKey
from handler.adapters import transport
from handler.config.values import SecretReference
transport.shared()
started = time.perf_counter()
key = CachedKey(SecretReference.parse("passage"), variable="", upstream="embedding", ttl=60, environ=os.environ)
assert key.value() == "a-key"
first = time.perf_counter()
key.after_restore()
key.value()
print((first - started) * 1000, (time.perf_counter() - first) * 1000)
"""

EMBEDDERS = {
    "cohere.ClientV2": "import cohere; cohere.ClientV2",
    "boto3 and a bedrock-runtime client": "import boto3; boto3.client('bedrock-runtime', region_name='eu-central-1')",
    "cohere.BedrockClientV2": (
        "import cohere; cohere.BedrockClientV2("
        "aws_region='eu-central-1', aws_access_key='x', aws_secret_key='x', aws_session_token='x')"
    ),
}


def run(code: str, **environ: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(SRC), "AWS_DEFAULT_REGION": "eu-central-1", **environ},
    )
    return [float(figure) for figure in done.stdout.split()]


def report(name: str, rows: list[list[float]]) -> None:
    print(f"{name:<38}" + "".join(f"{statistics.median(column):>9.0f}" for column in zip(*rows, strict=True)))


def main() -> None:
    async def secret(_: web.Request) -> web.Response:
        return web.json_response({"SecretString": "a-key"})

    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    extension = EmulatorServer(
        EmulatedService("extension", [web.get("/secretsmanager/get", secret)], lambda _, text: text, lambda _: None)
    )
    try:
        with extension:
            host, port = moto.get_host_and_port()
            aws = {
                "AWS_ENDPOINT_URL": f"http://{host}:{port}",
                "AWS_ACCESS_KEY_ID": "testing",
                "AWS_SECRET_ACCESS_KEY": "testing",
            }
            run(
                "import boto3; boto3.client('secretsmanager').create_secret(Name='passage', SecretString='a-key')",
                **aws,
            )
            local = {
                "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",  # the extension is only asked in Lambda
                "AWS_SESSION_TOKEN": "token",
                "PARAMETERS_SECRETS_EXTENSION_HTTP_PORT": extension.url.rpartition(":")[2],
            }
            print(f"{'milliseconds, medians of ' + str(ROUNDS):<38}{'first':>9}{'again':>9}")
            report("a key from the extension", [run(READ, **local) for _ in range(ROUNDS)])
            report("a key through boto3", [run(READ, **aws) for _ in range(ROUNDS)])
    finally:
        moto.stop()
    print(f"\n{'importing an embedding client':<38}")
    for name, code in EMBEDDERS.items():
        timed = f"import time; started = time.perf_counter()\n{code}\nprint((time.perf_counter() - started) * 1000)"
        report(name, [run(timed) for _ in range(ROUNDS)])


if __name__ == "__main__":
    main()
