"""whois: who has a domain, since when and until when, out of the registry's own answer.

- IANA's server names the registry's, which is asked for the registrable domain: of `www.a.co.uk` that is `a.co.uk`. If the
  registry's record is thin, the registrar's server that it names is asked too, and only fills what is missing.
- No such domain is an answer: `registered` is false. It is null when the registry reserves or blocks the name, and when its
  text says neither: then `raw` is what there is.
- Dates without a time are midnight, and times without a zone are read as UTC. "before Aug-1996" is no date.
- An answer may be up to three minutes old, so that no registry is asked twice for the same: `ageSeconds`.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated

import msgspec

from jobs import hosts
from jobs.hosts import NotPublic
from jobs.ports import Context, Whois, WhoisText
from jobs.whois_records import domains
from jobs.whois_records.dates import iso
from jobs.whois_records.record import Record, read
from jobs.whois_records.referral import referral
from jobs.whois_records.rules import GENERIC, Rules, rules_of
from jobs.whois_records.text import cut, decode
from shared.endpoint import Category, Endpoint, Example, Flavour, InvalidField, Pool
from shared.money import Price
from shared.outcome import BlockedAddress, InvalidInput, UpstreamFailed

WITHIN_S = 18.0
"""For all servers together, and for the turns that are waited for."""
MOST_SERVERS = 3
"""IANA's, the registry's, and the registrar's."""
WORTH_ASKING_S = 2.0


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
"""As the sandbox's registry answers: compose/sandbox/upstreams/whois.py."""


class InvalidDomain(InvalidInput):
    """A host name below which nobody registers anything, which only the public suffix list knows."""

    code = "invalid_domain"


class Request(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`domain`: what is registered, or any host below it."""

    domain: Annotated[
        str,
        msgspec.Meta(
            min_length=1, max_length=1012, description="Domain, or a host below it; Unicode names are accepted."
        ),
    ]

    def __post_init__(self) -> None:
        try:
            hosts.public_host(self.domain)
        except NotPublic as refused:
            raise InvalidField(refused.detail, field="domain", code=refused.code) from None


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the registry says. What it does not say is null or empty.

    `domain`: the registrable domain in A-labels. `registered`: null when the name is reserved or the answer does not say.
    `nameServers`: hosts, sorted. `status`: EPP codes only. `dnssec`: whether the delegation is signed. `whoisServer`: the
    registry's. `raw`: what it answered, and below that what the registrar's server added, 64 KB at most. `serversQueried`:
    those that answered, in order. `parsedBy`: `generic`, or the top-level domain whose own rules were used.
    """

    ok: bool
    domain: str
    unicode_domain: str
    registered: bool | None
    registrar: str | None
    registrar_iana_id: str | None
    registrar_url: str | None
    created_at: str | None
    updated_at: str | None
    expires_at: str | None
    days_until_expiry: int | None
    name_servers: list[str]
    status: list[str]
    dnssec: bool | None
    whois_server: str
    registrar_whois_server: str | None
    raw: str
    raw_truncated: bool
    servers_queried: list[str]
    parsed_by: str
    age_seconds: int


@dataclass(slots=True)
class _Search:
    """One domain's way from server to server.

    Attributes:
        names: of the domain, in A-labels and in Unicode.
        visited: servers that need not be asked again.
        texts: of the registry and the registrar, with the servers that gave them.
    """

    whois: Whois
    domain: str
    names: tuple[str, ...]
    deadline: float
    visited: list[str] = field(default_factory=list)
    texts: list[tuple[str, WhoisText, str]] = field(default_factory=list)

    def registry(self) -> str:
        """The registry's server, by IANA's record of the top-level domain. Raises UpstreamFailed `no_whois_server`."""
        last = self.domain.rpartition(".")[2]
        text = self.whois.ask(self.whois.root, last, deadline=self.deadline)
        self.visited.append(self.whois.root)
        server = referral(decode(text.raw))
        if server is None:
            raise UpstreamFailed(f"The registry of .{last} has no WHOIS server.", reason="no_whois_server")
        if server == self.whois.root:  # of .int and .arpa IANA is the registry
            return server
        try:
            return hosts.public_host(server)
        except NotPublic as refused:
            if refused.code != "blocked_address":
                raise UpstreamFailed(
                    f"The registry of .{last} has no WHOIS server.", reason="no_whois_server"
                ) from None
            raise BlockedAddress(f"The WHOIS server of .{last} is not called: {refused.detail}") from None

    def ask(self, server: str, rules: Rules) -> Record:
        """What a server knows of the domain."""
        text = self.whois.ask(server, rules.query.format(self.domain), deadline=self.deadline)
        if server not in self.visited:
            self.visited.append(server)
        readable = decode(text.raw, rules.encodings)
        self.texts.append((server, text, readable))
        return read(readable, self.names, rules)

    def complete(self, record: Record) -> Record:
        """A thin record with what the server that it names adds; nothing that this server says or does is a failure."""
        server = record.refers_to
        if record.is_complete or record.registered is False or server is None or server in self.visited:
            return record
        if len(self.visited) >= MOST_SERVERS or self.deadline - time.monotonic() < WORTH_ASKING_S:
            return record
        try:
            thicker = self.ask(hosts.public_host(server), GENERIC)
        except (NotPublic, BlockedAddress, UpstreamFailed):
            return record
        return replace(record.completed(thicker), registered=True) if thicker.registered else record

    def raw(self) -> tuple[str, bool]:
        """All texts as one."""
        first, *others = self.texts
        below = "".join(f"\n# {server}\n\n{readable}" for server, _, readable in others)
        text, is_cut = cut(first[2] + below)
        return text, is_cut or any(text.is_cut for _, text, _ in self.texts)


def run(request: Request, context: Context) -> Response:
    """IANA, the registry, and where it helps the registrar."""
    domain = _registrable(hosts.public_host(request.domain))
    unicode_domain = domains.unicode_of(domain)
    rules = rules_of(domain)
    search = _Search(
        context.world.whois, domain, tuple(dict.fromkeys((domain, unicode_domain))), time.monotonic() + WITHIN_S
    )
    server = search.registry()
    record = search.complete(search.ask(server, rules))
    raw, is_cut = search.raw()
    if record.registered is False:
        record = Record(registered=False)
    return Response(
        ok=True,
        domain=domain,
        unicode_domain=unicode_domain,
        registered=record.registered,
        registrar=record.registrar,
        registrar_iana_id=record.registrar_iana_id,
        registrar_url=record.registrar_url,
        created_at=_iso(record.created),
        updated_at=_iso(record.updated),
        expires_at=_iso(record.expires),
        days_until_expiry=_days(record.expires, context.world.clock.now()),
        name_servers=list(record.name_servers),
        status=list(record.status),
        dnssec=record.dnssec,
        whois_server=server,
        registrar_whois_server=record.refers_to,
        raw=raw,
        raw_truncated=is_cut,
        servers_queried=search.visited,
        parsed_by="generic" if rules.is_generic else domain.rpartition(".")[2],
        age_seconds=int(max(text.age_s for _, text, _ in search.texts)),
    )


def _registrable(host: str) -> str:
    domain = domains.registrable(host)
    if domain is None:
        raise InvalidDomain("This is a public suffix: domains are registered below it.", reason=None)
    if "_" in domain:
        raise InvalidDomain("A registered domain has only letters, digits and hyphens.", reason=None)
    return domain


def _iso(moment: datetime | None) -> str | None:
    return iso(moment) if moment else None


def _days(expires: datetime | None, now: datetime) -> int | None:
    """Whole days; negative when it is over."""
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
        "timeout",
        "dns_failure",
        "connection_refused",
        "bad_content",
        "no_whois_server",
        "rate_limited",
    ),
    summary=(
        "The registration of a domain, from the registry's own WHOIS server: registrar, creation, update and expiry dates, "
        "name servers, EPP status codes, DNSSEC and the raw text. Answers whether a domain is registered at all."
    ),
    example=Example(
        request={"domain": "www.example.com"},
        response={
            "ok": True,
            "domain": "example.com",
            "unicodeDomain": "example.com",
            "registered": True,
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
