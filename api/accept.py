"""Which media type or content coding a request prefers (RFC 9110, sections 12.5.1 and 12.5.3)."""

HTML = "text/html"
MARKDOWN = "text/markdown"
_MAX_CHARS = 1_000


def prefers(accept: str, wanted: str, *others: str) -> bool:
    """Whether an Accept or Accept-Encoding header names `wanted` itself, and at least as much as any of `others`.

    A wildcard names nothing: who accepts anything gets what this server would send anyway.
    """
    weights = _weights(accept)
    weight = weights.get(wanted, 0.0)
    return weight > 0 and all(weight >= weights.get(other, 0.0) for other in others)


def _weights(accept: str) -> dict[str, float]:
    """Name to weight, without parameters of a media type."""
    weights: dict[str, float] = {}
    for part in accept[:_MAX_CHARS].lower().split(","):
        name, *parameters = (word.strip() for word in part.split(";"))
        weight = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                weight = _number(parameter[2:])
        weights[name] = weight
    return weights


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if 0.0 <= value <= 1.0 else 0.0
