"""The findings of one document, in the form in which a child process returns them.

Offers are in a table beside the entries, because thousands of entries may share one offer: the document's default.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Evidence = Literal["challenge", "terms", "listed"]
Transport = Literal["payment_required_header", "body", "www_authenticate"]
DocumentKind = Literal["page", "catalog", "guess"]
HintType = Literal["meta", "link", "anchor"]

MAX_TEXT = 500
MAX_FIELD = 128


class Offer(msgspec.Struct, frozen=True, rename="camel"):
    """One way to pay, as published; null when it is not stated.

    `network`: CAIP-2 where the name is known. `amount`: atomic units of the asset, or a decimal value on XRPL. Decimal amounts
    of USDC are converted to atomic units. `scheme`, `asset`, `payTo`: unchanged.
    """

    scheme: str | None
    network: str | None
    asset: str | None
    amount: str | None
    pay_to: str | None
    max_timeout_seconds: int | None


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """A call that a document names.

    Attributes:
        offers: indexes in the document's table of offers.
        price_usdc: decimal text.
        evidence: why the call counts as paid.
    """

    url: str
    method: str | None
    x402_version: int | None
    description: str | None
    offers: tuple[int, ...]
    price_usdc: str | None
    evidence: Evidence


class Challenge(msgspec.Struct, frozen=True, rename="camel"):
    """The answer to an unpaid call. `accepts` is empty, and `transport` null, when no terms could be read.

    `transport`: where the terms were: `payment_required_header`, `body` or `www_authenticate`.
    """

    status: int
    x402_version: int | None = msgspec.field(name="x402Version")
    accepts: list[Offer]
    transport: Transport | None


class Hint(msgspec.Struct, frozen=True, rename="camel"):
    """An element of a page that mentions x402. `value`: unchanged. `url`: absolute; null when it is not an address."""

    type: HintType
    value: str
    url: str | None


class Source(msgspec.Struct, frozen=True, array_like=True):
    """A response to read.

    Attributes:
        kind: `page` for the target itself; `catalog` for an address that only x402 uses; `guess` for an address that others
            use too: /bazaar.json and /openapi.json.
        method: the method of the request.
    """

    kind: DocumentKind
    method: str
    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Reading(msgspec.Struct, frozen=True, array_like=True):
    """The findings.

    Attributes:
        format: `openapi`, `bazaar`, `resource_list`, `manifest`, `challenge`; None when nothing is about x402.
        error: `bad_content` when the response could not be read.
        is_cut: the response has more than was read.
    """

    entries: tuple[Entry, ...] = ()
    offers: tuple[Offer, ...] = ()
    challenge: Challenge | None = None
    hints: tuple[Hint, ...] = ()
    format: str | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()
    is_cut: bool = False


def clean(text: object, most: int = MAX_TEXT) -> str | None:
    """Write a text on one line, without lone surrogates, at most `most` characters. None when nothing is left."""
    if not isinstance(text, str):
        return None
    words = " ".join(text[: 2 * most].split())
    printable = "".join(character for character in words if character.isprintable())
    return printable[:most].rstrip() or None
