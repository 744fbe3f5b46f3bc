"""The endpoint table of the README: `python -m api.discovery.table`."""

from collections.abc import Sequence

from jobs.catalogue import CATALOGUE
from shared.endpoint import Endpoint


def markdown(catalogue: Sequence[Endpoint]) -> str:
    """One row per listed endpoint, in the catalogue's order."""
    rows = ["| call | price, $ | what it does |", "|---|---|---|"]
    rows += [
        f"| `{endpoint.name}` | {endpoint.price.text()} | {endpoint.summary} |"
        for endpoint in catalogue
        if endpoint.listed
    ]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(markdown(CATALOGUE), end="")
