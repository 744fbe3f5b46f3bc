"""Handshakes with real servers, whatever they do; and that nothing else is connected to."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from compose.sandbox.upstreams.authority import Authority, Identity, self_signed
from jobs.ports import Handshake
from shared.outcome import BlockedAddress, UpstreamFailed
from shared.settings.service import Settings
from tests.each import each
from tests.jobs import certificates as made
from tests.time_limits import SLACK_S
from tests.workers import tls_servers as servers
from tests.workers.egress.proxy_server import real_proxy
from tests.workers.servers import ADDRESS, Answer, server
from tests.workers.tls_servers import record
from workers.adapters.tls import MAX_BYTES
from workers.children import ChildPool
from workers.ports import WorkerPorts

HOST = "www.example.com"
IDENTITY = Authority().identity(HOST)
VERSIONS = {
    ssl.TLSVersion.TLSv1: "TLSv1",
    ssl.TLSVersion.TLSv1_1: "TLSv1.1",
    ssl.TLSVersion.TLSv1_2: "TLSv1.2",
    ssl.TLSVersion.TLSv1_3: "TLSv1.3",
}
ALERT, HANDSHAKE, DATA = 21, 22, 23


@pytest.fixture(scope="module")
def ports() -> WorkerPorts:
    """With two names: one leads to the servers, the other to what is not public."""
    return WorkerPorts(
        Settings(hosts=f"{HOST}={ADDRESS},inside.example.com=127.0.0.1", egress_allow=f"{ADDRESS}/32"), ChildPool()
    )


def shaken(ports: WorkerPorts, port: int, *, limit_s: float = 5.0, host: str = HOST) -> Handshake:
    return ports.tls.handshake(host, port, deadline=time.monotonic() + limit_s)


def failed(ports: WorkerPorts, behaviour: Answer, *, limit_s: float = 5.0) -> UpstreamFailed:
    with server(behaviour) as port, pytest.raises(UpstreamFailed) as caught:
        shaken(ports, port, limit_s=limit_s)
    assert HOST in caught.value.detail
    return caught.value


@each(("version", "name"), VERSIONS.items(), ids=VERSIONS.values())
def test_every_version_that_a_server_may_speak(ports: WorkerPorts, version: ssl.TLSVersion, name: str) -> None:
    """TLS 1.0 and newer."""
    with server(servers.shows(IDENTITY, version)) as port:
        found = shaken(ports, port)
    assert (found.address, found.protocol) == (ADDRESS, name)
    assert (found.cipher != "", found.cipher_bits) == (True, 256)
    assert list(found.chain) == made.chain(IDENTITY)


KEYS = {
    "RSA-2048": rsa.generate_private_key(65537, 2048),
    "RSA-1024": rsa.generate_private_key(65537, 1024),
    "EC": ec.generate_private_key(ec.SECP384R1()),
    "Ed25519": ed25519.Ed25519PrivateKey.generate(),
}


@each("kind", KEYS)
def test_every_kind_of_key(ports: WorkerPorts, kind: str) -> None:
    """Weak ones too."""
    identity = self_signed(HOST, key=KEYS[kind])
    with server(servers.shows(identity)) as port:
        assert list(shaken(ports, port).chain) == made.chain(identity)


@pytest.mark.parametrize(("ciphers", "bits"), [("AES128-SHA", 128), ("AES256-SHA256", 256), ("CAMELLIA128-SHA", 128)])
def test_ciphers_that_nobody_should_use(ports: WorkerPorts, ciphers: str, bits: int) -> None:
    """They are what is asked about."""
    identity = self_signed(HOST, key=KEYS["RSA-2048"])
    with server(servers.shows(identity, ssl.TLSVersion.TLSv1_2, ciphers=ciphers + ":@SECLEVEL=0")) as port:
        found = shaken(ports, port)
    assert (found.cipher, found.cipher_bits) == (ciphers, bits)


def test_the_chain_is_as_it_was_sent(ports: WorkerPorts) -> None:
    """In its order, with what does not belong to it."""
    identity = IDENTITY.showing(self_signed("a.example.com").certificate, self_signed("b.example.com").certificate)
    with server(servers.shows(identity)) as port:
        assert list(shaken(ports, port).chain) == made.chain(identity)


def test_the_name_that_was_checked_is_asked_for(ports: WorkerPorts) -> None:
    """SNI."""
    asked = []
    context = servers.context(IDENTITY)
    context.sni_callback = lambda connection, name, _: asked.append(name)
    with server(servers.shakes(context)) as port:
        shaken(ports, port)
    assert asked == [HOST]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_server_that_wants_our_certificate(ports: WorkerPorts, version: ssl.TLSVersion) -> None:
    """It refuses the connection, but it has shown its own."""
    context = servers.context(IDENTITY, version)
    context.verify_mode = ssl.CERT_REQUIRED
    with server(servers.shakes(context)) as port:
        found = shaken(ports, port)
    assert list(found.chain) == made.chain(IDENTITY)
    assert found.protocol == VERSIONS[version]


def test_a_server_that_shows_all_and_says_no_more(ports: WorkerPorts) -> None:
    """Its certificate, at the deadline."""
    with (
        server(servers.shows(IDENTITY, ssl.TLSVersion.TLSv1_2)) as behind,
        server(servers.relays(behind)) as port,
    ):
        assert list(shaken(ports, port, limit_s=1).chain) == made.chain(IDENTITY)


def test_a_server_without_the_key_of_what_it_shows(ports: WorkerPorts) -> None:
    """No handshake: its signature is not right."""

    def forged(flight: bytes) -> bytes:
        return flight[:-25] + bytes([flight[-25] ^ 1]) + flight[-24:]

    with server(servers.shows(IDENTITY, ssl.TLSVersion.TLSv1_2)) as behind:
        failure = failed(ports, servers.relays(behind, change=forged))
    assert failure.reason == "tls_failure"


def _many(count: int) -> Identity:
    return self_signed(HOST, *(f"host-{number}.example.com" for number in range(count)))


@pytest.mark.parametrize(
    ("version", "protocol", "cipher"),
    [
        (None, "TLSv1.3", "TLS_AES_256_GCM_SHA384"),
        (ssl.TLSVersion.TLSv1_2, "TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384"),
        (ssl.TLSVersion.TLSv1, "TLSv1", "ECDHE-ECDSA-AES256-SHA"),
    ],
)
def test_ten_thousand_names(ports: WorkerPorts, version: ssl.TLSVersion | None, protocol: str, cipher: str) -> None:
    """More than OpenSSL reads: the certificate is taken out of a handshake of TLS 1.2, and what was agreed on first is told."""
    identity = _many(10_000)
    with server(servers.shows(identity, version)) as port:
        found = shaken(ports, port)
    assert list(found.chain) == made.chain(identity)
    assert (found.protocol, found.cipher, found.cipher_bits) == (protocol, cipher, 256)


def test_ten_thousand_names_of_a_server_of_tls_1_3_alone(ports: WorkerPorts) -> None:
    """Encrypted, and more than OpenSSL reads: there is no handshake."""
    assert failed(ports, servers.shows(_many(10_000), ssl.TLSVersion.TLSv1_3)).reason == "tls_failure"


def test_a_whole_bundle_of_authorities(ports: WorkerPorts) -> None:
    """Some servers send all that they know."""
    identity = IDENTITY.showing(*[self_signed(f"{number}.example.com").certificate for number in range(400)])
    with server(servers.shows(identity)) as port:
        assert len(shaken(ports, port).chain) == 401


def test_more_than_anybody_needs(ports: WorkerPorts) -> None:
    """A limit on bytes, and one on certificates."""
    identity = _many(45_000)
    assert len(made.der(identity)) > MAX_BYTES
    assert f"more than {MAX_BYTES} bytes" in failed(ports, servers.shows(identity)).detail
    tiny = IDENTITY.showing(*[self_signed("a.b.c").certificate] * 1500)
    assert "more than 1000 certificates" in failed(ports, servers.shows(tiny)).detail


HELLO = record(HANDSHAKE, b"\x02" + (38).to_bytes(3) + b"\3\3" + b"r" * 32 + b"\0" + b"\xc0\x2f" + b"\0")
WRONG: dict[str, Answer] = {
    "closes": servers.says(),
    "closes at once": servers.says(hello=False),
    "garbage": servers.says(bytes(range(256))),
    "HTTP": servers.says(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "SSH": servers.says(b"SSH-2.0-OpenSSH_9.2\r\n", hello=False),
    "SMTP": servers.says(b"220 mail.example.com ESMTP\r\n", hello=False),
    "nothing but zeros": servers.says(bytes(100_000)),
    "handshake_failure": servers.says(record(ALERT, b"\2\x28")),
    "unrecognized_name": servers.says(record(ALERT, b"\2\x70")),
    "close_notify": servers.says(record(ALERT, b"\1\0")),
    "half a hello": servers.says(HELLO[:20]),
    "a hello and the end": servers.says(HELLO),
    "a hello of SSL 3": servers.says(HELLO.replace(b"\3\3", b"\3\0")),
    "a huge message": servers.says(record(HANDSHAKE, b"\x02\xff\xff\xff")),
    "a huge message and certificates": servers.says(
        record(HANDSHAKE, b"\x02\0\xff\xff") + record(HANDSHAKE, bytes(16383)) * 4 + record(HANDSHAKE, bytes(3)),
        record(HANDSHAKE, b"\x0b\0\0\x0a\0\0\7\0\0\4abcd"),
    ),
    "data instead of a handshake": servers.says(record(DATA, b"hello")),
    "its own words back": lambda connection: connection.sendall(connection.recv(65536)),
    "no certificates": servers.says(HELLO, record(HANDSHAKE, b"\x0b\0\0\3\0\0\0")),
    "a certificate that is none": servers.says(HELLO, record(HANDSHAKE, b"\x0b\0\0\x0a\0\0\7\0\0\4abcd")),
}
ENDLESS: dict[str, Answer] = {
    "hello requests": servers.repeats(record(HANDSHAKE, b"\0\0\0\0") * 1000),
    "warnings": servers.repeats(record(ALERT, b"\1\x5a") * 1000),
    "empty records": servers.repeats(record(HANDSHAKE, b"") * 1000),
    "one long hello": servers.repeats(record(HANDSHAKE, bytes(16384)), record(HANDSHAKE, b"\x02\x00\xff\xff")),
    "certificates": servers.repeats(record(HANDSHAKE, b"\0" * 16384), HELLO, record(HANDSHAKE, b"\x0b\xff\xff\xff")),
    "text": servers.repeats(b"you are welcome " * 1000),
}


@each("name", WRONG)
def test_servers_that_do_not_shake_hands(ports: WorkerPorts, name: str) -> None:
    """502, with what OpenSSL says of it, and at once."""
    begin = time.monotonic()
    failure = failed(ports, WRONG[name])
    assert failure.reason == "tls_failure"
    assert time.monotonic() - begin < SLACK_S


def test_what_an_alert_says_is_told(ports: WorkerPorts) -> None:
    """The server's own reason."""
    assert "unrecognized name" in failed(ports, WRONG["unrecognized_name"]).detail
    assert "handshake failure" in failed(ports, WRONG["handshake_failure"]).detail


@each("name", ENDLESS)
def test_servers_that_never_end(ports: WorkerPorts, name: str) -> None:
    """No more than the limit is read of them."""
    begin = time.monotonic()
    failure = failed(ports, ENDLESS[name])
    assert failure.reason == "tls_failure"
    assert time.monotonic() - begin < SLACK_S


def test_a_server_that_resets_the_connection(ports: WorkerPorts) -> None:
    """There was a connection, and no handshake."""

    def behaviour(connection: socket.socket) -> None:
        connection.recv(10)  # what is left unread makes the kernel reset
        connection.close()

    assert failed(ports, behaviour).reason == "tls_failure"


def test_a_warning_about_the_name_is_no_reason_to_stop(ports: WorkerPorts) -> None:
    """Old servers warn that they do not know the name, and go on."""
    context = servers.context(IDENTITY, ssl.TLSVersion.TLSv1_2)

    def behaviour(connection: socket.socket) -> None:
        connection.sendall(record(ALERT, b"\1\x70"))
        servers.shakes(context)(connection)

    with server(behaviour) as port:
        assert list(shaken(ports, port).chain) == made.chain(IDENTITY)


def _drips(flight: bytes) -> Answer:
    def behaviour(connection: socket.socket) -> None:
        connection.recv(4096)
        for byte in flight:
            connection.sendall(bytes([byte]))
            time.sleep(0.05)

    return behaviour


def _waits(*first: bytes, hello: bool = True) -> Answer:
    def behaviour(connection: socket.socket) -> None:
        if hello:
            connection.recv(4096)
        connection.sendall(b"".join(first))
        while connection.recv(4096):
            pass

    return behaviour


@each(
    "behaviour",
    [
        _waits(hello=False),
        _waits(),
        _waits(HELLO[:3]),
        _waits(HELLO),
        _waits(HELLO, record(HANDSHAKE, b"\x0b\x03\x00\x00" + bytes(1000))),
        _drips(HELLO * 20),
    ],
    ids=["silent", "after the hello", "in a header", "after its hello", "in a certificate", "a byte now and then"],
)
def test_servers_that_stall(ports: WorkerPorts, behaviour: Answer) -> None:
    """Nothing outlives the deadline, however much comes."""
    begin = time.monotonic()
    assert failed(ports, behaviour, limit_s=0.5).reason == "timeout"
    assert 0.4 < time.monotonic() - begin < 0.5 + SLACK_S


def test_a_handshake_through_a_proxy(tmp_path: Path) -> None:
    """The address is the host's, and not that of the proxy, which ssl-info would tell everybody."""
    with real_proxy() as proxy, server(servers.shows(IDENTITY)) as port:
        file = proxy.file(tmp_path, "net", "socks5", "always")
        settings = Settings(hosts=f"{HOST}={ADDRESS}", egress_allow=f"{ADDRESS}/32", egress_proxy_file=file)
        assert shaken(WorkerPorts(settings, ChildPool()), port).address == ADDRESS
        assert proxy.asked == [(ADDRESS, port)]


def test_nobody_listens(ports: WorkerPorts) -> None:
    """The connection is refused."""
    with server(servers.says()) as port:
        pass
    with pytest.raises(UpstreamFailed) as caught:
        shaken(ports, port)
    assert caught.value.reason == "connection_refused"


def test_a_name_that_leads_inside_is_not_connected_to(ports: WorkerPorts) -> None:
    """Not one packet to the address that is not public."""
    calls = []
    with server(lambda connection: calls.append(connection), address="127.0.0.1") as port:
        with pytest.raises(BlockedAddress):
            shaken(ports, port, host="inside.example.com")
        time.sleep(0.1)
    assert calls == []


def test_many_at_a_time(ports: WorkerPorts) -> None:
    """Handshakes of one process do not disturb each other."""
    with (
        server(servers.shows(IDENTITY, ssl.TLSVersion.TLSv1_2)) as good,
        server(WRONG["handshake_failure"]) as bad,
        ThreadPoolExecutor(8) as threads,
    ):

        def attempt(number: int) -> bool:
            try:
                return list(shaken(ports, bad if number % 2 else good).chain) == made.chain(IDENTITY)
            except UpstreamFailed:
                return False

        assert list(threads.map(attempt, range(40))) == [number % 2 == 0 for number in range(40)]


@pytest.fixture
def no_thread_left() -> Callable[[], int]:
    """How many threads there are beyond those of the beginning, some of which may be ending."""
    before = set(threading.enumerate())
    return lambda: len(set(threading.enumerate()) - before)


def test_connections_are_closed(ports: WorkerPorts, no_thread_left: Callable[[], int]) -> None:
    """After an answer and after a failure: the server sees the end, and its threads are done."""
    for behaviour in (servers.shows(IDENTITY), WRONG["a hello and the end"], _waits(HELLO[:3])):
        with server(behaviour) as port:
            with contextlib.suppress(UpstreamFailed):
                shaken(ports, port, limit_s=0.3)
            patience = time.monotonic() + 5
            while no_thread_left() > 1 and time.monotonic() < patience:
                time.sleep(0.01)
            assert no_thread_left() == 1
