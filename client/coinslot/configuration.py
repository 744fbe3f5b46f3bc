"""What a purchase takes, from options, environment and sandbox: the wallet, the server, the limit and the folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

from coinslot import channel_wallet, sandbox_file, server_address, wallet_source
from coinslot.address import is_loopback
from coinslot.channel_wallet import ChannelOptions
from coinslot.errors import InvalidCall
from coinslot.payment_folder import PaymentFolder
from coinslot.prices import dollars
from coinslot.signer import Signer
from coinslot.state_folder import state_folder
from shared.x402.networks import Rail

SANDBOX_MAX_PRICE = Decimal("0.10")
MAX_PRICE_ENVIRONMENT = "COINSLOT_MAX_PRICE"


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a Buyer is made of.

    Attributes:
        max_price: most that one call may cost, in dollars.
        is_sandbox: whether the wallet is the sandbox's, which holds test money.
        warnings: sentences for the person who pays.
    """

    signer: Signer
    base_url: str
    max_price: Decimal
    payments: PaymentFolder
    is_sandbox: bool
    warnings: tuple[str, ...]


def find(
    *,
    url: str | None,
    key_file: str | None,
    rail: Rail,
    rpc_url: str | None,
    max_price: Decimal | None,
    env: Mapping[str, str],
    folder: Path,
    channel: ChannelOptions | None = None,
) -> Configuration:
    """The configuration of this machine's buyer. An option goes before the environment, and the environment before the sandbox.

    Args:
        url, key_file, rpc_url, max_price: the options; None where it was not given.
        folder: where the search for a sandbox file starts.
        channel: how calls are paid out of a channel; None: one by one.

    Raises:
        WalletUnusable: there is no wallet.
        InvalidCall: no server is named; or the wallet is not a sandbox's, and nothing limits the price.
    """
    key = "" if channel is None else channel.delegated_key(key_file, env)
    source = wallet_source.find(key_file=key or key_file, rail=rail, env=env, folder=folder, rpc_url=rpc_url)
    signer, is_sandbox = source.signer, source.sandbox is not None
    payments = _sandbox_folder(source.path, env) if is_sandbox else PaymentFolder(state_folder(env))
    if key:  # the sandbox's wallet may have opened its channel
        payments, is_sandbox = _folder_with_channel(signer, payment_folders(env, folder))
    base_url = server_address.find(url, env=env, sandbox=sandbox_file.nearest(env, folder) if is_sandbox else None)
    if key:
        signer = channel_wallet.delegated(signer, payments.channels, base_url)
    elif channel is not None and channel.uses_channel(env):
        signer = channel.signer(signer, payments.channels, base_url, env)
    warnings = [source.warning] if source.warning else []
    if urlsplit(base_url).scheme == "http" and not is_loopback(base_url):
        warnings.append("the server's address is not https: others on the way can read the call and change its price")
    return Configuration(
        signer=signer,
        base_url=base_url,
        max_price=_limit(max_price, env, is_sandbox=is_sandbox),
        payments=payments,
        is_sandbox=is_sandbox,
        warnings=tuple(warnings),
    )


def _folder_with_channel(signer: Signer, folders: Sequence[tuple[PaymentFolder, bool]]) -> tuple[PaymentFolder, bool]:
    """The folder with a channel whose vouchers this key signs; the first without one. Raises ChannelUnusable."""
    for payments, is_sandbox in folders:
        if any(one.config.payer_authorizer == signer.address for one in payments.channels.all()):
            return payments, is_sandbox
    return folders[0]


def payment_folders(env: Mapping[str, str], folder: Path) -> list[tuple[PaymentFolder, bool]]:
    """Every folder that has this user's payments, and whether it is the sandbox's."""
    found = [(PaymentFolder(state_folder(env)), False)]
    sandbox = sandbox_file.find(env, folder)
    if sandbox is not None:
        found.append((_sandbox_folder(sandbox, env), True))
    return found


def folder_of(path: Path, folders: Sequence[tuple[PaymentFolder, bool]]) -> tuple[PaymentFolder, bool]:
    """The folder that a saved payment lies in, of `payment_folders`; the first when it was moved elsewhere."""
    return next((one for one in folders if one[0].path == path.absolute().parent), folders[0])


def _sandbox_folder(path: Path, env: Mapping[str, str]) -> PaymentFolder:
    """Beside the sandbox file, so that test money is apart from real money, and goes when the sandbox goes."""
    return PaymentFolder(path.parent if os.access(path.parent, os.W_OK) else state_folder(env) / "sandbox")


def _limit(option: Decimal | None, env: Mapping[str, str], *, is_sandbox: bool) -> Decimal:
    if option is not None:
        return option
    if text := env.get(MAX_PRICE_ENVIRONMENT, "").strip():
        try:
            return dollars(text)
        except ValueError as error:
            raise InvalidCall(f"{MAX_PRICE_ENVIRONMENT} is {error}") from None
    if is_sandbox:
        return SANDBOX_MAX_PRICE
    raise InvalidCall(
        "with a key of your own, --max-price is required",
        hint=f"Say how many dollars the call may cost, e.g. --max-price 0.01, or set {MAX_PRICE_ENVIRONMENT}.",
    )
