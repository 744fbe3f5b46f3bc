"""Addresses of the XRP Ledger as callers write them: classic ones, and X-addresses, which carry a destination tag.

Sources: xrpl.org, "Addresses"; XRPL standard XLS-5d, "Tagged Addresses".
"""

from typing import NamedTuple

from shared.x402.xrpl_keys import ACCOUNT_ID_BYTES, address, base58_payload, is_address

_MAIN, _TEST = bytes.fromhex("0544"), bytes.fromhex("0493")
_TAG_BYTES = 8
_X_BYTES = len(_MAIN) + ACCOUNT_ID_BYTES + 1 + _TAG_BYTES
LONGEST = 60
"""Characters: an X-address has 47, and some more say what is wrong with it."""


class NotAnAddress(ValueError):
    """The text is no address of the main network. Its argument is a sentence for the caller, without the text."""


class Recipient(NamedTuple):
    """A classic address, and the tag that came with it."""

    address: str
    tag: int | None


def read(text: str) -> Recipient:
    """Read either form. Raises NotAnAddress."""
    if is_address(text):
        return Recipient(text, None)
    try:
        if not text.startswith(("X", "T")):  # other digits before it would add nothing to the number
            raise ValueError
        payload = base58_payload(text, _X_BYTES)
    except ValueError:
        raise NotAnAddress(_what_is_wrong(text)) from None
    network, account_id = payload[: len(_MAIN)], payload[len(_MAIN) : len(_MAIN) + ACCOUNT_ID_BYTES]
    flag, tag = payload[-_TAG_BYTES - 1], int.from_bytes(payload[-_TAG_BYTES:], "little")
    if network == _TEST:
        raise NotAnAddress("This X-address is of a test network.")
    if network != _MAIN or flag > 1 or tag >= 1 << 32 or (not flag and tag):
        raise NotAnAddress("This is not an X-address of the XRP Ledger.")
    return Recipient(address(account_id), tag if flag else None)


def _what_is_wrong(text: str) -> str:
    if text.startswith("s") and text.isalnum():
        return "This is not an address. If it is a secret seed, it is known to others now."
    if text.startswith(("r", "X", "T")) and text.isalnum():
        return "This is not an address of the XRP Ledger: its checksum is wrong, or a part is missing."
    return "This is not an address of the XRP Ledger: those start with r or X."
