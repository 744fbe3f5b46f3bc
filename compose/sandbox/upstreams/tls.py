"""TLS servers with good and bad certificates of every kind. The requested name (SNI) selects the certificate."""

import asyncio
import datetime
import ssl
import warnings
from collections.abc import Callable, Mapping

from cryptography.hazmat.primitives.asymmetric import rsa

from compose.sandbox.upstreams.authority import Authority, Identity, self_signed
from compose.sandbox.upstreams.place import Place

PORT = 9443
OLD_PORT = 10443
"""Port of a server for TLS 1.0 only. TLS agrees on a version before it reads the name, so it needs its own port."""

_WEAK = "ALL:@SECLEVEL=0"
_DAY = datetime.timedelta(days=1)
_HOUR = datetime.timedelta(hours=1)


async def start_tls(place: Place) -> None:
    """Serve them all, until the event loop ends."""
    contexts = {name: identity.server_context(ciphers=_WEAK) for name, identity in _identities(place.authority).items()}
    place.names |= dict.fromkeys(contexts, place.address)
    new = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # this server is for tests of old versions
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1
    for context, port in ((new, PORT), (old, OLD_PORT)):
        context.set_ciphers(_WEAK)
        context.sni_callback = _chooser(contexts)
        await asyncio.start_server(_close, place.address, port, ssl=context)


def _chooser(
    contexts: Mapping[str, ssl.SSLContext],
) -> Callable[[ssl.SSLObject, str | None, ssl.SSLContext], int | None]:
    def choose(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> int | None:
        if name is None or name not in contexts:
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        connection.context = contexts[name]
        return None

    return choose


async def _close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close the connection: the server does nothing but the handshake."""
    writer.close()


def _identities(authority: Authority) -> Mapping[str, Identity]:
    """The certificates by requested name."""
    now = datetime.datetime.now(datetime.UTC)
    intermediate = Authority("Coinslot Sandbox Intermediate", issuer=authority)
    untrusted = Authority("Root That Nobody Trusts")
    weak = rsa.generate_private_key(65537, 1024)  # noqa: S505  # a test needs a weak key
    name = "{}.example.com".format
    return {
        name("valid"): intermediate.identity(name("valid")),
        name("expired"): intermediate.identity(
            name("expired"), not_before=now - 100 * _DAY, not_after=now - 10 * _DAY - _HOUR
        ),
        name("not-yet-valid"): intermediate.identity(name("not-yet-valid"), not_before=now + 10 * _DAY),
        name("wrong-host"): intermediate.identity("another.example.com"),
        name("self-signed"): self_signed(name("self-signed")),
        name("untrusted-root"): untrusted.identity(name("untrusted-root")).showing(untrusted.root),
        name("incomplete-chain"): intermediate.identity(name("incomplete-chain")).showing(),
        name("weak-key"): intermediate.identity(name("weak-key"), key=weak),
        name("tls-1-0"): intermediate.identity(name("tls-1-0")),
        name("many-names"): intermediate.identity(
            name("many-names"), *(f"host-{number}.example.com" for number in range(10_000))
        ),
    }
