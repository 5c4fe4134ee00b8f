"""An index that `passage index --publish` put into S3: a small pointer, and the packed index it points to.

A pointer is replaced in one step. The packed index is named after its checksum and never changes. So a reader always
sees one complete version.
"""

import hashlib
import os
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import httpx
from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel, Field

from handler.adapters.aws import client as aws
from handler.adapters.qdrant import sparse_files
from handler.adapters.qdrant.manifest import MANIFEST, Manifest, damage
from handler.core.deadline import Deadline, within
from handler.core.errors import (
    CollectionNotFound,
    ConfigurationError,
    DeadlineExceeded,
    PassageError,
    UpstreamUnavailable,
)

FORMAT: Literal[1] = 1
CHUNK = 1024 * 1024
POINTER_BYTES = 65_536
"""The most bytes that are read of a pointer. It has some 200."""


class Pointer(BaseModel, frozen=True):
    """Which version is the current one. `object` is relative to the pointer's folder; `version` says what is in it."""

    format: Literal[1]
    version: str
    object: str = Field(pattern=r"^[\w-][\w.-]*(/[\w-][\w.-]*)*$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=1)


def address(uri: str) -> tuple[str, str]:
    """The bucket and the prefix of its keys: empty or ending in a slash."""
    bucket, _, folder = uri.removeprefix("s3://").partition("/")
    return bucket, f"{folder}/" if folder else ""


def pointer_name(profile: str) -> str:
    return f"{profile}.json"


class PublishedIndex:
    """One profile's index, published under `uri`, and its unpacked versions on this machine."""

    def __init__(self, uri: str, profile: str) -> None:
        self._bucket, self._folder = address(uri)
        self._profile = profile

    @cached_property
    def _client(self) -> Any:
        return aws.client("s3", most_bytes=aws.STREAM_BYTES)

    def forget_credentials(self) -> None:
        self.__dict__.pop("_client", None)

    def pointer(self, until: Deadline | None) -> Pointer:
        """The current version.

        Args:
            until: when to give up; None for never.

        Raises:
            CollectionNotFound: nothing is published for the profile.
            ConfigurationError: it may not be read, or cannot be understood.
            UpstreamUnavailable: S3 failed temporarily.
            DeadlineExceeded: the time ran out.
        """
        text = b""
        with self._map_errors(until), closing(self._get(pointer_name(self._profile))["Body"]) as body:
            for chunk in body.iter_chunks(CHUNK):
                text += chunk
                if len(text) > POINTER_BYTES:
                    break
        try:
            return Pointer.model_validate_json(text)
        except ValueError as error:
            raise ConfigurationError(self._again("has a pointer that cannot be read"), upstream="store") from error

    def unpack(self, pointer: Pointer, until: Deadline | None) -> Path:
        """The folder with that version. It is fetched if missing. What was fetched in time is kept for the next call.

        Args, Raises: as `pointer`.
        """
        with self._map_errors(until):
            final = _home() / f"{self._profile}-{pointer.sha256[:16]}"
            if not final.is_dir():
                part = final.with_name(f".{final.name}")
                self._make_room(part)
                packed, folder = part / "packed", part / self._profile
                self._download(pointer, packed)
                try:
                    self._check(extract(packed, folder), folder)
                    packed.unlink()
                    part.rename(final)
                finally:
                    shutil.rmtree(part, ignore_errors=True)
            return final

    def remove_others(self, current: Path) -> None:
        """Remove every version of this profile's index on this machine except `current`.

        A process that has one open keeps its files until it closes them (unlink(2)).
        """
        for folder in current.parent.glob(f"{self._profile}-{'[0-9a-f]' * 16}"):
            if folder != current:
                shutil.rmtree(folder, ignore_errors=True)

    def _make_room(self, part: Path) -> None:
        """Make the folder for a version that is fetched, without what a process left that was killed."""
        for other in part.parent.glob(f".{self._profile}-*"):
            if other != part:
                shutil.rmtree(other, ignore_errors=True)
        shutil.rmtree(part / self._profile, ignore_errors=True)
        part.mkdir(exist_ok=True)

    def _check(self, checksums: Mapping[str, int], folder: Path) -> None:
        """Compare the unpacked files with the manifest.

        Raises:
            ConfigurationError: names the first file whose checksum differs.
        """
        try:
            said = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
        except (OSError, ValueError):
            return  # the store's error says more
        for name, file in said.files.items():
            if name in checksums and checksums[name] != file.crc32:
                raise damage(self._profile, f"{name} does not match its checksum")

    def _download(self, pointer: Pointer, to: Path) -> None:
        """Fetch the packed index, or the rest of it."""
        digest, size = hashlib.sha256(), 0
        with to.open("a+b") as file:
            file.seek(0)
            while chunk := file.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)
            if size < pointer.bytes:
                answer = self._get(pointer.object, size)
                if size and answer["ResponseMetadata"]["HTTPStatusCode"] != 206:  # not every store knows Range
                    file.truncate(0)
                    digest, size = hashlib.sha256(), 0
                with closing(answer["Body"]) as body:
                    for chunk in body.iter_chunks(CHUNK):
                        size += len(chunk)
                        if size > pointer.bytes:
                            break
                        digest.update(chunk)
                        file.write(chunk)
        if size != pointer.bytes or digest.hexdigest() != pointer.sha256:
            to.unlink()
            raise ConfigurationError(
                self._again("does not match its checksum"), upstream="store", detail=f"{size} bytes of {pointer}"
            )

    def _get(self, name: str, start: int = 0) -> Any:
        rest = {"Range": f"bytes={start}-"} if start else {}
        return self._client.get_object(Bucket=self._bucket, Key=self._folder + name, **rest)

    def _again(self, what: str) -> str:
        return f"The published index for the profile '{self._profile}' {what}: run `passage index --publish` again."

    @contextmanager
    def _map_errors(self, until: Deadline | None) -> Iterator[None]:
        """Ends every wait for S3 with `until`, and maps errors."""
        try:
            with within(until) if until is not None else nullcontext():
                yield
        except PassageError:
            raise
        except (ClientError, BotoCoreError, httpx.HTTPError) as error:
            if until is not None and until.remaining() <= 0:
                raise DeadlineExceeded(
                    "The request's time ran out while the index was fetched.", upstream="store", detail=repr(error)
                ) from error
            raise self._unreachable(error) from error
        except UnsafeArchive as error:
            raise ConfigurationError(self._again("cannot be unpacked"), upstream="store", detail=str(error)) from error
        except OSError as error:
            raise ConfigurationError(
                f"The index for the profile '{self._profile}' cannot be unpacked: the function's /tmp must hold it "
                "three times while a new version comes (template: EphemeralStorage).",
                upstream="store",
                detail=repr(error),
            ) from error

    def _unreachable(self, error: ClientError | BotoCoreError | httpx.HTTPError) -> PassageError:
        where = f"s3://{self._bucket}/{self._folder}"
        if isinstance(error, ClientError) and aws.code(error) in ("NoSuchKey", "404"):
            return CollectionNotFound(
                f"No index is published for the profile '{self._profile}' under EDGE_INDEX_URI: run `passage index "
                "--publish`.",
                upstream="store",
                detail=f"{where}: {error}",
            )
        if aws.is_temporary(error):
            return UpstreamUnavailable("The index could not be fetched.", upstream="store", detail=f"{where}: {error}")
        return ConfigurationError(
            "EDGE_INDEX_URI: the index could not be fetched. Check that the bucket exists, that something is published "
            "for the profile, and that the function's role may read it (s3:GetObject).",
            upstream="store",
            detail=f"{where}: {error!r}",
        )


class UnsafeArchive(Exception):
    """The archive holds something other than plain files and folders, or a path outside of its folder."""


def extract(packed: Path, folder: Path) -> dict[str, int]:
    """Unpack plain files and folders into `folder` only; gives the CRC-32 of each file, by its path.

    Raises:
        UnsafeArchive: there is anything else in it, or it is no archive.
    """
    checksums = {}
    try:
        with tarfile.open(packed, "r:gz") as archive:
            for member in archive:
                target = folder / _inside(member)
                if member.isdir():
                    target.mkdir(parents=True, exist_ok=True)
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                source = archive.extractfile(member)
                assert source is not None  # noqa: S101 - it is a file
                with source, target.open("xb") as file:
                    checksums[member.name] = sparse_files.fill(file, source)
    except (tarfile.TarError, EOFError, FileExistsError, NotADirectoryError) as error:
        raise UnsafeArchive(repr(error)) from error
    except OSError as error:
        if error.errno is None:  # gzip's own
            raise UnsafeArchive(repr(error)) from error
        raise
    return checksums


def _inside(member: tarfile.TarInfo) -> PurePosixPath:
    path = PurePosixPath(member.name)
    if not (member.isreg() or member.isdir()):
        raise UnsafeArchive(f"'{member.name}' is neither a file nor a folder")
    if path.is_absolute() or ".." in path.parts or "\\" in member.name or "\0" in member.name:
        raise UnsafeArchive(f"'{member.name}' is outside of the archive's folder")
    return path


def _home() -> Path:
    """The folder for unpacked versions. It must belong to the function's user: others could plant an index."""
    home = Path(tempfile.gettempdir()) / f"passage-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    status = home.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise ConfigurationError("Others can write to the folder that indexes are unpacked to.", detail=str(home))
    return home
