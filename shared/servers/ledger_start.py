"""The check of the ledger at the start of a process: what must not be used is said in a sentence before anything is sold.

A server that does not answer then is checked when a connection to it is made.
"""

import contextlib
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from shared.ledger.keys import BUCKETS
from shared.ledger.layout import checked_at_start
from shared.ledger.servers import NO_CLUSTER, Servers, asked
from shared.lua_script import Command
from shared.settings.service import InvalidSetting, Settings

T = TypeVar("T")

NEW_LEDGER = "take an empty ledger in place of the one that was used before: the payments in that one are lost"
"""What the option --new-ledger means."""


class RunCheck(Protocol):
    """Does a check on the server at a URL, and returns its result. None: the server does not answer."""

    def __call__(self, url: str, check: Generator[Sequence[Command], Sequence[Any], T], /) -> T | None:
        """As above."""


class WrongLedger(InvalidSetting):
    """A server of the ledger must not be used."""


def wrong_ledger(url: str, why: str) -> WrongLedger:
    """The error about a server."""
    return WrongLedger(f"the ledger at {address_of(url)}: {why}")


def address_of(url: str) -> str:
    """The address of a server, without its password."""
    parts = urlsplit(url)
    return parts.path if parts.scheme == "unix" else f"{parts.hostname}:{parts.port or 6379}{parts.path}"


def known_buckets(settings: Settings) -> set[int]:
    """The buckets that were used before: all or none. A file beside the key file says so. Both are kept with the ledger."""
    try:
        return set(range(BUCKETS)) if _note(settings).read_text().strip() else set()
    except (OSError, UnicodeDecodeError):
        return set()


def refuse_wrong_ledger(settings: Settings, run: RunCheck, *, is_new: bool = False) -> None:
    """Check all servers, and note that there is a ledger when all could be checked.

    Args:
        is_new: the operator says that payments are lost, so that empty servers are taken.

    Raises:
        WrongLedger: with a sentence that says what to do.
    """
    urls = settings.ledger_urls
    servers: Servers | None = None
    for url in urls:
        found = run(url, asked(url))
        if found is not None and not found.is_cluster and len(urls) > 1:
            raise wrong_ledger(url, NO_CLUSTER)
        if found is not None and (servers is None or found.rank > servers.rank):
            servers = found
    if servers is None:
        return
    was_known = known_buckets(settings)
    known = set() if is_new else set(was_known)
    for url, buckets in servers.buckets().items():
        if why := run(url, checked_at_start(buckets, known)):
            raise wrong_ledger(url, why)
    if len(known) == BUCKETS and not was_known:
        with contextlib.suppress(OSError):  # in a folder that cannot be written to, nothing is known at the next start
            _note(settings).write_text("used")


def _note(settings: Settings) -> Path:
    return settings.key_file.with_name(f"{settings.key_file.name}.ledger")
