"""dns: looks up records of one type in the public DNS.

- `answers` has the records of the requested type. If the name is an alias, these belong to the name at the end of the alias
  chain, and `cnameChain` shows the chain.
- NXDOMAIN (no such name) and NODATA (no such record) are answers. REFUSED, when no name server answers the question, is an
  answer too. So is SERVFAIL, when some name servers refuse and the others fail. If all of them fail, or none answers
  within 5 s, the call is a 502.
- Names are A-labels without a trailing dot; the root is ``.``. Owners and aliases are in lower case. Names inside records
  keep the case in which they were received.
- An answer may come from a cache: it is never older than its TTL or five minutes. `ageSeconds` is its age, and TTLs show
  the seconds that are left.
"""

import time
from collections.abc import Iterable
from typing import Annotated, Literal, get_args

import msgspec

from jobs.dns.records import Answer, answer, in_order
from jobs.fields import Ok, doc
from jobs.hosts import MAX_HOST, NotPublic, domain_name
from jobs.ports import Context
from jobs.site import Site, SiteRequest
from shared.endpoint import Category, Endpoint, Example, Flavour, InvalidField, Pool
from shared.money import Price

RESOLVER_LIFETIME_S = 5.0
MAX_SIZE = 500_000
"""Characters of all answers together. A response of 64 KB on the wire, with compressed names, can be 12 MB of text."""

RecordType = Literal["A", "AAAA", "MX", "TXT", "NS", "CNAME", "SOA", "SRV", "CAA"]
RECORD_TYPES: tuple[RecordType, ...] = get_args(RecordType)
Status = Literal["NOERROR", "NXDOMAIN", "NODATA", "SERVFAIL", "REFUSED"]


class Request(SiteRequest, frozen=True, kw_only=True, rename="camel"):
    domain: Annotated[
        str,
        msgspec.Meta(
            description="The domain name, in Unicode or as A-labels; also with _service labels, a * label or a trailing dot.",
            # In the schema only: domain_name counts the characters itself, after IDNA.
            extra_json_schema={"minLength": 1, "maxLength": MAX_HOST + 1},
        ),
    ]
    record_type: Annotated[
        str,
        msgspec.Meta(
            description="Record type, in upper or lower case.",
            # In the schema only: lower case is accepted too.
            extra_json_schema={"enum": list(RECORD_TYPES)},
        ),
    ] = "A"

    def check(self, site: Site) -> None:
        if not self.record_type.isascii() or self.record_type.upper() not in RECORD_TYPES:
            raise InvalidField(f"The record type must be one of {', '.join(RECORD_TYPES)}.", field="recordType")
        try:
            name = domain_name(self.domain, site)
        except NotPublic as refused:
            raise InvalidField(refused.detail, field="domain", code="invalid_domain") from None
        if "." not in name and self.record_type.upper() in ("A", "AAAA"):
            # A top-level domain has no address (RFC 7085), but a host in the name server's own network may have one.
            raise InvalidField(
                "A name of one label has no address in the public DNS.", field="domain", code="invalid_domain"
            )


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    ok: Ok
    domain: Annotated[str, doc("The name that was looked up, as A-labels in lower case without a trailing dot.")]
    record_type: Annotated[RecordType, doc("The record type that was looked up.")]
    status: Annotated[
        Status,
        doc("The answer's status: `NODATA` when the name exists and has no record of the type, else DNS's own code."),
    ]
    exists: Annotated[
        bool | None, doc("Whether the name exists, at the end of its aliases. Null when no name server says.")
    ]
    answers: Annotated[
        list[Answer], doc("The records of the type. Of an alias, those of the name at the end of `cnameChain`.")
    ]
    truncated: Annotated[bool, doc("Whether there are more records than `answers` has.")]
    cname_chain: Annotated[
        list[str], doc("The names that the aliases lead to, in order. Empty when the name is no alias.")
    ]
    authenticated_data: Annotated[bool, doc("Whether the name server has validated the answer with DNSSEC.")]
    min_ttl: Annotated[
        int | None, doc("Seconds for which the answer, also a negative one, may be cached. Null when no server says.")
    ]
    age_seconds: Annotated[int, doc("Seconds since the name servers were asked: an answer may come from a cache.")]
    elapsed_ms: Annotated[float, doc("How long the lookup took, in milliseconds.")]


def run(request: Request, context: Context) -> Response:
    """Look up the records and describe the answer."""
    started = time.monotonic()
    domain = domain_name(request.domain, context.site)
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
    """The first answers whose size fits, and at least one."""
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
    target_failures=("timeout", "servfail"),
)
