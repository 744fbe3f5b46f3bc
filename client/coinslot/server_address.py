"""The server that the command calls: --url, COINSLOT_URL, or the sandbox of the wallet."""

from __future__ import annotations

from collections.abc import Mapping

from coinslot.address import checked_base
from coinslot.errors import InvalidCall
from coinslot.sandbox_file import Sandbox

ENVIRONMENT = "COINSLOT_URL"


def find(url: str | None, *, env: Mapping[str, str], sandbox: Sandbox | None) -> str:
    """The base address.

    Args:
        url: value of --url.
        sandbox: the default server. None when the key is the user's own, which pays a sandbox only when --url names it.

    Raises:
        InvalidCall: no address is given, or it has the wrong form.
    """
    address = url or env.get(ENVIRONMENT, "").strip() or (sandbox.base_url if sandbox else "")
    if not address:
        raise InvalidCall(
            "no server is named",
            hint=f"Give --url https://... or set {ENVIRONMENT}. Only a sandbox's own wallet calls it by default.",
        )
    return checked_base(address)
