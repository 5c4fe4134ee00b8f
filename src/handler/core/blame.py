"""Who has to act when a store refuses a request: the caller, or the operator. Imported after a refusal."""

from collections.abc import Callable
from dataclasses import replace

from handler.core.errors import ChoiceRefused, PassageError, RequestRefused
from handler.core.model import RetrievalRequest, SearchResult


def of_search(
    error: RequestRefused,
    request: RetrievalRequest,
    usual_top_k: int,
    ask: Callable[[RetrievalRequest], SearchResult | PassageError],
) -> PassageError:
    """The error of a refused search.

    It is the caller's if the store answers the same question without what the caller chose. So a new limit of a store
    needs no rule here.

    Args:
        usual_top_k: how many passages a plain question asks for.
        ask: makes one search.
    """
    search = replace(
        request.search, filters={}, score_threshold=None, top_k=min(request.search.top_k, usual_top_k), explain=False
    )
    plain = replace(request, search=search, selection=None)
    if plain == request or isinstance(ask(plain), PassageError):
        return error
    return of_choice(error)


def of_choice(error: PassageError) -> PassageError:
    """The caller's error for a refusal of something that no plain question asks for; any other error as it is."""
    if not isinstance(error, RequestRefused):
        return error
    return ChoiceRefused(str(error), upstream=error.upstream, detail=error.detail)
