"""Names a deployment: the same name for the same code, template and parameters, another name for any other.

    python layers/release.py .aws-sam/build STACK Name=value …

The name is the template's ReleaseId. SAM publishes a version of the function for each new one. Without it, SAM compares
the template's text and the uploads only: a changed parameter would reach $LATEST alone, which nobody calls.

A release that was rolled back gets a new name. Its version of the function stays, and Lambda refuses to publish an
identical one ("A version for this Lambda function exists", serverless-application-model#1375).
"""

import hashlib
import sys
from pathlib import Path

import boto3
from botocore.exceptions import BotoCoreError, ClientError


def release_id(build: Path, parameters: list[str], rolled_back: str = "") -> str:
    """Twenty hexadecimal digits of a hash, because a parameter may be a key."""
    digest = hashlib.sha256()
    for path in sorted(path for path in build.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(build).as_posix()}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    digest.update("\0".join(parameters).encode())
    digest.update(rolled_back.encode())
    return digest.hexdigest()[:20]


def rolled_back(stack: str) -> str:
    """The time of the stack's last update if that was rolled back, else an empty text.

    Raises:
        SystemExit: the stack's first creation failed, so it cannot be updated.
    """
    try:
        described = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
    except (BotoCoreError, ClientError):
        return ""  # no such stack yet, or `sam deploy` will say what is wrong
    if described["StackStatus"] == "ROLLBACK_COMPLETE":
        raise SystemExit(
            f"The first deployment of {stack} failed and left it in ROLLBACK_COMPLETE, which cannot be updated. "
            "Read its events in the CloudFormation console, then delete it (make destroy) and deploy again."
        )
    if described["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE":
        return str(described.get("LastUpdatedTime", described["CreationTime"]))
    return ""


if __name__ == "__main__":
    build, stack, *parameters = sys.argv[1:]
    sys.stdout.write(release_id(Path(build), parameters, rolled_back(stack)) + "\n")
