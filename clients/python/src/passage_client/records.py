"""The objects of an answer: JSON whose fields are attributes, too."""

from collections.abc import Mapping
from typing import Any


class Record(dict[str, Any]):
    """A JSON object: `answer.results[0].url` is `answer["results"][0]["url"]`.

    Attributes:
        headers: of the response, on a whole answer alone.
        request_id: the API gateway's, on a whole answer alone.
    """

    headers: Mapping[str, str] = {}
    request_id: str | None = None

    def __getattr__(self, name: str) -> Any:
        from passage_client.types import OPTIONAL  # noqa: PLC0415 - its classes are records

        if name in self or name in OPTIONAL:
            return self.get(name)
        raise AttributeError(f"The answer has no field '{name}'. It has {', '.join(self)}.")
