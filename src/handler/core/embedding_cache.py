"""The embeddings of the questions asked last: a question that is asked again costs no call.

It lives as long as a container. Documentation sites are asked the same things over and over, a widget's suggestions
above all.
"""

import unicodedata
from array import array
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from handler.core.model import Vector

DIGEST_BYTES = 16


def normalised(text: str) -> str:
    """A question as it is embedded, so that texts a reader cannot tell apart are one: NFC, each white space one blank.

    Case stays: to the models it is a difference.
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


class EmbeddingCache:
    """What was asked longest ago makes room for what is asked now.

    Nothing of a question is kept but a digest: what is remembered has a bound in bytes, 8 for each number of a vector,
    and can be read by nobody.

    Args:
        size: how many embeddings are kept; none with 0.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[bytes, array[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def known(self, space: str, texts: Sequence[str]) -> dict[str, Vector]:
        """Those of `texts` that are remembered, with their vectors, each `(dimension,)`.

        Args:
            space: what the vectors are of: vectors of two models, or of two dimensions, are never mixed up.
            texts: normalised.
        """
        found: dict[str, Vector] = {}
        for text in texts:
            key = _digest(space, text)
            vector = self._kept.get(key)
            if vector is not None:
                self._kept.move_to_end(key)
                found[text] = vector
        return found

    def keep(self, space: str, vectors: Mapping[str, Vector]) -> None:
        """Remember vectors by their normalised texts."""
        for text, vector in vectors.items():
            self._kept[_digest(space, text)] = array("d", vector)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)


def _digest(space: str, text: str) -> bytes:
    return blake2b(f"{space}\n{text}".encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
