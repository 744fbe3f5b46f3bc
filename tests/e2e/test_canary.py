"""Nothing of a caller's secrets stays anywhere: unique texts go through everything that can happen to a call, and then every
place where this service leaves something is searched for them, in every form."""

import base64
import contextlib
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import redis

from coinslot.buyer import Buyer
from coinslot.delivery import RetryPolicy
from coinslot.errors import CallFailed, CoinslotError
from coinslot.payment import SignedPayment
from compose.sandbox.redis_server import RedisServer, Role, start_redis
from tests.e2e.failing_jobs import FOLDER
from tests.e2e.running import Running, start_failing_worker, until
from tests.e2e.searching import FORMS, Monitor, Place, files, pages, processes, sightings
from tests.jobs import jose
from tests.time_limits import patience

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
    pytest.mark.timeout(240),
]

PATHS = ("metrics", "healthz", "readyz", "openapi.json", "bazaar.json", ".well-known/x402", "nothing")
QUEUES = ("fast", "micro")
SERVERS: dict[Role, str] = {
    "ledger": "COINSLOT_LEDGER_URL",
    "queue": "COINSLOT_QUEUE_URL",
    "mirror": "COINSLOT_DASHBOARD_REDIS_URL",
}
Call = tuple[str, Any]


@dataclass
class Canaries:
    """Texts that are nowhere else, each in one field of one request."""

    texts: list[str] = field(default_factory=list)

    def __call__(self, what: str) -> str:
        """A new one."""
        self.texts.append(f"cnry{what}{secrets.token_hex(10)}")
        return self.texts[-1]

    def calls(self, please: str = "") -> list[Call]:
        """One of each kind, with a canary in every field that may hold a secret."""
        secret = self("secret")
        token = jose.hs(
            {"sub": self("payload"), "exp": 4_102_444_800}, {"alg": "HS256", "kid": self("kid")}, secret=secret
        )
        key = self("basesecret") * 2
        other = jose.hs({"sub": self("payload")}, secret=key)
        hidden = base64.b64encode(key.encode()).decode()
        headers = {"Content-Type": self("header"), self("name"): self("header"), "X-Event-Id": self("header")}
        webhook = {"payload": self("body") + please, "signature": self("signature"), "secret": self("whsecret")}
        asked = {"requiredClaims": [please]} if please else {}
        return [
            ("jwt-verify", {"token": token, "sharedSecret": secret, **asked}),
            ("jwt-verify", {"token": other, "sharedSecret": hidden, "secretEncoding": "base64", **asked}),
            ("jwt-verify", {"token": self("token"), "publicKey": jose.pem("PUBLIC KEY", jose.spki()), **asked}),
            ("webhook-sig-verify", {"provider": "generic", **webhook}),
            ("webhook-sig-verify", {"provider": "github", **webhook, "signature": "sha256=" + self("signature")}),
            ("webhook-sig-verify", {"provider": "cdp", **webhook, "headers": headers}),
            ("echo", {"message": self("message") + please}),
        ]

    def refused(self) -> list[Call]:
        """Bodies that are 400 before anything is charged."""
        return [
            ("jwt-verify", {"token": self("token"), "sharedSecret": self("secret"), "publicKey": self("key")}),
            ("jwt-verify", {"token": self("token"), "publicKey": f"-----BEGIN PUBLIC KEY-----\n{self('key')}"}),
            ("jwt-verify", {"token": [self("token")], "sharedSecret": self("secret")}),
            (
                "jwt-verify",
                {"token": self("token"), "sharedSecret": self("secret"), "secretEncoding": self("encoding")},
            ),
            ("jwt-verify", b'{"token": "%b", "sharedSecret": "%b' % (self("token").encode(), self("secret").encode())),
            (
                "webhook-sig-verify",
                {"provider": self("provider"), "secret": self("secret"), "payload": "", "signature": ""},
            ),
            ("webhook-sig-verify", {"provider": "slack", "secret": [self("secret")], "payload": self("body")}),
            ("webhook-sig-verify", b'{"secret": "%b\xff"}' % self("secret").encode()),
            ("echo", {"message": [self("message")]}),
            ("pii-redact", {"text": [self("text")]}),
        ]


class Watched:
    """The service on Redis servers that are listened to and restarted, with workers that can be asked for trouble."""

    def __init__(self, var: Path) -> None:
        self.var = var
        (var / "key").write_text(secrets.token_hex(32))
        (var / "key").chmod(0o600)
        self.servers = {role: start_redis(role, var) for role in SERVERS}
        for server in self.servers.values():
            self.command(server, "CONFIG", "SET", "rdbcompression", "no")  # so that it can be searched
        self.monitors = {role: Monitor(role, server.url) for role, server in self.servers.items()}
        self.settings = {SERVERS[role]: server.url for role, server in self.servers.items()}
        self.settings |= {"COINSLOT_KEY_FILE": str(var / "key"), FOLDER: str(var)}
        self.settings["COINSLOT_METRICS_DIR"] = str(var / "metrics")
        self.workers = {queue: self._worker(queue) for queue in QUEUES}
        self.running = Running(var, without=QUEUES, **self.settings)
        self.holds = 0
        self.signed: list[SignedPayment] = []

    def stop(self) -> None:
        """Everything, in an order that lets all end well."""
        self.running.end(signal.SIGTERM)
        for worker in self.workers.values():
            worker.terminate()
            worker.wait(patience(40))
        for monitor in self.monitors.values():
            monitor.stop()
        for server in self.servers.values():
            server.stop()

    def _worker(self, queue: str) -> subprocess.Popen[bytes]:
        """One that logs as much as it can."""
        log = self.var / f"worker-{queue}-{time.monotonic_ns()}.log"
        return start_failing_worker(
            queue, log, "--threads", "1" if queue == "micro" else "16", "-v", "-v", **self.settings
        )

    def command(self, server: RedisServer, *arguments: str) -> Any:
        """One command to one server."""
        with redis.Redis.from_url(server.url) as client:
            return client.execute_command(*arguments)  # type: ignore[no-untyped-call]

    def log(self) -> str:
        """What all processes said."""
        logs = [*self.var.glob("*.log*"), *(self.var / "sandbox" / "log").glob("*")]
        return "\n".join(log.read_text(errors="replace") for log in logs)

    @contextlib.contextmanager
    def buyer(self, budget_s: float, signed: list[SignedPayment]) -> Iterator[Buyer]:
        """As patient as it is told to be."""

        def remember(payment: SignedPayment) -> None:
            signed.append(payment)
            self.signed.append(payment)

        retry_policy = RetryPolicy(budget_s=budget_s)
        with Buyer(
            self.running.base_url, self.running.wallet(), max_price=None, retry_policy=retry_policy, on_signed=remember
        ) as buyer:
            yield buyer

    def answered(self, call: Call) -> Any:
        """Bought, fetched again with the same payment, and the same both times."""
        signed: list[SignedPayment] = []
        with self.buyer(patience(40), signed) as buyer:
            first = buyer.call(*call).raw
            assert buyer.resume(signed[0]).raw == first
        return json.loads(first)

    def failed(self, call: Call) -> str:
        """Its code."""
        with self.buyer(0, []) as buyer, pytest.raises(CallFailed) as caught:
            buyer.call(*call)
        return str((caught.value.problem or {})["code"])

    def late(self, call: Call) -> SignedPayment:
        """Nobody waits that long. What it was paid with."""
        signed: list[SignedPayment] = []
        with self.buyer(0, signed) as buyer, pytest.raises(CoinslotError) as caught:
            buyer.call(*call)
        assert caught.value.status == 504
        return signed[0]

    def fetched(self, payment: SignedPayment) -> bytes:
        """The answer to what was paid before."""
        with self.buyer(patience(40), []) as buyer:
            return buyer.resume(payment).raw

    def hold(self) -> str:
        """What a request says to hold its job, until `release`."""
        self.holds += 1
        return f"please-hold-{self.holds}"

    def is_held(self) -> bool:
        """Whether such a job runs."""
        return (self.var / f"held-{self.holds}").exists()

    def release(self) -> None:
        """It goes on."""
        (self.var / f"released-{self.holds}").touch()

    def kill_workers(self) -> None:
        """With their jobs, all that run anything; then there are others."""
        for queue, master in list(self.workers.items()):
            children = Path(f"/proc/{master.pid}/task/{master.pid}/children").read_text().split()
            for child in children:
                if b"multiprocessing" not in Path(f"/proc/{child}/cmdline").read_bytes():
                    os.kill(int(child), signal.SIGKILL)
            master.wait(patience(20))
            self.workers[queue] = self._worker(queue)

    def restart_redis(self) -> None:
        """SIGKILL to all, and the same again on what they left on the disk."""
        for server in self.servers.values():
            server.process.kill()
            server.process.wait()
            server.child.log.replace(server.child.log.with_suffix(f".{time.monotonic_ns()}"))
        for role, server in list(self.servers.items()):
            port = int(server.url.rpartition(":")[2].partition("/")[0])
            self.servers[role] = start_redis(role, self.var, port)
            self.command(self.servers[role], "CONFIG", "SET", "rdbcompression", "no")
            self.monitors[role].wait()

    def places(self) -> Iterator[Place]:
        """Everything, as of now."""
        for role, server in self.servers.items():
            self.command(server, "SAVE")
            yield self.monitors[role].heard()
            yield f"SLOWLOG of {role}", repr(self.command(server, "SLOWLOG", "GET", "-1")).encode()
        yield from files(self.var)
        yield from processes()
        yield from pages([*(f"{self.running.base_url}/{path}" for path in PATHS), self.running.metrics_url])


@pytest.fixture(scope="module")
def canaries() -> Canaries:
    return Canaries()


@pytest.fixture(scope="module")
def watched(canaries: Canaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A service to which everything has happened that can."""
    watched = Watched(tmp_path_factory.mktemp("var"))
    try:
        watched.running.wait_until_serving()
        happen(watched, canaries)
        yield watched
    finally:
        watched.stop()


def happen(watched: Watched, canaries: Canaries) -> None:
    """Success and redelivery, refusals, failing jobs, deadlines, killed workers, restarted servers."""
    text: Call = ("pii-redact", {"text": f"{canaries('text')} bob@example.com {canaries('text')}"})
    with ThreadPoolExecutor(16) as callers:
        calls = [*canaries.calls(), text]
        answers = list(callers.map(watched.answered, calls))
        assert [answer["valid"] for answer in answers[:2]] == [True, True]
        assert answers[6]["youSent"] == calls[6][1]["message"]

        assert set(callers.map(watched.failed, canaries.refused())) <= {"invalid_body", "invalid_json", "invalid_key"}
        assert set(callers.map(watched.failed, canaries.calls("please-fail"))) == {"internal_error"}

        late = list(callers.map(watched.late, canaries.calls(watched.hold())[:6]))
        watched.release()
        assert all(b'"ok":true' in answer for answer in callers.map(watched.fetched, late))

        for disturb in (watched.kill_workers, watched.restart_redis):
            held = callers.map(watched.answered, canaries.calls(watched.hold()))
            until(watched.is_held)
            time.sleep(0.5)
            disturb()
            watched.release()
            assert len(list(held)) == 7
            assert [b'"ok":true' in json.dumps(watched.answered(text), separators=(",", ":")).encode()] == [True]


def test_nothing_is_found(watched: Watched, canaries: Canaries) -> None:
    """No canary, in no form, in no place."""
    assert len(set(canaries.texts)) == len(canaries.texts) > 60
    searched = list(watched.places())

    assert sightings(canaries.texts, searched) == []

    kinds = {place.split(" ")[0] for place, _ in searched}
    assert kinds == {"MONITOR", "SLOWLOG", "file", "environ", "cmdline", "comm", "page"}
    names = " ".join(place for place, _ in searched)
    for name in (
        "dump.rdb",
        ".incr.aof",
        "service.log",
        "worker-fast",
        "worker-micro",
        "redis-ledger",
        "metrics/counter_",
    ):
        assert name in names
    assert sum(len(content) for _, content in searched) > 100_000


def test_no_signature_is_kept(watched: Watched) -> None:
    """They are what secret answers are sealed with. (The chain shows them: a settlement is public.)"""
    payloads = [json.loads(base64.b64decode(payment.header))["payload"] for payment in watched.signed]
    halves = [payload["signature"][2:66] for payload in payloads]
    assert len(set(halves)) > 30

    searched = [(name, content) for name, content in watched.places() if "chain" not in name and "anvil" not in name]

    assert sightings(halves, searched) == []
    nonces = [payload["authorization"]["nonce"][2:] for payload in payloads]
    assert any("MONITOR of ledger" in seen for seen in sightings(nonces, searched))  # it is where they would be seen


def test_everything_happened_in_these_places(watched: Watched) -> None:
    """What was searched is where these calls went: their traces are there, without what they held."""
    log = watched.log()
    for said in (
        "jwt-verify failed with ValueError",
        "echo failed with ValueError",
        "endpoint=jwt-verify code=deadline_exceeded cause=answer_late charged=true",
    ):
        assert said in log
    assert "Received message echo " in log  # Dramatiq at its most talkative
    for role, said in (("ledger", b"}:answer:"), ("queue", b'\\"sealed\\"')):
        assert said in watched.monitors[role].heard()[1]


def planted_in_redis(role: Role) -> Callable[[Watched, bytes], contextlib.AbstractContextManager[object]]:
    @contextlib.contextmanager
    def plant(watched: Watched, raw: bytes) -> Iterator[None]:
        with redis.Redis.from_url(watched.servers[role].url) as client:
            client.set("planted", b"before " + raw + b" behind")
            yield
            client.delete("planted")

    return plant


@contextlib.contextmanager
def in_a_log(watched: Watched, raw: bytes) -> Iterator[None]:
    path = next(watched.var.glob("worker-fast-*.log"))
    with path.open("ab") as log:
        log.write(raw)
    yield


@contextlib.contextmanager
def in_a_process(watched: Watched, raw: bytes) -> Iterator[None]:
    shown = raw.decode("latin-1")
    command = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()", shown]
    with subprocess.Popen(command, env={"PLANTED": shown}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield
        process.communicate()


PLANTED: dict[str, tuple[Any, set[str]]] = {
    "the ledger": (planted_in_redis("ledger"), {"MONITOR of ledger", "dump.rdb", "incr.aof"}),
    "the queue": (planted_in_redis("queue"), {"MONITOR of queue", "dump.rdb"}),
    "a log": (in_a_log, {"worker-fast"}),
    "a process": (in_a_process, {"environ of", "cmdline of"}),
}


@pytest.mark.parametrize("form", ["raw", "base64 at 1", "hex", "JSON escapes"])
@pytest.mark.parametrize("where", PLANTED)
def test_what_is_planted_is_found(watched: Watched, where: str, form: str) -> None:
    """In each kind of place, which proves that the search looks there."""
    text = f"plnt{secrets.token_hex(10)}"
    plant, expected = PLANTED[where]

    with plant(watched, FORMS[form](text.encode())):
        found = [seen for seen in sightings([text], watched.places()) if f" as {form} in " in seen]

    # MONITOR writes a backslash as two.
    expected = {part for part in expected if not (form == "JSON escapes" and part.startswith("MONITOR"))}
    for part in expected:
        assert any(part in seen for seen in found), (part, found)
    assert len(found) == len(expected)


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("lead", range(3))
def test_base64_is_recognised_at_any_offset(encode: Callable[[bytes], bytes], lead: int) -> None:
    """The only form whose characters depend on what stands before and behind."""
    text = f"plnt{secrets.token_hex(10)}"
    assert sightings([text], [("x", encode(b"?" * lead + text.encode() + b"~ and more"))])


def test_no_process_leaves_a_core_or_a_slow_log(watched: Watched) -> None:
    """Those that see requests or keys: the API's worker, the facilitator's, the queues' and what they fork."""
    masters = {one.pid for one in watched.running.kept()}
    seen: dict[str, list[bool]] = {
        part: [] for part in ("-m api", "-m facilitator", "--queues net", "workers.fork_server")
    }
    for one in watched.running.processes():
        for part in seen:
            if part in one.command and one.pid not in masters:
                limits = Path(f"/proc/{one.pid}/limits").read_text()
                seen[part].append(re.search(r"Max core file size +0 +0 ", limits) is not None)
    assert all(seen.values())
    assert all(all(without) for without in seen.values()), seen
    for server in watched.servers.values():
        assert "-1" in str(watched.command(server, "CONFIG", "GET", "slowlog-log-slower-than"))
