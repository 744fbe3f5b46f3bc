"""An endpoint as this installation sells it: with its address and the offers of the rails that are configured."""

from __future__ import annotations

from dataclasses import dataclass

from shared.endpoint import Endpoint
from shared.x402.wire import Offer


@dataclass(frozen=True, slots=True)
class Listing:
    """One row of every discovery document.

    Attributes:
        url: absolute address of the call, below the configured public base URL.
        offers: the challenge's `accepts`, in order; never empty.
    """

    endpoint: Endpoint
    url: str
    offers: tuple[Offer, ...]
