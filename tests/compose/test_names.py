"""The sandbox's own part of the DNS."""

from pathlib import Path
from typing import Any

import dns.asyncquery
import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.resolver
import pytest

from compose.sandbox.upstreams import names
from compose.sandbox.upstreams.names import Names, system_servers
from compose.sandbox.upstreams.place import Place
from tests.workers.egress.name_server import NameServer, failing, records, silence

ADDRESS = "127.77.9.53"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A sandbox, with one site."""
    found = Place(ADDRESS, tmp_path)
    found.names["feeds.example.com"] = ADDRESS
    return found


@pytest.mark.anyio
async def test_other_names_are_asked_of_the_systems_servers(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """When there are none, or they do not answer soon: SERVFAIL, so that nothing waits for an internet that is not there."""
    monkeypatch.setattr(names, "FORWARD_TIMEOUT_S", 0.3)
    query = dns.message.make_query("www.iana.org", "A")

    async def asked(*servers: str) -> dns.message.Message:
        (wire,) = await Names(place, servers).reply(query.to_wire(), "udp")
        return dns.message.from_wire(wire)

    assert (await asked()).rcode() == dns.rcode.SERVFAIL
    with NameServer() as server:
        forward = dns.asyncquery.udp_with_fallback

        def elsewhere(query: dns.message.Message, where: str, **more: Any) -> Any:
            return forward(query, where, port=server.port, **more)

        monkeypatch.setattr(dns.asyncquery, "udp_with_fallback", elsewhere)
        server.script("www.iana.org", "A", silence, failing("NXDOMAIN"), records("www.iana.org. 60 IN A 192.0.43.8"))
        assert (await asked(server.address)).rcode() == dns.rcode.SERVFAIL
        assert (await asked(server.address)).rcode() == dns.rcode.NXDOMAIN
        assert (await asked(server.address)).answer[0][0].to_text() == "192.0.43.8"
        assert len(server.asked("www.iana.org")) == 3


def test_it_does_not_ask_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine may have been pointed at its own sandbox."""

    def configured(self: Any, *args: Any) -> None:
        self.nameservers = ["192.0.2.1", ADDRESS]

    monkeypatch.setattr(dns.resolver.Resolver, "read_resolv_conf", configured)
    assert system_servers(ADDRESS) == ["192.0.2.1"]
