"""Checks whether replicas of the ledger have what one connection has written and read there.

WAIT covers only the writes of its connection. What the connection has read may be another's write that no replica has yet. So
the connection writes first: replicas get writes in their order, and those that have this write have all that came before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shared.ledger.keys import of_each_bucket
from shared.lua_script import Command, load

WITHIN_MS = 1_000
"""So long a replica may take. It is less than the time after which a client gives a command up."""

_MARK = load(Path(__file__).with_name("lua") / "mark.lua")
FENCES = of_each_bucket("fence")
"""By bucket: what the mark writes. It holds nothing."""


def fence(replicas: int, bucket: int) -> tuple[Command, ...]:
    """The commands to send after others, on the same connection and in the same write. None where `replicas` is 0. When the
    first is refused, the second is not to be waited for: it takes all of WITHIN_MS while no replica follows.

    Only the same connection counts: after a failover another one may lead to another server.

    Args:
        bucket: any that this server has.
    """
    return (_MARK.eval({"key": FENCES[bucket]}), ("WAIT", replicas, WITHIN_MS)) if replicas else ()


def missing(answers: list[Any], replicas: int) -> str:
    """Why the answers to the commands before the fence must not be used; empty when they may be.

    Args:
        answers: of the commands of `fence`, or of the first one where it was refused. An exception takes the place of the
            answer of a command that was refused or lost.
    """
    if not replicas:
        return ""
    for answer in answers:
        if isinstance(answer, Exception):
            return f"the ledger takes no writes: {answer}"
    return "" if answers[-1] >= replicas else f"{answers[-1]} of {replicas} replicas of the ledger have it"
