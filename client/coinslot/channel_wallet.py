"""How the owner of a wallet has calls paid: one by one (exact), or out of a channel.

| environment               | what it is                                                                                  |
|---------------------------|---------------------------------------------------------------------------------------------|
| COINSLOT_SCHEME           | ``exact`` (default) or ``channel``, instead of --scheme                                     |
| COINSLOT_CAP_DEPOSIT      | most that all channels may hold at a time, in dollars (default: 5): it is locked, not spent |
| COINSLOT_CHANNEL_KEY_FILE | file of a key that only signs vouchers, for channels that `coinslot channels open` has      |
|                           | opened for it: no wallet is needed                                                          |
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal, get_args

from coincurve import PrivateKey

from coinslot.channel_signer import DEFAULT_CAP, ChannelSigner, Depositing
from coinslot.channel_store import ChannelStore
from coinslot.errors import InvalidCall, WalletUnusable
from coinslot.evm_signer import EvmSigner
from coinslot.prices import dollars
from coinslot.signer import Signer
from shared.settings.secret_files import read_key
from shared.settings.setting import InvalidSetting

Scheme = Literal["exact", "channel"]
SCHEME_ENVIRONMENT = "COINSLOT_SCHEME"
CAP_ENVIRONMENT = "COINSLOT_CAP_DEPOSIT"
KEY_FILE_ENVIRONMENT = "COINSLOT_CHANNEL_KEY_FILE"


@dataclass(frozen=True, slots=True)
class ChannelOptions:
    """The options about channels.

    Attributes:
        scheme: value of --scheme; None: not given.
        deposit: value of --deposit, in dollars.
        opens: the call is bought to deposit, whatever the channel has left.
        opens_for: file of the key that signs the channel's vouchers, which is made when it is missing; None: the wallet's.
    """

    scheme: Scheme | None = None
    deposit: Decimal | None = None
    opens: bool = False
    opens_for: Path | None = None

    def delegated_key(self, key_file: str | None, env: Mapping[str, str]) -> str:
        """The file of a key that only signs vouchers; empty where a wallet pays. An option goes before the environment."""
        if key_file or self.opens or self.scheme == "exact":
            return ""
        return env.get(KEY_FILE_ENVIRONMENT, "").strip()

    def uses_channel(self, env: Mapping[str, str]) -> bool:
        """Whether a wallet pays out of channels. Raises InvalidCall."""
        scheme = self.scheme or env.get(SCHEME_ENVIRONMENT, "").strip() or "exact"
        if scheme not in get_args(Scheme):
            raise InvalidCall(f"{SCHEME_ENVIRONMENT} is not one of {', '.join(get_args(Scheme))}")
        if scheme != "channel" and self.deposit is not None:
            raise InvalidCall("--deposit takes --scheme channel")
        return scheme == "channel"

    def signer(self, wallet: Signer, store: ChannelStore, base_url: str, env: Mapping[str, str]) -> ChannelSigner:
        """The wallet's, which deposits. Raises WalletUnusable, InvalidCall."""
        own = evm(wallet)
        cap = env.get(CAP_ENVIRONMENT, "").strip()
        try:
            depositing = Depositing(own, self.deposit, dollars(cap) if cap else DEFAULT_CAP, self.opens)
        except ValueError as error:
            raise InvalidCall(f"{CAP_ENVIRONMENT} is {error}") from None
        signs = own if self.opens_for is None else _made(self.opens_for, own.network)
        return ChannelSigner(signs, store, base_url, depositing)


def delegated(wallet: Signer, store: ChannelStore, base_url: str) -> ChannelSigner:
    """The signer of a key that only signs vouchers. Raises WalletUnusable."""
    return ChannelSigner(evm(wallet), store, base_url, None)


def evm(wallet: Signer) -> EvmSigner:
    """The wallet as one that can have channels. Raises WalletUnusable."""
    if not isinstance(wallet, EvmSigner):
        raise WalletUnusable(f"there are no channels on {wallet.rail}", hint="Use --rail base.")
    return wallet


def authorizer(path: Path, network: str) -> EvmSigner:
    """The key in a file. Raises WalletUnusable."""
    try:
        return EvmSigner(read_key(path), network=network)
    except InvalidSetting as error:
        raise WalletUnusable(str(error)) from None


def _made(path: Path, network: str) -> EvmSigner:
    """The key in a file, which is made for its owner alone when it is missing. Raises WalletUnusable."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w") as file:
            file.write(f"0x{PrivateKey().to_hex()}\n")
            file.flush()
            os.fsync(descriptor)
    except FileExistsError:
        pass
    except OSError as error:
        raise WalletUnusable(f"cannot write the key file {path}: {error.strerror}") from None
    return authorizer(path, network)
