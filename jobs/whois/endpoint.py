"""whois: returns a domain's registration data from the registry's own answer, by WHOIS or RDAP.

- IANA names the registry's server, which is asked for the registrable domain (`a.co.uk` for `www.a.co.uk`). If the registry's
  record is thin, the registrar's server that it names is asked too. Its data only fill gaps.
- A domain that does not exist is an answer: `registered` is false. It is null when the registry reserves or blocks the
  name, and when the text does not say: `registeredReason` says which. `raw` has the text in any case.
- Where IANA names no WHOIS server, or that server does not answer, refuses, or says nothing that can be read, the registry's
  RDAP server is asked (`source`: `rdap`). It gives the same fields, and its JSON as `raw`.
- A registry without either is a final answer (`no_whois_server`), and refused before the payment where this is known.
- Dates without a time are midnight, and times without a zone count as UTC. "before Aug-1996" is not a date.
- An answer may be up to three minutes old (`ageSeconds`), so that we do not ask a registry the same question twice.
"""

import math
import time
from datetime import datetime
from typing import Annotated, Literal

import msgspec

from jobs import hosts
from jobs.fields import Ok, doc
from jobs.ports import Context
from jobs.site import Site, SiteRequest
from jobs.whois.reason import Reason
from jobs.whois.registries import WITHOUT_SERVER
from shared.endpoint import Category, Endpoint, Example, Flavour, InvalidField, Pool
from shared.money import Price
from shared.outcome import InvalidInput

WITHIN_S = 18.0
"""Limit for all servers together, including the time spent waiting for a slot at each."""


EXAMPLE_RECORD = """\
   Domain Name: EXAMPLE.COM\r
   Registrar WHOIS Server: whois.registrar.example.net\r
   Registrar URL: http://res-dom.iana.org\r
   Updated Date: 2026-08-14T07:01:34Z\r
   Creation Date: 1995-08-14T04:00:00Z\r
   Registry Expiry Date: 2027-08-13T04:00:00Z\r
   Registrar: RESERVED-Internet Assigned Numbers Authority\r
   Registrar IANA ID: 376\r
   Domain Status: clientDeleteProhibited https://icann.org/epp#clientDeleteProhibited\r
   Domain Status: clientTransferProhibited https://icann.org/epp#clientTransferProhibited\r
   Name Server: A.IANA-SERVERS.NET\r
   Name Server: B.IANA-SERVERS.NET\r
   DNSSEC: signedDelegation\r
>>> Last update of whois database: 2026-11-20T15:04:05Z <<<\r
"""
"""The answer of the sandbox's registry: compose/sandbox/upstreams/whois.py."""


class InvalidDomain(InvalidInput):
    """Nobody can register a name at or below this host. Only the public suffix list, which the API does not load, knows
    that."""

    code = "invalid_domain"


class Request(SiteRequest, frozen=True, kw_only=True, rename="camel"):
    domain: Annotated[
        str,
        msgspec.Meta(min_length=1, max_length=1012),
        doc("The domain name, in Unicode or as A-labels; also a host below it."),
    ]

    def check(self, site: Site) -> None:
        host = hosts.checked(hosts.public_host, self.domain, site, field="domain")
        if (top := host.rpartition(".")[2]) in WITHOUT_SERVER:
            raise InvalidField(
                f"The registry of .{top} has no WHOIS server and no RDAP server.", field="domain", code="invalid_domain"
            )


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The registry's data. A field that the registry does not state is null or empty."""

    ok: Ok
    domain: Annotated[str, doc("The registrable domain, as A-labels: `example.co.uk` for `www.example.co.uk`.")]
    unicode_domain: Annotated[str, doc("The same domain in Unicode.")]
    registered: Annotated[
        bool | None,
        doc("Whether the domain is registered. Null when the name is reserved or the registry does not say."),
    ]
    registered_reason: Annotated[
        Reason | None,
        doc(
            "Why `registered` is null: `reserved` when nobody may register the name, `ending` when its registration has ended "
            "and it is not free yet, `refused` when the server refuses to answer, `unclear` when the text does not say."
        ),
    ]
    registrar: Annotated[str | None, doc("The registrar's name.")]
    registrar_iana_id: Annotated[str | None, doc("The registrar's number at IANA, as text.")]
    registrar_url: Annotated[str | None, doc("The registrar's website.")]
    created_at: Annotated[str | None, doc("When the domain was registered, ISO 8601 in UTC.")]
    updated_at: Annotated[str | None, doc("When the registration was last changed, ISO 8601 in UTC.")]
    expires_at: Annotated[str | None, doc("When the registration expires, ISO 8601 in UTC.")]
    days_until_expiry: Annotated[
        int | None, doc("Whole days until `expiresAt`; negative after it. Null without that date.")
    ]
    name_servers: Annotated[list[str], doc("The hosts of the name servers, sorted.")]
    status: Annotated[list[str], doc("EPP status codes, such as `clientTransferProhibited`.")]
    dnssec: Annotated[
        bool | None, doc("Whether the delegation is signed with DNSSEC. Null when the registry does not say.")
    ]
    source: Annotated[
        Literal["whois", "rdap"],
        doc(
            "Where the answer is from: `whois`, or `rdap` where the registry has no WHOIS server or it gave no answer."
        ),
    ]
    whois_server: Annotated[
        str, doc("The registry's WHOIS server. Empty when it has none, or IANA's server did not answer.")
    ]
    registrar_whois_server: Annotated[str | None, doc("The registrar's WHOIS server, as the registry names it.")]
    raw: Annotated[
        str,
        doc("The registry's answer and then the registrar's, unchanged, at most 64 KB. JSON when `source` is `rdap`."),
    ]
    raw_truncated: Annotated[bool, doc("Whether the answers were longer than `raw`.")]
    servers_queried: Annotated[list[str], doc("The servers that answered, in order.")]
    parsed_by: Annotated[str, doc("The rules that read the answer: `generic`, those of a top-level domain, or `rdap`.")]
    age_seconds: Annotated[int, doc("Seconds since the servers were asked, at most 180.")]


def run(request: Request, context: Context) -> Response:
    """Ask IANA, the registry, and the registrar when it can add something; RDAP where WHOIS gives no answer."""
    # Imported here, because the API needs only the declaration.
    from jobs.whois import domains
    from jobs.whois.search import Search

    domain = _registrable(hosts.public_host(request.domain, context.site))
    search = Search(context.ports, domain, domains.unicode_of(domain), time.monotonic() + WITHIN_S)
    record = search.run()
    raw, is_cut = search.raw()
    return Response(
        ok=True,
        domain=domain,
        unicode_domain=search.names[-1],
        registered=record.registered,
        registered_reason=record.reason,
        registrar=record.registrar,
        registrar_iana_id=record.registrar_iana_id,
        registrar_url=record.registrar_url,
        created_at=iso(record.created),
        updated_at=iso(record.updated),
        expires_at=iso(record.expires),
        days_until_expiry=_days(record.expires, context.ports.clock.now()),
        name_servers=list(record.name_servers),
        status=list(record.status),
        dnssec=record.dnssec,
        source=search.source,
        whois_server=search.registry,
        registrar_whois_server=record.refers_to,
        raw=raw,
        raw_truncated=is_cut,
        servers_queried=search.visited,
        parsed_by=search.parsed_by,
        age_seconds=search.age_s,
    )


def _registrable(host: str) -> str:
    from jobs.whois import domains

    domain = domains.registrable(host)
    if domain is None:
        raise InvalidDomain("This is a public suffix: domains are registered below it.", reason=None)
    if "_" in domain:
        raise InvalidDomain("A registered domain has only letters, digits and hyphens.", reason=None)
    return domain


def iso(moment: datetime | None) -> str | None:
    """Write a time in UTC as ``2026-11-20T15:04:05Z``."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def _days(expires: datetime | None, now: datetime) -> int | None:
    """Whole days until expiry; negative after it."""
    return math.floor((expires - now).total_seconds() / 86_400) if expires else None


ENDPOINT = Endpoint(
    name="whois",
    price=Price.of("0.01"),
    category=Category.DATA,
    pool=Pool.WHOIS,
    deadline_s=20,
    flavour=Flavour.NEWER,
    request=Request,
    response=Response,
    failures=(
        *("timeout", "dns_failure", "connection_refused", "bad_content", "no_whois_server", "rate_limited"),
        *("tls_failure", "too_large"),
    ),
    target_failures=("no_whois_server",),
    summary=(
        "The registration of a domain, from the registry's own WHOIS or RDAP server: registrar, creation, update and expiry "
        "dates, name servers, EPP status codes, DNSSEC and the raw text. Answers whether a domain is registered at all."
    ),
    example=Example(
        request={"domain": "www.example.com"},
        response={
            "ok": True,
            "domain": "example.com",
            "unicodeDomain": "example.com",
            "registered": True,
            "registeredReason": None,
            "registrar": "RESERVED-Internet Assigned Numbers Authority",
            "registrarIanaId": "376",
            "registrarUrl": "http://res-dom.iana.org",
            "createdAt": "1995-08-14T04:00:00Z",
            "updatedAt": "2026-08-14T07:01:34Z",
            "expiresAt": "2027-08-13T04:00:00Z",
            "daysUntilExpiry": 264,
            "nameServers": ["a.iana-servers.net", "b.iana-servers.net"],
            "status": ["clientDeleteProhibited", "clientTransferProhibited"],
            "dnssec": True,
            "source": "whois",
            "whoisServer": "whois.registry.example.net",
            "registrarWhoisServer": "whois.registrar.example.net",
            "raw": EXAMPLE_RECORD,
            "rawTruncated": False,
            "serversQueried": ["whois.iana.example.net", "whois.registry.example.net"],
            "parsedBy": "generic",
            "ageSeconds": 0,
        },
    ),
    run=run,
)
