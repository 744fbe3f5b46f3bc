"""The check of the ledger at the start of a process: what must not be used is said in a sentence before anything is sold.

A server that does not answer then is checked when a connection to it is made.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from shared.ledger.layout import Check, checked_at_start
from shared.settings.service import InvalidSetting, Settings

NEW_LEDGER = "take an empty ledger in place of the one that was used before: the payments in that one are lost"
"""What the option --new-ledger means."""

RunCheck = Callable[[str, Check], str | None]
"""Does a check on the server at a URL, and returns its result. None: the server does not answer."""


class WrongLedger(InvalidSetting):
    """A server of the ledger must not be used."""


def wrong_ledger(url: str, why: str) -> WrongLedger:
    """The error about a server."""
    return WrongLedger(f"the ledger at {address_of(url)}: {why}")


def address_of(url: str) -> str:
    """The address of a server, without its password."""
    parts = urlsplit(url)
    return parts.path if parts.scheme == "unix" else f"{parts.hostname}:{parts.port or 6379}{parts.path}"


def known_servers(settings: Settings) -> frozenset[str]:
    """The places of the servers that were used before. A file beside the key file has them: both are kept as long as the
    ledger."""
    try:
        return frozenset(_note(settings).read_text().splitlines())
    except (OSError, UnicodeDecodeError):
        return frozenset()


def refuse_wrong_ledger(settings: Settings, run: RunCheck, *, is_new: bool = False) -> None:
    """Check all servers, and note which there are.

    Args:
        is_new: the operator says that the payments are lost, so that empty servers are taken.

    Raises:
        WrongLedger: with a sentence that says what to do.
    """
    known = known_servers(settings)
    found = set(known)
    for url, place in settings.ledger_places:
        why = run(url, checked_at_start(place, is_known=place in known and not is_new))
        if why:
            raise wrong_ledger(url, why)
        if why is not None:
            found.add(place)
    if found != known:
        with contextlib.suppress(OSError):  # in a folder that cannot be written to, nothing is known at the next start
            _note(settings).write_text("\n".join(sorted(found)))


def _note(settings: Settings) -> Path:
    return settings.key_file.with_name(f"{settings.key_file.name}.ledger")
