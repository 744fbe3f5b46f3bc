"""How the owner of a wallet has calls paid: one by one (exact), or out of a channel.

| environment               | what it is                                                                                  |
|---------------------------|---------------------------------------------------------------------------------------------|
| COINSLOT_SCHEME           | ``exact`` (default) or ``channel``, instead of --scheme                                     |
| COINSLOT_CAP_DEPOSIT      | most that all channels may hold at a time, in dollars (default: 5): it is locked, not spent |
| COINSLOT_CHANNEL_KEY_FILE | file of a key that only signs vouchers, for channels that `coinslot channels open` has      |
|                           | opened for it: no wallet is needed                                                          |
"""

import os
from pathlib import Path
from typing import get_args

from coincurve import PrivateKey

from coinslot.channel_signer import DEFAULT_CAP, ChannelSigner, Depositing
from coinslot.channel_store import ChannelStore
from coinslot.errors import InvalidCall, WalletUnusable
from coinslot.evm_signer import EvmSigner
from coinslot.options import Options, Scheme
from coinslot.prices import dollars
from coinslot.signer import Signer
from shared.settings.secret_files import read_key
from shared.settings.setting import InvalidSetting

SCHEME_ENVIRONMENT = "COINSLOT_SCHEME"
CAP_ENVIRONMENT = "COINSLOT_CAP_DEPOSIT"
KEY_FILE_ENVIRONMENT = "COINSLOT_CHANNEL_KEY_FILE"


def delegated_key(options: Options) -> str:
    """The file of a key that only signs vouchers; empty where a wallet pays. An option goes before the environment."""
    if options.key_file or options.opens or options.scheme == "exact":
        return ""
    return options.named(None, KEY_FILE_ENVIRONMENT)


def signer(options: Options, wallet: Signer, store: ChannelStore, base_url: str) -> Signer:
    """The wallet itself, or one that pays out of channels: the options say which. Raises WalletUnusable, InvalidCall."""
    if delegated_key(options):
        return ChannelSigner(evm(wallet), store, base_url, None)
    scheme = options.named(options.scheme, SCHEME_ENVIRONMENT) or "exact"
    if scheme not in get_args(Scheme):
        raise InvalidCall(f"{SCHEME_ENVIRONMENT} is not one of {', '.join(get_args(Scheme))}")
    if scheme == "exact":
        if options.deposit is not None:
            raise InvalidCall("--deposit takes --scheme channel")
        return wallet
    own = evm(wallet)
    cap = options.named(None, CAP_ENVIRONMENT)
    try:
        depositing = Depositing(own, options.deposit, dollars(cap) if cap else DEFAULT_CAP, options.opens)
    except ValueError as error:
        raise InvalidCall(f"{CAP_ENVIRONMENT} is {error}") from None
    key_file = options.channel_key_file
    return ChannelSigner(_made(Path(key_file), own.network) if key_file else own, store, base_url, depositing)


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
