"""The findings of one document, in the form in which a child process returns them.

Offers are in a table beside the entries, because thousands of entries may share one offer: the document's default.
"""

from typing import Annotated, Literal

import msgspec

from jobs.fields import doc

Evidence = Literal["challenge", "terms", "listed"]
Transport = Literal["payment_required_header", "body", "www_authenticate"]
DocumentKind = Literal["page", "catalog", "guess"]
HintType = Literal["meta", "link", "anchor"]

MAX_TEXT = 500
MAX_FIELD = 128


class Offer(msgspec.Struct, frozen=True, rename="camel"):
    """One way to pay, as published. What is not stated is null."""

    scheme: Annotated[str | None, doc("The payment scheme, such as `exact`.")]
    network: Annotated[str | None, doc("The network, as CAIP-2 where its name is known.")]
    asset: Annotated[str | None, doc("The asset, such as a token's contract.")]
    amount: Annotated[str | None, doc("The amount in atomic units of the asset; on the XRP Ledger in whole units.")]
    pay_to: Annotated[str | None, doc("Who is paid.")]
    max_timeout_seconds: Annotated[int | None, doc("For how many seconds a payment may be valid.")]


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
    """The answer to an unpaid call."""

    status: Annotated[int, doc("The HTTP status of the answer.")]
    x402_version: Annotated[int | None, doc("The version of x402. Null when it is not stated.")] = msgspec.field(
        name="x402Version"
    )
    accepts: Annotated[list[Offer], doc("The ways to pay. Empty when no terms could be read.")]
    transport: Annotated[Transport | None, doc("Where the terms were. Null when none could be read.")]


class Hint(msgspec.Struct, frozen=True, rename="camel"):
    """An element of a page that mentions x402."""

    type: Annotated[HintType, doc("The kind of element.")]
    value: Annotated[str, doc("What it says, unchanged.")]
    url: Annotated[str | None, doc("The absolute address that it names. Null when it names none.")]


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
        link: an OpenAPI document that this one names.
        mentions_money: it speaks of x402, USDC or prices.
    """

    entries: tuple[Entry, ...] = ()
    offers: tuple[Offer, ...] = ()
    challenge: Challenge | None = None
    hints: tuple[Hint, ...] = ()
    format: str | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()
    is_cut: bool = False
    link: str | None = None
    mentions_money: bool = False


def clean(text: object, most: int = MAX_TEXT) -> str | None:
    """Write a text on one line, without lone surrogates, at most `most` characters. None when nothing is left."""
    if not isinstance(text, str):
        return None
    words = " ".join(text[: 2 * most].split())
    printable = "".join(character for character in words if character.isprintable())
    return printable[:most].rstrip() or None
