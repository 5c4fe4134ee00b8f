"""Reads which type of answer an Accept header prefers."""


def prefers_plain_text(accept: str) -> bool:
    """Whether an Accept header ranks plain text above JSON (RFC 9110, 12.5.1). Without one, JSON is preferred."""
    weights: dict[str, float] = {}
    for part in accept.lower().split(","):
        kind, *options = (item.strip() for item in part.split(";"))
        weights[kind] = next((_weight(option) for option in options if option.startswith("q=")), 1.0)
    json_weight = max(weights.get(kind, 0.0) for kind in ("application/json", "application/*", "*/*"))
    return weights.get("text/plain", weights.get("text/*", 0.0)) > json_weight


def _weight(option: str) -> float:
    try:
        return float(option.removeprefix("q="))
    except ValueError:
        return 0.0
