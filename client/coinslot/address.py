"""The address of a call: its name, its URL, and when two URLs are the same."""

import re
from urllib.parse import SplitResult, urlsplit

from coinslot.errors import InvalidCall
from shared.call_path import is_name, path_of

_DEFAULT_PORTS = {"http": 80, "https": 443}


def call_url(base_url: str, name: str) -> str:
    """The URL of a call, for instance ``https://api.example/v1/cdp/echo``.

    Raises:
        InvalidCall: the name or the base address has the wrong form.
    """
    return checked_base(base_url) + path_of(checked_name(name))


def checked_name(name: str) -> str:
    """The name itself. Raises InvalidCall when no call can have this name."""
    if not is_name(name):
        raise InvalidCall(
            f"{name[:80]!r} is not the name of a call: lower-case letters, digits and '-', optionally below a prefix/",
            hint="See `coinslot catalogue`.",
        )
    return name


def checked_base(base_url: str) -> str:
    """The base address without a trailing slash.

    Raises:
        InvalidCall: it is not a plain http(s) address.
    """
    parts = _split(base_url)
    if (
        parts is None
        or parts.scheme not in _DEFAULT_PORTS
        or not parts.hostname
        or "@" in parts.netloc
        or "?" in base_url
        or "#" in base_url
        or not base_url.isascii()
        or not base_url.isprintable()
        or " " in base_url
    ):
        # The text does not show the address: it may hold a password.
        raise InvalidCall("the server's address must be http(s)://host[:port][/path], without user, query or fragment")
    return base_url.rstrip("/")


def same_resource(one: str, other: str) -> bool:
    """Whether two addresses have the same origin and exactly the same path, without user, query and fragment."""
    a, b = _split(one), _split(other)
    if a is None or b is None or any("?" in text or "#" in text or "@" in text for text in (one, other)):
        return False
    return (_origin(a), a.path) == (_origin(b), b.path)


def is_loopback(url: str) -> bool:
    """Whether the address names this host itself."""
    parts = _split(url)
    host = (parts.hostname or "") if parts else ""
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.[0-9]{1,3}){3}", host) is not None


def _origin(parts: SplitResult) -> tuple[str, str, int | None]:
    return parts.scheme, parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme)


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # raises ValueError when it is no port
    except ValueError:
        return None
    return parts
