"""The error tree. An error knows its code and who has to act on it; never an HTTP status.

PassageError
├── InvalidRequest            the caller's input is wrong; says how, and what is allowed
│   ├── BlankText             the question has no visible character
│   ├── VectorSizeWrong       the caller's vector has another dimension than the collection
│   ├── AnswerTooLarge        the requested answer does not fit into a response
│   └── ChoiceRefused         the store refuses what the caller chose; it answers a plain question
├── NotFound                  no such path, profile or chunk
│   └── CollectionNotServed   the caller named a collection this deployment does not serve
├── ConfigurationError        for the operator to fix; says what to change
│   ├── CollectionNotFound
│   ├── DimensionMismatch
│   ├── VectorNameMismatch
│   ├── ModelMismatch
│   ├── CredentialsRefused
│   ├── NoTextIndex           the collection cannot be searched without a vector
│   └── RequestRefused        an upstream refused the request (a retired model, a filter without a payload index)
├── UpstreamError             Cohere or Qdrant failed temporarily
│   ├── UpstreamThrottled
│   └── UpstreamUnavailable
├── DeadlineExceeded          the request's time ran out
└── InternalError             an unexpected exception
"""

from typing import ClassVar, Literal

Upstream = Literal["embedding", "store", "reranking", "reply"]
Blame = Literal["ours", "upstream", "caller"]
"""Who has to act on an error: the operator, nobody (an upstream recovers by itself), or the caller."""


class PassageError(Exception):
    """The root. `str(error)` may be shown to a caller: it never holds a key, an upstream's URL or its wording.

    Args:
        message: a sentence for the caller.
        upstream: the service that failed, if one did.
        detail: facts for the operator, such as the upstream's message; logged, never sent to the caller.
    """

    code: ClassVar[str] = "INTERNAL_ERROR"
    blame: ClassVar[Blame] = "ours"
    unexpected: BaseException | None = None
    """The exception that an InternalError stands for, for the log."""

    def __init__(self, message: str, *, upstream: Upstream | None = None, detail: str | None = None) -> None:
        super().__init__(message)
        self.upstream: Upstream | None = upstream
        self.detail = detail


class InvalidRequest(PassageError):
    code = "INVALID_REQUEST"
    blame = "caller"


class BlankText(InvalidRequest):
    code = "BLANK_TEXT"


class VectorSizeWrong(InvalidRequest):
    code = "VECTOR_SIZE_WRONG"


class AnswerTooLarge(InvalidRequest):
    code = "ANSWER_TOO_LARGE"


class ChoiceRefused(InvalidRequest):
    """The store refuses the question because of its filters, its number of passages, its neighbors or its id."""

    code = "CHOICE_REFUSED"

    @classmethod
    def of(cls, error: PassageError) -> "ChoiceRefused":
        """The same refusal, as the caller's."""
        return cls(str(error), upstream=error.upstream, detail=error.detail)


class NotFound(PassageError):
    code = "NOT_FOUND"
    blame = "caller"


class CollectionNotServed(NotFound):
    code = "COLLECTION_NOT_SERVED"


class ConfigurationError(PassageError):
    code = "CONFIGURATION_ERROR"


class CollectionNotFound(ConfigurationError):
    code = "COLLECTION_NOT_FOUND"


class DimensionMismatch(ConfigurationError):
    code = "DIMENSION_MISMATCH"


class VectorNameMismatch(ConfigurationError):
    code = "VECTOR_NAME_MISMATCH"


class ModelMismatch(ConfigurationError):
    code = "MODEL_MISMATCH"


class CredentialsRefused(ConfigurationError):
    code = "CREDENTIALS_REFUSED"


class NoTextIndex(ConfigurationError):
    pass


class RequestRefused(ConfigurationError):
    code = "REQUEST_REFUSED"


class UpstreamError(PassageError):
    """A service failed temporarily.

    Args:
        retry_after: seconds the upstream asked to wait; None when it gave no time.
    """

    code = "UPSTREAM_ERROR"
    blame = "upstream"

    def __init__(
        self, message: str, *, upstream: Upstream, retry_after: float | None = None, detail: str | None = None
    ) -> None:
        super().__init__(message, upstream=upstream, detail=detail)
        self.retry_after = retry_after


class UpstreamThrottled(UpstreamError):
    code = "UPSTREAM_THROTTLED"


class UpstreamUnavailable(UpstreamError):
    code = "UPSTREAM_UNAVAILABLE"


class DeadlineExceeded(PassageError):
    """Never retried within the request. A queue delivers its message again, with a new deadline."""

    code = "DEADLINE_EXCEEDED"
    blame = "upstream"


class InternalError(PassageError):
    """An unexpected exception. The caller sees only this fixed message."""

    def __init__(self, unexpected: BaseException) -> None:
        super().__init__("An unexpected error occurred. Search the function's log for the request id.")
        self.unexpected = unexpected


def to_known(error: BaseException) -> PassageError:
    """The error itself, or InternalError in place of an exception that nobody expected."""
    return error if isinstance(error, PassageError) else InternalError(error)
