"""The declaration of one endpoint. Its path, schemas, offers and actor are derived from it."""

import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from shared.call_path import path_of
from shared.money import Price
from shared.outcome import SERVICE_CODES
from shared.pools import POOLS
from shared.pools import Pool as Pool  # declarations import it from here
from shared.x402.networks import Rail

_WORDS = r"[a-z0-9]+(-[a-z0-9]+)*"
_NAME = re.compile(rf"({_WORDS}/)?{_WORDS}", re.ASCII)
_REASON = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*", re.ASCII)
_LONGEST_REASON = 64


def is_reason(word: str) -> bool:
    """Whether it has the form of a reason or of a code: snake_case, and short."""
    return len(word) <= _LONGEST_REASON and _REASON.fullmatch(word) is not None


class Category(enum.StrEnum):
    """The section of the catalogue."""

    UTILITY = "utility"
    DATA = "data"
    SECURITY = "security"


class Flavour(enum.Enum):
    """The headers of the challenge and the receipt (interface specification, Authentication).

    Every endpoint sends PAYMENT-REQUIRED, because released x402 v2 clients read nothing else, and every endpoint accepts both
    request headers. The flavour decides which headers are *added*.
    """

    NEWER = "newer"
    """PAYMENT-REQUIRED, retried with PAYMENT-SIGNATURE."""
    OLDER = "older"
    """Adds `WWW-Authenticate: X402`; retried with X-PAYMENT, answered with X-PAYMENT-RESPONSE."""
    WATCH = "watch"
    """Adds `WWW-Authenticate: X402`; retried with PAYMENT-SIGNATURE."""


ENTRY_POINTS = "coinslot.endpoints"
"""The group of entry points by which packages add endpoints (jobs/packages.py)."""
PACKAGE_REFUSED = 3
"""Exit code of `python -m jobs.catalogue`, and of `jobs.price_list`, when a package or the list is refused."""

ALL_RAILS = tuple(Rail)

Readable = Literal["ethereum", "base", "xrpl"]
"""A ledger that endpoints can read."""


Fault = Literal["caller", "ours"]
"""Whose fault it is that a charged call is not answered: the caller's, who named a host that does not resolve or a page that is
404, or ours: a node, our network, our code."""


MOST_BYTES = "most_bytes"
"""A key of `msgspec.Meta.extra` for fields that may be long: the largest size, in bytes of JSON without spaces, that is
decoded. A longer field is refused before it is decoded, because decoding it would block the API's event loop."""


EXTRA_JSON_SCHEMA = "EXTRA_JSON_SCHEMA"
"""The name of a class variable of a request Struct: keywords of JSON Schema for what no single field can say."""


def exactly_one_of(first: str, second: str) -> dict[str, Any]:
    """JSON Schema: one of two fields on the wire is there and not null, and the other is not.

    It is said with `if`: of `oneOf` beside `properties`, openapi-python-client 0.29 makes classes without the properties.
    """
    return {"if": _given(first), "then": {"properties": {second: {"type": "null"}}}, "else": _given(second)}


def at_least_one_of(first: str, second: str) -> dict[str, Any]:
    """JSON Schema: one of two fields on the wire is there and not null, or both are."""
    return {"if": _given(first), "else": _given(second)}


def _given(field: str) -> dict[str, Any]:
    return {"required": [field], "properties": {field: {"type": "string"}}}


class InvalidField(ValueError):
    """A request value is refused. Raise it from a request Struct's ``__post_init__`` or ``check``.

    Args:
        detail: a sentence for the caller, without the value itself.
        field: the field's name on the wire, dotted when nested: ``template.name``.
        code: an error code of the API's failure table that answers 400.
        suggestions: up to five values that would be accepted.
        others: further values of the same request that are refused. Only their details are in the answer.
    """

    def __init__(
        self,
        detail: str,
        *,
        field: str,
        code: str = "invalid_body",
        suggestions: tuple[str, ...] = (),
        others: "tuple[InvalidField, ...]" = (),
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.field = field
        self.code = code
        self.suggestions = suggestions[:5]
        self.others = others


@dataclass(frozen=True, slots=True)
class Example:
    """A request and its response. The catalogue shows it, and a test repeats it."""

    request: Any
    response: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One call that is sold. A wrong declaration raises ValueError when it is made.

    Attributes:
        name: ours is the path after ``/v1/cdp/``, e.g. ``echo`` or ``chain/chain-id``; that of another package begins with its
            prefix, and is the path after ``/v1/``: ``acme/slug``. Actor, operation id, page and records are named after it.
        price: per call, in dollars.
        category: the section of the catalogue.
        pool: the queue and workers that run it.
        deadline_s: seconds from settlement until the caller gets 504.
        flavour: which extra headers its challenge and receipt have.
        rails: how it can be paid for. The challenge lists the configured ones among them.
        request: a msgspec Struct. Decoding it validates everything that can be known without the network. Where that depends on
            the settings, it is a SiteRequest (jobs/site.py), which is checked when it has been decoded.
        response: a msgspec Struct. The worker encodes it once.
        reads: ledgers that it reads through the operator's nodes. It is sold where one of them has a node in the settings.
        failures: documented reasons of a 502.
        target_failures: those among them that come from what the caller named: its host, its page, its video. The others are
            ours, or come from systems that we chose.
        failure_texts: of a package: a sentence for each reason that none of our endpoints has.
        listed: False keeps it out of every discovery document. It can be called.
        holds_secret: the request contains a key or secret, so no part of it is ever stored.
        body_optional: an empty body means an empty object.
        max_body_bytes: a larger body is a 413, before any payment.
        summary: one line. Facilitators refuse descriptions of more than 500 characters.
        example: the catalogue shows it, and a test repeats it.
        run: the handler, a pure function of the decoded request and the pool's Context.
        exhausted: for CPU work on hostile input. The handler then runs in a child process, and this function makes the answer
            when that child had to be killed.
        child_limit_s: seconds of CPU time after which the child is killed. Until the deadline it may take longer.
        is_long: for an endpoint without `exhausted`: whether a request calculates for more than some milliseconds. Such a
            request runs in a child, because in a thread it would delay others. If it is killed, the deadline is exceeded.
        subject: for an endpoint that remembers: what a request's observation is about (jobs/observation.py), given the request
            and the Site. Endpoints that give the same text share their baselines.
    """

    name: str
    price: Price
    category: Category
    pool: str
    deadline_s: float
    flavour: Flavour
    request: type[msgspec.Struct]
    response: type[msgspec.Struct]
    summary: str
    example: Example
    run: Callable[[Any, Any], Any]
    rails: tuple[Rail, ...] = ALL_RAILS
    reads: tuple[Readable, ...] = ()
    failures: tuple[str, ...] = ()
    target_failures: tuple[str, ...] = ()
    failure_texts: Mapping[str, str] = field(default_factory=dict)
    listed: bool = True
    holds_secret: bool = False
    body_optional: bool = False
    max_body_bytes: int = 64 * 1024
    exhausted: Callable[[Any], Any] | None = None
    child_limit_s: float = 1.5
    is_long: Callable[[Any], bool] | None = None
    subject: Callable[[Any, Any], str] | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"endpoint name {self.name!r}: lower-case words joined by '-', optionally below a prefix/")
        if not 0 < self.deadline_s <= 25:
            # Common HTTP clients give up after 30 s. Their caller then repeats the request and gets the stored answer.
            raise ValueError(f"{self.name}: deadline_s must be within (0, 25]")
        if self.pool not in POOLS:
            raise ValueError(f"{self.name}: there is no pool {self.pool!r}")
        if self.calculates and not POOLS[self.pool].needs_children:
            raise ValueError(f"{self.name}: the workers of the pool {self.pool} start no children to run it in")
        if self.subject and self.calculates:
            raise ValueError(f"{self.name}: what runs in a child cannot remember")
        if not 0 < len(self.summary) <= 500:
            raise ValueError(f"{self.name}: summary must have 1 to 500 characters")
        if not self.rails or len(set(self.rails)) != len(self.rails):
            raise ValueError(f"{self.name}: rails must be non-empty and distinct")
        for reason in self.failures:
            if not is_reason(reason):
                raise ValueError(f"{self.name}: failure reason {reason!r} is not snake_case")
        if not set(self.target_failures) <= set(self.failures):
            raise ValueError(f"{self.name}: target_failures must be among its failures")
        msgspec.json.decode(msgspec.json.encode(self.example.request), type=self.request)
        msgspec.convert(self.example.response, self.response)

    @property
    def path(self) -> str:
        """The path on the API: ``/v1/cdp/echo``."""
        return path_of(self.name)

    @property
    def operation_id(self) -> str:
        """camelCase: ``jsonRepair``, ``chainErc20Balance``."""
        first, *rest = re.split(r"[-/]", self.name)
        return first + "".join(word.capitalize() for word in rest)

    def fault_of(self, code: str, reason: str | None) -> Fault:
        """Whose fault a failed run is.

        Args:
            code, reason: as in its Failed (shared/outcome.py).
        """
        return "ours" if code in SERVICE_CODES and reason not in self.target_failures else "caller"

    @property
    def isolated(self) -> bool:
        """Whether the handler always runs in a killable child process."""
        return self.exhausted is not None

    @property
    def calculates(self) -> bool:
        """Whether its calls, or the long ones among them, take a child process for themselves."""
        return self.isolated or self.is_long is not None
