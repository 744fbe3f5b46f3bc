"""TLS handshakes that verify nothing and accept every certificate, however old or wrong it is.

OpenSSL does not use the socket. It gets the bytes that arrived, so every wait ends at the deadline, and no server makes it read
more than `MAX_BYTES`.
"""

import contextlib
from functools import cached_property
from pathlib import Path

from OpenSSL import SSL, crypto

from jobs.ports import Handshake
from shared.outcome import UpstreamFailed
from workers.adapters.tls_records import ServerFlight, ciphers
from workers.egress.connect import Connector
from workers.egress.deadline import left_s

MAX_BYTES = 1 << 20
"""Bytes that a server may send in a handshake. A certificate of 10,000 names has about 300 KB."""
MAX_CERTIFICATES = 1000

# Without cipher suites that need no certificate or a shared secret. The most work that a server can cause is a Diffie-Hellman
# key of 10,000 bits, which takes 0.6 s (measured).
_CIPHERS = b"ALL:!aNULL:!PSK:!SRP:@SECLEVEL=0"
_CHUNK_BYTES = 16 * 1024
_TOO_LONG = "excessive message size"
_PROVED = b"read server key exchange"
_SHOWN = b"read server done"


class TlsInspector:
    """Implements jobs.ports.Tls.

    Args:
        ca_file: PEM file of the operator's authorities.
    """

    def __init__(self, connector: Connector, ca_file: Path | None) -> None:
        self._connector = connector
        self._ca_file = ca_file

    def handshake(self, host: str, port: int, *, deadline: float) -> Handshake:
        """Make one handshake, and a second one when the certificates are too long for OpenSSL.

        Args:
            host: a name, as jobs.hosts reads it, which is also the SNI.
            deadline: monotonic seconds, for the DNS, TCP and TLS together.

        Raises:
            BlockedAddress: the name leads to an address that is not public.
            UpstreamFailed: `timeout`, `dns_failure`, `connection_refused` or `tls_failure`.
        """
        with _Attempt(self._connector, host, port, self._any, deadline) as attempt:
            try:
                return attempt.shake()
            except _CertificatesTooLong:
                if not attempt.is_encrypted:
                    return attempt.read_plainly()
                protocol, cipher, bits = attempt.agreed()
        # TLS 1.3 encrypts certificates. Nearly every server that speaks it speaks TLS 1.2 as well, which does not.
        with _Attempt(self._connector, host, port, self._plain, deadline) as attempt:
            try:
                return attempt.shake()._replace(protocol=protocol, cipher=cipher, cipher_bits=bits)
            except _CertificatesTooLong:
                return attempt.read_plainly()._replace(protocol=protocol, cipher=cipher, cipher_bits=bits)

    def authorities(self) -> bytes:
        """The present content of the operator's file."""
        return self._ca_file.read_bytes() if self._ca_file else b""

    @cached_property
    def _any(self) -> SSL.Context:
        return _context(SSL.TLS1_3_VERSION)

    @cached_property
    def _plain(self) -> SSL.Context:
        return _context(SSL.TLS1_2_VERSION)


class _CertificatesTooLong(Exception):
    """OpenSSL reads at most 100 KB of certificates, and pyOpenSSL cannot change that."""


class _Attempt:
    """One connection, as a context manager that closes it."""

    def __init__(self, connector: Connector, host: str, port: int, context: SSL.Context, deadline: float) -> None:
        self._host = host
        self._deadline = deadline
        self._received = bytearray()
        self._states: set[bytes] = set()
        self._tls = SSL.Connection(context, None)
        self._tls.set_tlsext_host_name(host.encode("ascii"))
        self._tls.set_app_data(self._states)
        self._tls.set_connect_state()
        self._socket = connector.connect(host, port, deadline=deadline)
        self._address, _ = self._socket.target

    def __enter__(self) -> "_Attempt":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    @property
    def is_encrypted(self) -> bool:
        """Whether the certificates are encrypted."""
        return self._tls.get_protocol_version() >= SSL.TLS1_3_VERSION

    def agreed(self) -> tuple[str, str, int]:
        """Protocol, cipher, and the bits of its key. Raises UpstreamFailed when the handshake failed before them."""
        protocol = self._tls.get_protocol_version_name()
        cipher, bits = self._tls.get_cipher_name(), self._tls.get_cipher_bits()
        if cipher is not None and bits is not None:
            return protocol, cipher, bits
        flight = ServerFlight()  # OpenSSL forgets what was agreed on when the handshake fails
        flight.feed(bytes(self._received))
        number = flight.cipher()
        if number is None or number not in ciphers():
            raise self._failed(_TOO_LONG)
        return protocol, *ciphers()[number]

    def shake(self) -> Handshake:
        """Shake hands until the server has sent and proved its certificates. Raises _CertificatesTooLong, UpstreamFailed."""
        try:
            while not self._step():
                self._tls.bio_write(self._receive())
            self._close_notify()
        except SSL.Error as error:
            why = _reason(error)
            if why == _TOO_LONG:
                raise _CertificatesTooLong from None
            # The server may want a certificate of ours. Those that it sent are its own: it has signed with their key.
            if not self._has_shown_all():
                raise self._failed(why) from None
        except UpstreamFailed:
            if not self._has_shown_all():
                raise
        chain = self._tls.get_peer_cert_chain() or []
        return self._shown([crypto.dump_certificate(crypto.FILETYPE_ASN1, found) for found in chain])

    def read_plainly(self) -> Handshake:
        """Read the certificates without OpenSSL. The server has not proved that it has their key."""
        flight = ServerFlight()
        flight.feed(bytes(self._received))
        while (chain := flight.certificates()) is None:
            flight.feed(self._receive())
        return self._shown(chain)

    def _step(self) -> bool:
        """Let OpenSSL process the received bytes. Returns whether the handshake is done."""
        try:
            self._tls.do_handshake()
        except SSL.WantReadError:
            return False
        else:
            return True
        finally:
            self._send()

    def _send(self) -> None:
        try:
            while True:
                self._socket.settimeout(left_s(self._deadline))
                self._socket.sendall(self._tls.bio_read(_CHUNK_BYTES))
        except SSL.WantReadError:
            return
        except TimeoutError:
            raise self._late() from None
        except OSError:
            return  # bytes that the server sent before it closed are still to be read

    def _close_notify(self) -> None:
        with contextlib.suppress(SSL.Error, UpstreamFailed):
            self._tls.shutdown()
            self._send()

    def _receive(self) -> bytes:
        try:
            self._socket.settimeout(left_s(self._deadline))
            received = self._socket.recv(_CHUNK_BYTES)
        except TimeoutError:
            raise self._late() from None
        except OSError:
            received = b""
        if not received:
            raise self._failed("the server closed the connection during the handshake")
        self._received += received
        if len(self._received) > MAX_BYTES:
            raise self._failed(f"the server sent more than {MAX_BYTES} bytes")
        return received

    def _has_shown_all(self) -> bool:
        return self._states >= {_PROVED, _SHOWN}

    def _shown(self, chain: list[bytes]) -> Handshake:
        if not chain:
            raise self._failed("the server showed no certificate")
        if len(chain) > MAX_CERTIFICATES:
            raise self._failed(f"the server sent more than {MAX_CERTIFICATES} certificates")
        return Handshake(self._address, *self.agreed(), tuple(chain))

    def _late(self) -> UpstreamFailed:
        return UpstreamFailed(f"{self._host} did not finish the handshake in time.", reason="timeout")

    def _failed(self, why: str) -> UpstreamFailed:
        return UpstreamFailed(f"No TLS connection to {self._host}: {why}.", reason="tls_failure")


def _context(highest: int) -> SSL.Context:
    context = SSL.Context(SSL.TLS_CLIENT_METHOD)
    context.set_min_proto_version(SSL.TLS1_VERSION)
    context.set_max_proto_version(highest)
    context.set_cipher_list(_CIPHERS)
    context.set_options(SSL.OP_LEGACY_SERVER_CONNECT | SSL.OP_NO_COMPRESSION | SSL.OP_NO_RENEGOTIATION)
    context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
    context.set_verify(SSL.VERIFY_NONE)
    context.set_info_callback(_note)
    return context


def _note(connection: SSL.Connection, where: int, result: int) -> None:
    """Note the completed steps of a handshake."""
    state = connection.get_state_string()
    for step in (_PROVED, _SHOWN):
        if state.endswith(step):
            connection.get_app_data().add(step)


def _reason(error: SSL.Error) -> str:
    """OpenSSL's reason, one of a fixed set of texts."""
    if error.args and isinstance(error.args[0], list) and error.args[0]:
        return str(error.args[0][0][2]) or "the handshake failed"
    return "the handshake failed"
