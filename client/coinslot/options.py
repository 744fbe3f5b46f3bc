"""What a run of the command starts from: its options, the environment and the current folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal

from coinslot import sandbox_file
from coinslot.address import checked_base
from coinslot.errors import InvalidCall
from coinslot.sandbox_file import Sandbox
from shared.x402.networks import Rail

URL_ENVIRONMENT = "COINSLOT_URL"
Scheme = Literal["exact", "channel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of the commands that have them. None: it was not given, and the environment may have the value.

    Attributes:
        rail: None: Base, and of a sandbox any other that is offered where Base is not.
        network: CAIP-2, where a key of the user's own does not pay on the rail's main network.
        timeout_s: longest wait for one HTTP answer.
        deposit: into a channel, in dollars.
        opens: the call is bought to deposit, whatever the channel has left.
        channel_key_file: file of the key that signs a channel's vouchers, where it is not the wallet's.
        folder: where the search for a sandbox file starts.
    """

    url: str | None = None
    key_file: str | None = None
    rail: Rail | None = None
    rpc_url: str | None = None
    network: str | None = None
    max_price: Decimal | None = None
    timeout_s: float = 35.0
    scheme: Scheme | None = None
    deposit: Decimal | None = None
    opens: bool = False
    channel_key_file: str | None = None
    env: Mapping[str, str]
    folder: Path

    def named(self, option: str | None, environment: str) -> str:
        """An option, or else a variable of the environment; empty without both."""
        return option or self.env.get(environment, "").strip()

    def server(self, sandbox: Sandbox | None) -> str:
        """The base address of the server.

        Args:
            sandbox: has the default. None when the key is the user's own, which pays a sandbox only when --url names it.

        Raises:
            InvalidCall: no address is given, or it has the wrong form.
        """
        address = self.named(self.url, URL_ENVIRONMENT) or (sandbox.base_url if sandbox else "")
        if not address:
            raise InvalidCall(
                "no server is named",
                hint=f"Give --url https://... or set {URL_ENVIRONMENT}. Only a sandbox's own wallet calls it by default.",
            )
        return checked_base(address)

    def server_without_wallet(self) -> str:
        """The base address for what costs nothing. Raises InvalidCall, WalletUnusable."""
        return self.server(None if self.url else sandbox_file.nearest(self.env, self.folder))
