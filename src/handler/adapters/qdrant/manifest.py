"""An Edge index's manifest: what the index is. Reading it does not load the engine.

`passage index` writes one folder a profile: `manifest.json`, and `shard/` with the engine's own files.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasPath, BaseModel, Field

from handler.config.profiles import Profile
from handler.config.validation import check_embedder, check_name
from handler.core.errors import CollectionNotFound, ConfigurationError

MANIFEST = "manifest.json"
SHARD = "shard"
FORMAT = 1


class StoredFile(BaseModel, frozen=True):
    """A file of the index as it was written: its size and its CRC-32."""

    bytes: int
    crc32: int


class Manifest(BaseModel, frozen=True):
    """An index's description. `passage index` writes more fields than these."""

    format: Literal[1]
    collection: str
    vector: str
    dimension: int = Field(ge=0)
    """0 for an index without vectors."""
    distance: str
    embedding_model: str
    embedded_by: str = "cohere"
    text_index: Mapping[str, Mapping[str, Any]] = Field({}, validation_alias=AliasPath("stored_as", "text_index"))
    """The text indexes, by payload key."""
    noise: Any = None
    """See `handler.adapters.qdrant.text_search.noise_of`."""
    points: int = Field(ge=0)
    files: Mapping[str, StoredFile]
    """By path. What the engine writes anew whenever it opens the index is not among them."""

    def sizes(self) -> dict[str, int]:
        """Its vector, by name (empty: unnamed), and the vector's dimension; empty without vectors."""
        return {self.vector: self.dimension} if self.dimension else {}


def check_sizes(folder: Path, manifest: Manifest, profile: Profile) -> None:
    """Check that every file of the index is there, with its size. A damaged one can end the process in the engine.

    Raises:
        ConfigurationError: names the first file that is missing or has another size.
    """
    for name, file in manifest.files.items():
        try:
            size = (folder / name).stat().st_size
        except OSError:
            raise damage(profile.name, f"{name} is missing") from None
        if size != file.bytes:
            raise damage(profile.name, f"{name} has {size:,} bytes instead of {file.bytes:,}")


def damage(profile: str, what: str) -> ConfigurationError:
    """The error for an index that is not as it was written."""
    return ConfigurationError(
        f"The index for the profile '{profile}' is damaged: {what}. Run `passage index` again.",
        upstream="store",
    )


def read(folder: Path, profile: Profile, embedded_by: Collection[str]) -> Manifest:
    """The manifest in `folder`, validated against the profile.

    Args:
        embedded_by: see `check_embedder`.

    Raises:
        CollectionNotFound: there is no index, or it holds another collection than the profile's.
        ConfigurationError: the manifest cannot be read, or its vector has another name.
        ModelMismatch: the index's vectors are not comparable with the questions'.
    """
    path = folder / MANIFEST
    try:
        manifest = Manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise CollectionNotFound(
            f"There is no index for the profile '{profile.name}' under EDGE_INDEX_PATH: run `passage index`.",
            upstream="store",
            detail=f"no {path}",
        ) from None
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"The index for the profile '{profile.name}' cannot be read: run `passage index` again.",
            upstream="store",
            detail=f"{path}: {error!r}",
        ) from error
    if manifest.collection != profile.collection.name:
        raise CollectionNotFound(
            f"The index holds the collection '{manifest.collection}', the profile asks for "
            f"'{profile.collection.name}': set COLLECTION_NAME, or index the site again.",
            upstream="store",
        )
    if not profile.search.has_vectors:
        return manifest
    check_name(profile.collection, manifest.sizes())
    what = f"The index for the profile '{profile.name}'"
    check_embedder(profile, manifest.embedded_by, manifest.embedding_model, embedded_by, what)
    return manifest
