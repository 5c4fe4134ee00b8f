"""Refusals worded as Qdrant's server words them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from passage.emulators.replies import ApiError


def format_error(detail: str) -> ApiError:
    """The body is not the JSON that was expected."""
    return ApiError(400, f"Format error in JSON body: {detail}")


def wrong_input(detail: str) -> ApiError:
    """A well-formed request for something that the collection does not have."""
    return ApiError(400, f"Wrong input: {detail}")


def out_of_range(where: str, field: str, value: object, rule: str) -> ApiError:
    """A value of the right type outside its bounds."""
    return ApiError(422, f"Validation error in {where}: [{field}: value {value} invalid, {rule}]")


def unsupported(what: str, supported: Iterable[str]) -> ApiError:
    """The server may know it; this emulator does not, and says so rather than ignore it."""
    return ApiError(400, f"Bad request: the emulator does not support {what}; it knows {', '.join(supported)}")


@contextmanager
def engine_errors() -> Iterator[None]:
    """Turns exceptions of the engine and its bindings into the server's answers."""
    try:
        yield
    except (ApiError, KeyError, OSError):
        raise
    except (ValueError, TypeError, OverflowError) as error:  # the bindings refuse an argument
        raise wrong_input(str(error).partition("\n")[0]) from error
    except Exception as error:
        if type(error) is not Exception:  # the engine raises bare Exception; anything else is our own mistake
            raise
        message = str(error)
        if message.startswith("Service runtime error"):
            raise ApiError(500, f"Service internal error: {message}") from error
        raise wrong_input(message) from error
