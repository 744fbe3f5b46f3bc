"""What is found in one document: the form in which a child process hands it back.

Offers stand in a table beside the entries, because thousands of entries may share one: a document's defaults.
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
    """One way to pay, as published; null is what was not said.

    `network`: CAIP-2 where the name is known. `amount`: atomic units of the asset, or a decimal value on XRPL; also of USDC
    amounts that were published as decimals. `scheme`, `asset`, `payTo`: as they were written.
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
        offers: places in the document's table of offers.
        price_usdc: decimal text.
        evidence: what says that it is paid for.
    """

    url: str
    method: str | None
    x402_version: int | None
    description: str | None
    offers: tuple[int, ...]
    price_usdc: str | None
    evidence: Evidence


class Challenge(msgspec.Struct, frozen=True, rename="camel"):
    """What an unpaid call was answered with. `accepts` is empty, and `transport` null, when no terms could be read.

    `transport`: where the terms stood: `payment_required_header`, `body` or `www_authenticate`.
    """

    status: int
    x402_version: int | None = msgspec.field(name="x402Version")
    accepts: list[Offer]
    transport: Transport | None


class Hint(msgspec.Struct, frozen=True, rename="camel"):
    """Something in a page that speaks of x402. `value`: as it was written. `url`: absolute, null when it is no address."""

    type: HintType
    value: str
    url: str | None


class Source(msgspec.Struct, frozen=True, array_like=True):
    """A response that is to be read.

    Attributes:
        kind: `page` for the target itself, `catalog` for what is at an address of x402's own, `guess` for what is at one
            that others use too: /bazaar.json and /openapi.json.
        method: it was asked for with.
    """

    kind: DocumentKind
    method: str
    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Reading(msgspec.Struct, frozen=True, array_like=True):
    """What was found in it.

    Attributes:
        format: `openapi`, `bazaar`, `resource_list`, `manifest`, `challenge`; None: nothing of x402.
        error: `bad_content` when it could not be read.
        is_cut: there is more than was looked at.
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
    """On one line, without halves of surrogate pairs, and not longer than `most`. None: nothing is left."""
    if not isinstance(text, str):
        return None
    words = " ".join(text[: 2 * most].split())
    printable = "".join(character for character in words if character.isprintable())
    return printable[:most].rstrip() or None
