"""A shop of made-up endpoints: the names of the literal table, and the shapes that are hard to describe."""

import enum
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
import pytest

from api.discovery.listing import Listing
from shared.endpoint import Category, Endpoint, Example, Flavour, Pool
from shared.money import Price
from shared.x402 import evm
from shared.x402.networks import EVM_USDC, Rail
from shared.x402.wire import Offer
from tests.contract.endpoints import SPECIFIED

BASE_URL = "https://coinslot.example"
PAY_TO = "0x" + "11" * 20


class Colour(enum.StrEnum):
    """A closed set."""

    RED = "red"
    BLUE = "blue"


class Circle(msgspec.Struct, tag="circle", tag_field="kind", rename="camel"):
    """Round."""

    half_width: Annotated[float, msgspec.Meta(gt=0, description="In metres.")]


class Square(msgspec.Struct, tag="square", tag_field="kind", rename="camel"):
    """Not round.

    A second paragraph, for developers: see `jobs.schemas`.
    """

    side_length: float


class Request(msgspec.Struct, rename="camel"):
    """`maxItems` bounds
    the answer.

    Attributes:
        max_items: how many.
    """

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=20, title="Text", description="What to look at.")]
    shapes: list[Circle | Square] = []
    first: Circle | None = None
    colour: Annotated[Colour, msgspec.Meta(description="Preferred.")] = Colour.RED
    mode: Literal["fast", "slow"] = "fast"
    weights: dict[str, Annotated[int, msgspec.Meta(ge=0, le=9)]] = {}
    data: Any = None
    max_items: Annotated[int, msgspec.Meta(ge=1, le=100)] = 10


class Finding(msgspec.Struct, rename="camel"):
    """One thing found."""

    rule_id: str
    span: tuple[int, int]
    colour: Colour | None


class Response(msgspec.Struct, rename="camel"):
    """What was found, if anything."""

    ok: bool
    findings: list[Finding]
    best_one: Annotated[Finding | None, msgspec.Meta(description="Null when there is none.")]
    title: str | None
    properties: dict[str, str | None]


REQUEST = {
    "text": "hello",
    "shapes": [{"kind": "circle", "halfWidth": 1.5}, {"kind": "square", "sideLength": 2}],
    "data": {"anything": [None, 1]},
    "maxItems": 3,
}
RESPONSE = {
    "ok": True,
    "findings": [{"ruleId": "r1", "span": [0, 4], "colour": None}],
    "bestOne": None,
    "title": None,
    "properties": {"a": None, "b": "c"},
}


def make_endpoint(name: str = "made-up", **changes: Any) -> Endpoint:
    """An endpoint with hard shapes."""
    fields: dict[str, Any] = {
        "name": name,
        "price": Price.of("0.005"),
        "category": Category.UTILITY,
        "pool": Pool.FAST,
        "deadline_s": 5,
        "flavour": Flavour.NEWER,
        "request": Request,
        "response": Response,
        "summary": f"Does what {name} does.",
        "example": Example(request=REQUEST, response=RESPONSE),
        "run": lambda request, context: None,
    }
    return Endpoint(**fields | changes)


def make_offers(endpoint: Endpoint) -> tuple[Offer, ...]:
    """What the endpoint costs on each of its rails."""
    price = endpoint.price
    usdc = price.atomic(6)
    xrpl: dict[str, Any] = {
        "scheme": "exact",
        "network": "xrpl:0",
        "amount": price.text(),
        "pay_to": "rPayee",
        "max_timeout_seconds": 60,
    }
    made: dict[Rail, tuple[Offer, ...]] = {
        Rail.BASE: evm.offers(EVM_USDC["eip155:8453"], price, PAY_TO),
        Rail.SOLANA: (
            Offer(
                scheme="exact",
                network="solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
                amount=str(usdc),
                asset="EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
                pay_to="2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4",
                max_timeout_seconds=60,
                extra={"feePayer": "EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd"},
            ),
        ),
        Rail.STELLAR: (
            Offer(
                scheme="exact",
                network="stellar:pubnet",
                amount=str(price.atomic(7)),
                asset="CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75",
                pay_to="GPAYEE",
                max_timeout_seconds=60,
                extra={"areFeesSponsored": True},
            ),
        ),
        Rail.XRPL_USDC: (Offer(asset="5553444300000000000000000000000000000000", extra={"issuer": "rG"}, **xrpl),),
        Rail.XRPL_RLUSD: (Offer(asset="524C555344000000000000000000000000000000", extra={"issuer": "rM"}, **xrpl),),
    }
    # Ethereum is off unless it is configured.
    return tuple(offer for rail in endpoint.rails for offer in made.get(rail, ()))


def make_listing(endpoint: Endpoint) -> Listing:
    """The endpoint on sale at BASE_URL, on all its rails."""
    return Listing(endpoint, BASE_URL + endpoint.path, make_offers(endpoint))


@pytest.fixture(scope="session")
def base_url() -> str:
    """Where the made-up shop is."""
    return BASE_URL


@pytest.fixture(scope="session")
def endpoint_of() -> Callable[..., Endpoint]:
    """Makes an endpoint: ``endpoint_of("name", price=…)``."""
    return make_endpoint


@pytest.fixture(scope="session")
def listing_of() -> Callable[[Endpoint], Listing]:
    """Puts an endpoint on sale."""
    return make_listing


@pytest.fixture(scope="session")
def shop() -> tuple[Listing, ...]:
    """All 29 endpoints of the literal table, with made-up shapes."""
    return tuple(
        make_listing(
            make_endpoint(
                row.name,
                price=Price.of(row.price),
                category=Category(row.category),
                pool=Pool(row.pool),
                flavour=Flavour(row.flavour),
                rails=tuple(Rail(rail) for rail in row.rails),
                listed=row.listed,
                body_optional=row.name == "echo",
                failures=("no_captions", "video_unavailable") if row.name == "youtube" else (),
            )
        )
        for row in SPECIFIED
    )
