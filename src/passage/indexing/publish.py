"""Puts an index into S3, where deployed functions fetch it: the packed index first, then the pointer to it."""

import gzip
import hashlib
import json
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from boto3.exceptions import S3UploadFailedError
from botocore.exceptions import BotoCoreError, ClientError
from pydantic import TypeAdapter, ValidationError

from handler.adapters.aws import client as aws
from handler.adapters.qdrant.manifest import MANIFEST
from handler.adapters.qdrant.published_index import FORMAT, Pointer, address, pointer_name
from handler.config.values import BucketUri
from passage.indexing.edge_index import empty_segments


class PublishError(Exception):
    """The index could not be published. The message says what to change."""


@dataclass(frozen=True, slots=True)
class Published:
    """The address of a profile's pointer, and whether it was written."""

    pointer: str
    changed: bool


def publish(uri: str, folder: Path) -> Published:
    """Publish the index in `folder`; the folder has the profile's name.

    An index with the published manifest is not uploaded again. Manifests are compared without their files, because the
    engine gives those new names at each write.

    Raises:
        PublishError: the address is wrong, the bucket cannot be written to, or the index cannot be read.
    """
    try:
        bucket, prefix = address(TypeAdapter(BucketUri).validate_python(uri))
    except ValidationError as error:
        raise PublishError(f"--publish {error.errors()[0]['msg'].removeprefix('Value error, ')}.") from error
    key = prefix + pointer_name(folder.name)
    where = f"s3://{bucket}/{key}"
    try:
        version = _content(folder)
        s3 = boto3.client("s3")  # with boto3's default timeouts and retries: no question waits here
        if _version(s3, bucket, key) == version:
            return Published(where, changed=False)
        with _pack(folder) as packed:
            with packed.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            name = f"{folder.name}/{digest}.tar.gz"
            s3.upload_file(str(packed), bucket, prefix + name)
            pointer = Pointer(format=FORMAT, version=version, object=name, sha256=digest, bytes=packed.stat().st_size)
        s3.put_object(
            Bucket=bucket, Key=key, Body=pointer.model_dump_json(indent=2).encode(), ContentType="application/json"
        )
    except (ClientError, BotoCoreError, S3UploadFailedError) as error:
        raise PublishError(f"{where} cannot be published: {error}") from error
    except OSError as error:
        raise PublishError(f"{folder} cannot be packed: {error}") from error
    return Published(where, changed=True)


def pack(folder: Path, to: Path) -> None:
    """Pack an index in a fixed order, without times, owners or a name: equal files give equal bytes.

    The segment for later writes is left out. It is empty but takes most of the time to unpack: 72 MB of zeros, and
    39 MB more for each further text index. The engine makes a new one when it opens the index.
    """
    empty = empty_segments(folder)
    with (
        to.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).parts):
            if empty.intersection((path, *path.parents)):
                continue
            member = tarfile.TarInfo(path.relative_to(folder).as_posix())
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise OSError(f"{path} is neither a file nor a folder")
            if path.is_dir():
                member.type, member.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(member)
                continue
            member.size, member.mode = path.stat().st_size, 0o644
            with path.open("rb") as source:
                archive.addfile(member, source)


@contextmanager
def _pack(folder: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="passage-publish-") as temporary:
        packed = Path(temporary) / "packed.tar.gz"
        pack(folder, packed)
        yield packed


def _content(folder: Path) -> str:
    """A hash of what an index holds."""
    said = json.loads((folder / MANIFEST).read_bytes())
    said.pop("files", None)
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _version(s3: Any, bucket: str, key: str) -> str | None:
    """The published version; None where it is missing or unreadable."""
    try:
        return Pointer.model_validate_json(s3.get_object(Bucket=bucket, Key=key)["Body"].read()).version
    except ValidationError:
        return None
    except ClientError as error:
        if aws.code(error) in ("NoSuchKey", "AccessDenied"):  # publishing must work with write permission alone
            return None
        raise
