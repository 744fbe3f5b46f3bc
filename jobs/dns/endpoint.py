"""dns: records of one type, as the public DNS has them now.

- `answers` are records of the type that was asked for. When the name is an alias, they are those of the name that it leads to,
  and `cnameChain` tells the way.
- No such name (NXDOMAIN) and no such record (NODATA) are answers. So is REFUSED, when no name server is willing to say, and
  SERVFAIL, when some are not willing and the others failed. When all of them failed, or none answered within 5 s, it is a 502.
- Names are A-labels without a trailing dot; the root is ``.``. Owners and aliases are in lower case, names within records as
  they were received.
- Answers may be as old as their TTL, and no older than five minutes: `ageSeconds` says so, and TTLs are what is left of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Annotated, Literal, get_args

import msgspec

from jobs.dns.records import Answer, answer, in_order
from jobs.hosts import MAX_HOST, NotPublic, domain_name
from jobs.ports import Context
from shared.endpoint import Category, Endpoint, Example, Flavour, InvalidField, Pool
from shared.money import Price

RESOLVER_LIFETIME_S = 5.0
MAX_SIZE = 500_000
"""Characters of all answers. A response of 64 KB on the wire, with compressed names, can be 12 MB of text."""

RecordType = Literal["A", "AAAA", "MX", "TXT", "NS", "CNAME", "SOA", "SRV", "CAA"]
RECORD_TYPES: tuple[RecordType, ...] = get_args(RecordType)
Status = Literal["NOERROR", "NXDOMAIN", "NODATA", "SERVFAIL", "REFUSED"]


class Request(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`domain`: a name, not an address. `recordType`: in upper or lower case."""

    domain: Annotated[
        str,
        msgspec.Meta(
            description="Domain name, also internationalized, with _service labels, a * label or a trailing dot.",
            # Shown, not checked: what reads a domain counts for itself, after IDNA.
            extra_json_schema={"minLength": 1, "maxLength": MAX_HOST + 1},
        ),
    ]
    record_type: Annotated[
        str,
        msgspec.Meta(
            description="Record type.",
            # Shown, not checked: lower case will do.
            extra_json_schema={"enum": list(RECORD_TYPES)},
        ),
    ] = "A"

    def __post_init__(self) -> None:
        if not self.record_type.isascii() or self.record_type.upper() not in RECORD_TYPES:
            raise InvalidField(f"The record type is one of {', '.join(RECORD_TYPES)}.", field="recordType")
        try:
            name = domain_name(self.domain)
        except NotPublic as refused:
            raise InvalidField(refused.detail, field="domain", code="invalid_domain") from None
        if "." not in name and self.record_type.upper() in ("A", "AAAA"):
            # Top-level domains have none (RFC 7085), but a host of the name server's own network may.
            raise InvalidField(
                "A name of one label has no address in the public DNS.", field="domain", code="invalid_domain"
            )


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the DNS says.

    `status`: NODATA when the name has no records of the type. `exists`: whether the name at the end of `cnameChain` does; null
    when nobody said. `authenticatedData`: the name server vouches for it with DNSSEC. `minTtl`: seconds that all of it, also
    that there is nothing, may be believed; null when nobody said. `truncated`: there are more answers than are shown.
    """

    ok: bool
    domain: str
    record_type: RecordType
    status: Status
    exists: bool | None
    answers: list[Answer]
    truncated: bool
    cname_chain: list[str]
    authenticated_data: bool
    min_ttl: int | None
    age_seconds: int
    elapsed_ms: float


def run(request: Request, context: Context) -> Response:
    """Ask, and write down what was said."""
    started = time.monotonic()
    domain = domain_name(request.domain)
    record_type: RecordType = next(name for name in RECORD_TYPES if name == request.record_type.upper())
    said = context.ports.dns.lookup(domain, record_type, deadline=started + RESOLVER_LIFETIME_S)
    answers = in_order([answer(record_type, record) for record in said.records])
    shown = _fitting(answers)
    return Response(
        ok=True,
        domain=domain,
        record_type=record_type,
        status=_status(said.rcode, bool(answers)),
        exists={"NOERROR": True, "NXDOMAIN": False}.get(said.rcode),
        answers=shown,
        truncated=len(shown) < len(answers),
        cname_chain=list(said.aliases),
        authenticated_data=said.authenticated,
        min_ttl=said.min_ttl,
        age_seconds=said.age_s,
        elapsed_ms=round((time.monotonic() - started) * 1000, 2),
    )


def _status(rcode: str, has_answers: bool) -> Status:
    match rcode:
        case "NOERROR":
            return "NOERROR" if has_answers else "NODATA"
        case "NXDOMAIN" | "SERVFAIL" | "REFUSED":
            return rcode
        case _:
            raise LookupError(f"no answer has the status {rcode}")


def _fitting(answers: Iterable[Answer]) -> list[Answer]:
    """As many as are not too much; the first one in any case."""
    shown: list[Answer] = []
    size = 0
    for each in answers:
        size += len(each.name) + len(each.data)
        if shown and size > MAX_SIZE:
            break
        shown.append(each)
    return shown


ENDPOINT = Endpoint(
    name="dns",
    price=Price.of("0.01"),
    category=Category.UTILITY,
    pool=Pool.NET,
    deadline_s=10,
    flavour=Flavour.NEWER,
    request=Request,
    response=Response,
    summary=(
        "Looks up the A, AAAA, MX, TXT, NS, CNAME, SOA, SRV or CAA records of a domain, parsed by type, with TTLs, the way "
        "along its aliases, and DNSSEC's verdict. A name that does not exist is an answer."
    ),
    example=Example(
        request={"domain": "example.com", "recordType": "MX"},
        response={
            "ok": True,
            "domain": "example.com",
            "recordType": "MX",
            "status": "NOERROR",
            "exists": True,
            "answers": [
                {
                    "type": "MX",
                    "name": "example.com",
                    "ttl": 3600,
                    "data": "10 mail.example.com",
                    "priority": 10,
                    "exchange": "mail.example.com",
                },
                {
                    "type": "MX",
                    "name": "example.com",
                    "ttl": 3600,
                    "data": "20 mail.example.net",
                    "priority": 20,
                    "exchange": "mail.example.net",
                },
            ],
            "truncated": False,
            "cnameChain": [],
            "authenticatedData": False,
            "minTtl": 3600,
            "ageSeconds": 0,
            "elapsedMs": 1.41,
        },
    ),
    run=run,
    failures=("timeout", "servfail"),
)
