"""Limits on long bodies: how many bytes of them one process holds, and how many it checks per second. The event loop needs
milliseconds to check and seal one, and serves no other call meanwhile."""

import asyncio
import ipaddress
from collections import Counter

from api.causes import Cause
from api.errors import problem_of

LONG_BYTES = 32 * 1024
"""A body of this length is checked in a fraction of a millisecond, whatever is in it."""
BYTES_PER_S = 3_000_000
"""Of long bodies, in one process: 30 of 100 KB a second take a tenth of its time when they are nested as deeply as possible."""
LONGEST_WAIT_S = 5.0
HELD_BYTES = int(BYTES_PER_S * LONGEST_WAIT_S)
"""Bytes of long bodies that have arrived and are not yet checked. More would wait for longer than LONGEST_WAIT_S."""
OWNER_SHARE = 4
"""One payer, and one public address, holds at most this part of HELD_BYTES: a quarter."""


class LongBodies:
    """The long bodies of one process on their way in. They are counted by what has arrived: a declared length costs nothing."""

    def __init__(self) -> None:
        self._held = 0
        self._by_owner: Counter[str] = Counter()
        self._free_at = 0.0

    def arriving(self, payer: str, client: tuple[str, int] | None) -> "ArrivingBody":
        """A body that begins to arrive: `with long_bodies.arriving(payer, client) as body`. Its bytes count until the context
        is left, to the shares of its payer and of the public address that sends it."""
        return ArrivingBody(self, payer, client)

    def hold(self, size: int, owners: tuple[str, ...]) -> None:
        """Count so many bytes. Raises Problem ``pool_full``, and counts nothing, when they are too many."""
        if self._held + size > HELD_BYTES or any(
            self._by_owner[owner] + size > HELD_BYTES // OWNER_SHARE for owner in owners
        ):
            raise problem_of(Cause.LONG_BODIES)
        self._held += size
        for owner in owners:
            self._by_owner[owner] += size

    def release(self, size: int, owners: tuple[str, ...]) -> None:
        """Count so many bytes less."""
        self._held -= size
        for owner in owners:
            self._by_owner[owner] -= size
            if not self._by_owner[owner]:
                del self._by_owner[owner]

    async def wait(self, size: int) -> None:
        """Wait until a long body that has arrived may be checked: in the order of arrival, BYTES_PER_S of them."""
        now = asyncio.get_running_loop().time()
        at = max(now, self._free_at)
        self._free_at = at + size / BYTES_PER_S
        if at > now:
            await asyncio.sleep(at - now)


class ArrivingBody:
    """One body while it arrives. Short ones are not counted."""

    def __init__(self, long_bodies: LongBodies, payer: str, client: tuple[str, int] | None) -> None:
        self._long_bodies = long_bodies
        self._payer = payer
        self._client = client
        self._owners: tuple[str, ...] = ()
        self._size = 0
        self._held = 0

    def __enter__(self) -> "ArrivingBody":
        return self

    def __exit__(self, *_: object) -> None:
        if self._held:
            self._long_bodies.release(self._held, self._owners)

    def add(self, size: int) -> None:
        """So many bytes have arrived. Raises Problem ``pool_full``: nothing is read any more."""
        self._size += size
        if self._size > LONG_BYTES:
            self._owners = self._owners or (self._payer, *_public_address(self._client))
            self._long_bodies.hold(self._size - self._held, self._owners)
            self._held = self._size

    async def checked_in_turn(self) -> None:
        """Wait until the body may be checked. A short one need not wait."""
        if self._held:
            await self._long_bodies.wait(self._held)


def _public_address(client: tuple[str, int] | None) -> tuple[str, ...]:
    """The caller's address where it is public. A private one may be a proxy with many callers behind it."""
    if client is None:
        return ()
    try:
        address = ipaddress.ip_address(client[0])
    except ValueError:
        return ()
    return (client[0],) if address.is_global else ()
