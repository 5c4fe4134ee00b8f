"""Error messages in the wording of Qdrant's server."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from passage.emulators.server import ApiError


def format_error(detail: str) -> ApiError:
    """The body is not the expected JSON."""
    return ApiError(400, f"Format error in JSON body: {detail}")


def wrong_input(detail: str) -> ApiError:
    """A valid request that does not fit the collection."""
    return ApiError(400, f"Wrong input: {detail}")


def out_of_range(where: str, field: str, value: object, rule: str) -> ApiError:
    """A value of the right type that is out of bounds."""
    return ApiError(422, f"Validation error in {where}: [{field}: value {value} invalid, {rule}]")


def invalid(what: str) -> ApiError:
    """A body of the right shape whose content a validator refuses."""
    return ApiError(422, f"Validation error in JSON body: [{what}]")


def unsupported(what: str, supported: Iterable[str]) -> ApiError:
    """A feature that the emulator does not support. It refuses rather than ignores it."""
    return ApiError(400, f"Bad request: the emulator does not support {what}; it knows {', '.join(supported)}")


@contextmanager
def engine_errors() -> Iterator[None]:
    """Turns exceptions of the engine and its bindings into the server's answers."""
    try:
        yield
    except (ApiError, KeyError, OSError):
        raise
    except (ValueError, TypeError, OverflowError) as error:  # the bindings refused an argument
        raise wrong_input(str(error).partition("\n")[0]) from error
    except Exception as error:
        if type(error) is not Exception:  # the engine raises bare Exception; other classes are bugs in the emulator
            raise
        message = str(error)
        if message.startswith("Service runtime error"):
            raise ApiError(500, f"Service internal error: {message}") from error
        raise wrong_input(message) from error
