"""The sandbox's WHOIS and RDAP servers, asked by the real clients."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs.ports import Context
from jobs.whois.endpoint import ENDPOINT
from shared.outcome import Failed, Ok
from shared.settings.service import Settings
from workers.children import ChildPool
from workers.execute import execute
from workers.ports import WorkerPorts

ROOT = Path(__file__).parents[2]
ADDRESS = "127.77.43.10"


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerPorts]:
    """As a worker of the sandbox has it."""
    command = [sys.executable, "-m", "compose.sandbox.upstreams", ADDRESS, str(tmp_path_factory.mktemp("upstreams"))]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            settings = json.loads(process.stdout.readline())
            names = {f"COINSLOT_{name}": value for name, value in settings.items()}
            yield WorkerPorts(Settings.from_env(names | {"COINSLOT_NOW": "2026-11-21T15:00:00Z"}), ChildPool())
        finally:
            process.kill()


def call(ports: WorkerPorts, domain: str) -> Any:
    outcome = execute(ENDPOINT, json.dumps({"domain": domain}).encode(), Context("0x0", ports))
    return json.loads(outcome.body) if isinstance(outcome, Ok) else outcome


def test_the_documented_example(ports: WorkerPorts) -> None:
    """Is a real answer: only the days to go depend on the day, and the age on the call before."""
    assert call(ports, ENDPOINT.example.request["domain"]) == ENDPOINT.example.response


def test_what_the_sandbox_knows(ports: WorkerPorts) -> None:
    """A thin record with the registrar's additions, two formats more, and a name that nobody has."""
    thin = call(ports, "example.net")
    assert (thin["registrar"], thin["createdAt"]) == ("Example Registrar, Inc.", "1995-08-14T04:00:00Z")
    assert (thin["updatedAt"], thin["nameServers"]) == (
        "2026-08-14T07:02:37Z",
        ["a.iana-servers.net", "b.iana-servers.net"],
    )
    assert len(thin["serversQueried"]) == 3
    assert call(ports, "example.org")["expiresAt"] == "2027-08-30T00:00:00Z"
    british = call(ports, "www.example.co.uk")
    assert (british["registrar"], british["createdAt"]) == ("Example Hosting Ltd", None)
    assert call(ports, "example-that-nobody-has.com")["registered"] is False


@pytest.mark.parametrize(
    ("domain", "reason", "retryable"),
    [
        ("example.dev", "no_whois_server", False),
        ("foo.nosuchtld", "no_whois_server", False),
        ("example.info", "rate_limited", True),
        ("busy.app", "rate_limited", True),
        ("elsewhere.app", "bad_content", True),
        ("lost.app", "bad_content", True),
    ],
)
def test_what_fails(ports: WorkerPorts, domain: str, reason: str, *, retryable: bool) -> None:
    """A top-level domain without a server, one that does not exist, servers that have had enough, a redirect to a host that is
    not in the bootstrap file, and a 404 of something else than RDAP."""
    outcome = call(ports, domain)
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.reason, outcome.retryable) == ("upstream_failed", reason, retryable)


def test_rdap(ports: WorkerPorts) -> None:
    """Over TLS with the sandbox's authority: where IANA names no WHOIS server, and where that server refuses."""
    found = call(ports, "www.example.app")
    assert (found["source"], found["registered"], found["registrar"]) == ("rdap", True, "Example Registrar, Inc.")
    assert (found["daysUntilExpiry"], found["nameServers"]) == (161, ["a.iana-servers.net", "b.iana-servers.net"])
    assert (found["whoisServer"], found["serversQueried"][1:]) == ("", ["rdap.registry.example.net"])
    assert json.loads(found["raw"])["objectClassName"] == "domain"
    busy = call(ports, "example.biz")
    assert (busy["source"], busy["registered"], busy["whoisServer"]) == ("rdap", True, "whois.busy.example.net")
    free, bare, reserved = (call(ports, f"{name}.app") for name in ("free", "bare", "reserved"))
    assert (free["registered"], free["registeredReason"]) == (False, None)
    assert (bare["registered"], bare["raw"]) == (False, "")
    assert (reserved["registered"], reserved["registeredReason"]) == (None, "reserved")


def test_a_redirect_to_a_known_server_is_followed(ports: WorkerPorts) -> None:
    """Here to the record of another name, which proves nothing."""
    moved = call(ports, "moved.app")
    assert (moved["registered"], moved["registeredReason"]) == (None, "unclear")
    assert json.loads(moved["raw"])["ldhName"] == "example.app"
