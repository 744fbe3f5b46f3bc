"""Asks IANA's server, the registry's, and the registrar's when it can add something. RDAP comes last: where IANA names no WHOIS
server, and where that server does not answer, refuses, or says nothing that can be read."""

import time
from dataclasses import replace
from typing import Literal

from jobs import hosts
from jobs.hosts import NotPublic
from jobs.ports import Ports, WhoisText
from jobs.whois.lines import tokens
from jobs.whois.rdap import read_rdap
from jobs.whois.record import Record, read
from jobs.whois.registries import PRIVATE, SECOND_LEVEL, private_suffix
from jobs.whois.rules import GENERIC, Rules, rules_of
from jobs.whois.text import cut, decode
from jobs.whois.values import whois_server
from shared.outcome import BlockedAddress, UpstreamFailed

MOST_SERVERS = 3
"""IANA's, the registry's, and the registrar's."""
WORTH_ASKING_S = 2.0
"""With less time than this, the registrar's server is not asked."""


class Search:
    """The search for one domain, from server to server.

    Args:
        domain: in A-labels.
        unicode_domain: the same in Unicode.
        deadline: monotonic seconds, for the whole search.

    Attributes:
        names: the domain's names, in A-labels first.
        visited: servers that answered, in order.
        registry: the registry's WHOIS server, once IANA has named it.
        source: whose answer it is.
    """

    def __init__(self, ports: Ports, domain: str, unicode_domain: str, deadline: float) -> None:
        self.names = tuple(dict.fromkeys((domain, unicode_domain)))
        self.visited: list[str] = []
        self.registry = ""
        self.source: Literal["whois", "rdap"] = "whois"
        self._whois = ports.whois
        self._rdap = ports.rdap
        self._site = ports.site
        self._domain = domain
        self._top = domain.rpartition(".")[2]
        self._rules = rules_of(domain)
        self._deadline = deadline
        self._texts: list[tuple[str, WhoisText, str]] = []

    def run(self) -> Record:
        """Search, and return what is known about the domain.

        Raises:
            BlockedAddress: IANA names a server of the registry that is not public.
            UpstreamFailed: `no_whois_server`, and what jobs.ports.Whois raises. Where IANA names no WHOIS server, also what
                jobs.ports.Rdap raises.
        """
        try:
            record = self._by_whois()
        except UpstreamFailed as failure:
            record = self._instead_of(failure)
        else:
            if record.reason in ("unclear", "refused"):
                record = self._second_opinion(record)
        return Record(registered=False) if record.registered is False else record

    def raw(self) -> tuple[str, bool]:
        """The registry's text, followed by the registrar's; and whether something was left out."""
        (_, _, first), *others = self._texts
        below = "".join(f"\n# {server}\n\n{readable}" for server, _, readable in others)
        text, is_cut = cut(first + below)
        return text, is_cut or any(text.is_cut for _, text, _ in self._texts)

    @property
    def parsed_by(self) -> str:
        """The rules that read the registry's text."""
        if self.source == "rdap":
            return "rdap"
        return "generic" if self._rules.is_generic else self._top

    @property
    def age_s(self) -> int:
        """The age of the oldest text in the answer."""
        return int(max(text.age_s for _, text, _ in self._texts))

    def _by_whois(self) -> Record:
        self.registry = self._registry()
        return self._complete(self._ask(self.registry, self._rules))

    def _instead_of(self, failure: UpstreamFailed) -> Record:
        """RDAP's answer. Without one, the failure of WHOIS stays, unless IANA names no WHOIS server: then RDAP's counts."""
        if self._rdap_server is None:
            raise failure
        try:
            return self._by_rdap(self._rdap_server)
        except (BlockedAddress, UpstreamFailed) as second:
            raise second if failure.reason == "no_whois_server" else failure from None

    def _second_opinion(self, record: Record) -> Record:
        """RDAP's record, where WHOIS says nothing that can be read. That RDAP does not know a name counts only where WHOIS
        refused: else its text may mean that the name is held back."""
        if self._rdap_server is None:
            return record
        before = self.visited[:], self._texts[:]
        try:
            other = self._by_rdap(self._rdap_server)
        except (BlockedAddress, UpstreamFailed):
            return record
        if other.registered or (record.reason == "refused" and other.reason != "refused"):
            return other
        self.source = "whois"
        self.visited, self._texts = before
        return record

    @property
    def _rdap_server(self) -> str | None:
        """The registry's RDAP server. A private registry has none: the bootstrap file knows top-level domains only."""
        return None if private_suffix(self._domain) else self._rdap.server(self._domain)

    def _by_rdap(self, server: str) -> Record:
        answer = self._rdap.ask(self._domain, deadline=self._deadline)
        self.source = "rdap"
        self.visited.append(server)
        readable = decode(answer.raw)
        self._texts = [(server, WhoisText(answer.raw, False, answer.age_s), readable)]
        return read_rdap(answer.raw, self.names, is_found=answer.is_found)

    def _registry(self) -> str:
        if private := private_suffix(self._domain):
            return PRIVATE[private]
        text = self._whois.ask(self._whois.root, self._top, deadline=self._deadline)
        self.visited.append(self._whois.root)
        server = referral(decode(text.raw)) or SECOND_LEVEL.get(".".join(self._domain.split(".")[-2:]))
        if server == self._whois.root:  # IANA itself is the registry of .int and .arpa
            return server
        try:
            if server is not None:
                return hosts.public_host(server, self._site)
        except NotPublic as refused:
            if refused.code == "blocked_address":
                raise BlockedAddress(f"The WHOIS server of .{self._top} may not be called: {refused.detail}") from None
        detail = f"The registry of .{self._top} has neither a WHOIS nor an RDAP server."
        raise UpstreamFailed(detail, reason="no_whois_server", is_final=True)

    def _ask(self, server: str, rules: Rules) -> Record:
        text = self._whois.ask(server, rules.query.format(self._domain), deadline=self._deadline)
        if server not in self.visited:
            self.visited.append(server)
        readable = decode(text.raw, rules.encodings)
        self._texts.append((server, text, readable))
        return read(readable, self.names, rules)

    def _complete(self, record: Record) -> Record:
        """Complete a thin record with the data of the server that it names. A failure of that server is ignored."""
        server = record.refers_to
        if record.is_complete or record.registered is False or server is None or server in self.visited:
            return record
        if len(self.visited) >= MOST_SERVERS or self._deadline - time.monotonic() < WORTH_ASKING_S:
            return record
        try:
            thicker = self._ask(hosts.public_host(server, self._site), GENERIC)
        except (NotPublic, BlockedAddress, UpstreamFailed):
            return record
        return replace(record.completed(thicker), registered=True, reason=None) if thicker.registered else record


def referral(text: str) -> str | None:
    """The registry's server that IANA's record of a top-level domain names, or None. jobs.hosts must still check the name."""
    found: dict[str, str] = {}
    for token in tokens(text):
        if token.key in ("refer", "whois") and token.value:
            found.setdefault(token.key, token.value)
    value = found.get("refer") or found.get("whois")
    return (whois_server(value) or value[:255].lower()) if value else None
