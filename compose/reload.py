"""`coinslot-ops reload`: has each process of the API read the price list again, and waits until each one sells at it."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, cast

from compose.control import NotDone, Report
from compose.readiness import members
from compose.supervised_process import SupervisedProcess
from compose.users import Account
from shared.ledger.keys import SELLERS, bucket_in
from shared.settings.service import Settings

WITHIN_S = 15.0
"""How long a process may take. It answers calls meanwhile."""
_READ_TIMEOUT_S = 60.0
_LOOK_S = 0.05


async def reload_prices(
    processes: Sequence[SupervisedProcess], account: Account | None, settings: Settings, report: Report
) -> None:
    """Have these processes sell at the list as it is now.

    Args:
        account: who runs them, and has to be able to read the list.

    Raises:
        NotDone: the list is wrong, and nothing has changed; or a process does not sell at it.
    """
    version = await asyncio.to_thread(_version, account)
    for process in processes:
        if (pid := process.pid) is None:
            continue  # it reads the list at its start
        before = await asyncio.to_thread(_sellers, settings, pid, version)
        process.hang_up()
        try:
            async with asyncio.timeout(WITHIN_S):
                while process.pid == pid:
                    if await asyncio.to_thread(_sellers, settings, pid, version) > before:
                        break
                    await asyncio.sleep(_LOOK_S)
        except TimeoutError:
            raise NotDone(
                f"{process.name} ({pid}) has not taken the prices within {WITHIN_S:.0f} s, as the log says"
            ) from None
        report(f"{process.name} ({pid}) sells at the prices of version {version}")


def _version(account: Account | None) -> str:
    """The version of the price list, read in a process of its own: this one is not to have all endpoints in its memory."""
    command = [sys.executable, "-m", "jobs.price_list"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_READ_TIMEOUT_S,
            check=False,
            **(account.options if account else {}),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotDone(f"the price list cannot be read: {error}") from None
    if done.returncode:
        raise NotDone(" ".join(done.stderr.split()))
    version: str = done.stdout.partition("\n")[0]
    return version


def _sellers(settings: Settings, group: int, version: str) -> float:
    """When a process of a process group last said that it sells at a list, in Unix milliseconds; 0: never."""
    from redis.exceptions import RedisError  # only when something is reloaded: it takes 15 MB

    from shared.servers.ledger_servers import connect_ledger, of_bucket
    from shared.servers.ledger_start import WrongLedger

    host = socket.gethostname()
    try:
        with connect_ledger(settings) as ledger:
            client = of_bucket(ledger, bucket_in(SELLERS))
            found = client.zmscore(SELLERS, [f"{host}:{pid} {version}" for pid in members(group)])
    except (RedisError, WrongLedger):
        raise NotDone("the ledger cannot be read, so nobody knows at which prices the API sells") from None
    return max((score for score in cast(list[Any], found) if score is not None), default=0.0)
