"""Which of the ledger's primaries a server is. The server knows, and processes whose settings say otherwise do not use it.

A process that looks for a payer's payments on another server than the others do would take a used payment for a new one. So the
first connection to a server writes down its place, ``1 of 3``, and every connection compares.
"""

from pathlib import Path

from shared.lua_script import Command, load

KEY = "coinslot:place"
"""It belongs to no bucket: each primary has its own."""

_SET_ONCE = load(Path(__file__).with_name("lua") / "set_once.lua")


def place_of(number: int, servers: int) -> str:
    """The place of a primary, counted from 0, of so many."""
    return f"{number + 1} of {servers}"


ASK = ("GET", KEY)
"""The command that asks a server for its place. It works where nothing can be written."""


def take(value: str, key: str = KEY) -> Command:
    """The command that gives a server this place, or the value of another key, if it has none, and asks for the one that it has
    then."""
    return _SET_ONCE.eval({"key": key, "value": value})


def wrong(answer: object, place: str) -> str:
    """Why a server must not be used; empty when it may.

    Args:
        answer: what it said to ASK or `take`.
    """
    found = answer.decode(errors="replace") if isinstance(answer, bytes) else str(answer)
    return "" if found == place else f"it is server {found} of the ledger, and COINSLOT_LEDGER_URL has it as {place}"
