"""Embeds documents, as `search_document`; the function embeds questions, as `search_query`."""

from collections.abc import Callable, Sequence

import httpx
from cohere import ClientV2

BATCH = 96
"""Texts a call, the most Cohere's embed endpoint takes."""

TIMEOUT_SECONDS = 60.0
RETRIES = 4
"""The SDK's own, with its own waits: nobody is waiting for an answer here."""


class EmbeddingError(Exception):
    """What came back is not what was asked for."""


class DocumentEmbedder:
    """Embeds texts with one model into vectors of shape `(dimension,)`."""

    def __init__(self, *, api_key: str, base_url: str, model: str, dimension: int) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._model = model
        self._dimension = dimension

    def embed(self, texts: Sequence[str], progress: Callable[[int], None]) -> list[list[float]]:
        """One vector for each text, in order; `progress` is told how many more are done.

        Raises:
            EmbeddingError: the model's vectors do not have the profile's dimension.
            cohere.core.api_error.ApiError: as the SDK raises it.
        """
        vectors: list[list[float]] = []
        with httpx.Client(timeout=TIMEOUT_SECONDS) as http:  # ours, because the SDK does not close its own
            client = ClientV2(api_key=self._api_key, base_url=self._base_url, httpx_client=http, max_retries=RETRIES)
            for start in range(0, len(texts), BATCH):
                batch = list(texts[start : start + BATCH])
                vectors.extend(self._embed(client, batch))
                progress(len(batch))
        return vectors

    def _embed(self, client: ClientV2, batch: list[str]) -> list[list[float]]:
        response = client.embed(
            texts=batch,
            model=self._model,
            input_type="search_document",
            embedding_types=["float"],
            # `...` is the SDK's own mark for "not sent"; only embed-v4 and later let the caller choose.
            output_dimension=self._dimension if self._model.startswith("embed-v") else ...,  # type: ignore[arg-type]
        )
        found = response.embeddings.float_ or []
        if len(found) != len(batch) or any(len(vector) != self._dimension for vector in found):
            sizes = sorted({len(vector) for vector in found}) or "no vectors"
            raise EmbeddingError(
                f"{self._model} gave {sizes} for {len(batch)} texts; the profile's dimension is {self._dimension}."
            )
        return found
