"""ssl-info as it runs: the sandbox's servers, a real child, and a clock that can be set."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography import x509

from compose.sandbox.upstream_server import Upstreams
from compose.sandbox.upstreams.authority import Authority
from compose.sandbox.upstreams.tls import OLD_PORT, PORT
from jobs.ports import Context
from jobs.ssl_info import examination
from jobs.ssl_info.endpoint import Request, run
from shared.endpoint import InvalidField
from shared.outcome import UpstreamFailed
from shared.settings.service import Settings
from tests.jobs import certificates as made
from tests.sites import decoded
from tests.workers.memory import growth_below
from workers.children import ChildPool
from workers.ports import WorkerPorts

Ask = Callable[..., dict[str, Any]]


def world_of(upstreams: Upstreams, children: ChildPool, **settings: str) -> WorkerPorts:
    told = {**upstreams.settings, **{name.upper(): value for name, value in settings.items()}}
    return WorkerPorts(Settings.from_env({f"COINSLOT_{name}": value for name, value in told.items()}), children)


@pytest.fixture
def ask(upstreams: Upstreams, net_children: ChildPool) -> Ask:
    """Ask for a host of the sandbox; settings may be other ones."""

    def asked(name: str, port: int = PORT, **settings: str) -> dict[str, Any]:
        ports = world_of(upstreams, net_children, **settings)
        request = decoded(Request, {"hostname": f"{name}.example.com", "port": port}, ports.site)
        found: dict[str, Any] = json.loads(msgspec.json.encode(run(request, Context("0x0", ports))))
        return found

    return asked


FLAGS = ("valid", "trusted", "hostnameMatch", "expired", "notYetValid", "selfSigned")


@pytest.mark.parametrize(
    ("name", "true", "reason", "days", "chain_length"),
    [
        ("valid", {"valid", "trusted", "hostnameMatch"}, None, 90, 2),
        ("expired", {"trusted", "hostnameMatch", "expired"}, "expired", -11, 2),
        ("not-yet-valid", {"trusted", "hostnameMatch", "notYetValid"}, "not_yet_valid", 90, 2),
        ("wrong-host", {"trusted"}, "hostname_mismatch", 90, 2),
        ("self-signed", {"hostnameMatch", "selfSigned"}, "self_signed", 90, 1),
        ("untrusted-root", {"hostnameMatch"}, "untrusted_root", 90, 2),
        ("incomplete-chain", {"hostnameMatch"}, "incomplete_chain", 90, 1),
        ("weak-key", {"hostnameMatch"}, "weak_key", 90, 2),
        ("many-names", {"valid", "trusted", "hostnameMatch"}, None, 90, 2),
    ],
)
def test_the_sandboxes_servers(
    ask: Ask, name: str, true: set[str], reason: str | None, days: int, chain_length: int
) -> None:
    """Each shows what its name says, and nothing else is said of it."""
    found = ask(name)
    assert {flag for flag in FLAGS if found[flag]} == true
    assert (found["verifyError"], found["daysUntilExpiry"], found["chainLength"]) == (reason, days, chain_length)
    assert (found["ok"], found["protocol"]) == (True, "TLSv1.3")
    assert len(found["chain"]) == chain_length
    assert [lint["code"] for lint in found["lint"]] == (["weak_key"] if name == "weak-key" else [])
    assert found["chain"][0]["fingerprintSha256"] == found["fingerprintSha256"]
    assert found["ipAddress"].startswith("127.")
    assert 0 <= found["elapsedMs"] < 5000


def test_a_server_of_long_ago(ask: Ask) -> None:
    """An old protocol does not make a certificate invalid: it is told."""
    found = ask("tls-1-0", OLD_PORT)
    assert (found["protocol"], found["valid"]) == ("TLSv1", True)


def test_ten_thousand_names(ask: Ask) -> None:
    """200 of them, and how many there are; they are read in the child."""
    with growth_below(100):
        for _ in range(3):
            found = ask("many-names")
    assert (len(found["subjectAltNames"]), found["subjectAltNameCount"]) == (200, 10_001)


def test_a_name_that_the_server_does_not_know(ask: Ask, upstreams: Upstreams) -> None:
    """There is no handshake."""
    address = upstreams.settings["EGRESS_ALLOW"].partition("/")[0]
    with pytest.raises(UpstreamFailed) as caught:
        ask("nobody", hosts=f"nobody.example.com={address}")
    assert caught.value.reason == "tls_failure"


def test_without_the_operators_authorities(ask: Ask) -> None:
    """The public ones do not know the sandbox's."""
    found = ask("valid", ca_file="")
    assert (found["valid"], found["trusted"], found["verifyError"]) == (False, False, "incomplete_chain")


@pytest.mark.parametrize(
    ("days", "valid", "reason"), [(0, True, None), (100, False, "expired"), (-2, False, "not_yet_valid")]
)
def test_the_time_is_that_of_the_clock(ask: Ask, days: int, valid: bool, reason: str | None) -> None:
    """COINSLOT_NOW."""
    now = datetime.now(UTC) + timedelta(days=days)
    found = ask("valid", now=now.isoformat())
    assert (found["valid"], found["trusted"], found["verifyError"]) == (valid, True, reason)
    assert found["daysUntilExpiry"] == 90 - days


def test_ports_of_the_operator(ask: Ask) -> None:
    """COINSLOT_EGRESS_PORTS."""
    with pytest.raises(InvalidField):
        ask("valid", 6379)
    with pytest.raises(UpstreamFailed) as caught:
        ask("valid", 6379, egress_ports="6379")
    assert caught.value.reason == "connection_refused"


def test_names_against_constraints(net_children: ChildPool, upstreams: Upstreams, tmp_path: Path) -> None:
    """Ten thousand of each, in a child: an answer, soon."""
    root = Authority()
    constraints = x509.NameConstraints(None, [x509.DNSName(f"n{number}.example.org") for number in range(10_000)])
    authority = Authority("Constrained", issuer=root, constraints=constraints)
    identity = authority.identity(*(f"host-{number}.example.com" for number in range(10_000)))
    question = examination.Question(
        "host-1.example.com",
        made.chain(identity),
        root.write_root(tmp_path / "root.pem").read_bytes(),
        int(time.time()),
    )
    begin = time.monotonic()
    answer = world_of(upstreams, net_children).calculations.run(
        examination.NAME, msgspec.msgpack.encode(question), limit_s=2
    )
    found = msgspec.msgpack.decode(answer, type=examination.Findings)
    assert (found.distrust, found.hostname_match) == ("other", True)
    assert time.monotonic() - begin < 2
