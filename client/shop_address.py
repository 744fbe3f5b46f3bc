"""Which shop the command talks to: --url, COINSLOT_URL, or the sandbox that the wallet belongs to."""

from __future__ import annotations

from collections.abc import Mapping

from client.address import checked_base
from client.errors import InvalidCall
from client.sandbox_file import Sandbox

ENVIRONMENT = "COINSLOT_URL"


def find(url: str | None, *, env: Mapping[str, str], sandbox: Sandbox | None) -> str:
    """The base address.

    Args:
        url: value of --url.
        sandbox: where to go by default. None when paying with an own key: a sandbox gets real money on demand only.

    Raises:
        InvalidCall: there is none, or it has the wrong form.
    """
    address = url or env.get(ENVIRONMENT, "").strip() or (sandbox.base_url if sandbox else "")
    if not address:
        raise InvalidCall(
            "no shop is named",
            hint=f"Give --url https://... or set {ENVIRONMENT}. A running sandbox is the shop of its own wallet only.",
        )
    return checked_base(address)
