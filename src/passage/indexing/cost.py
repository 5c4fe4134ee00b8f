"""The estimated cost of embedding."""

from handler.config import models

TOKENS_PER_PRICE = 1_000_000


def cost(model: str, provider: str, tokens: int) -> float | None:
    """US dollars for embedding this many tokens; None where the model's price is unknown.

    Args:
        provider: of the vectors; the emulator is free.
    """
    if provider == "emulator":
        return 0.0
    known = models.find(model)
    price = known.price if known else None
    return None if price is None else price * tokens / TOKENS_PER_PRICE
