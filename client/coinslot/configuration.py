"""What a purchase takes, from options, environment and sandbox: the wallet, the server, the limit and the folder."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

from coinslot import channel_wallet, sandbox_file, wallet_source
from coinslot.address import is_loopback
from coinslot.errors import InvalidCall
from coinslot.options import Options
from coinslot.payment_folder import PaymentFolder
from coinslot.prices import dollars
from coinslot.signer import Signer
from coinslot.state_folder import state_folder
from coinslot.wallet import Wallet
from coinslot.wallet_source import OwnAccounts, SandboxAccounts

SANDBOX_MAX_PRICE = Decimal("0.10")
MAX_PRICE_ENVIRONMENT = "COINSLOT_MAX_PRICE"


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a Buyer is made of.

    Attributes:
        accounts: of the sandbox or of the user's own keys, where neither a rail nor channels were named; an account pays what
            those before it cannot.
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
    accounts: SandboxAccounts | OwnAccounts | None = None

    @property
    def wallet(self) -> Wallet:
        """All that can pay."""
        return Wallet(self.accounts or (self.signer,))


def find(options: Options) -> Configuration:
    """The configuration of this machine's buyer. An option goes before the environment, and the environment before the sandbox.

    Raises:
        WalletUnusable: there is no wallet.
        InvalidCall: no server is named; or the wallet is not a sandbox's, and nothing limits the price.
    """
    key_file, env = channel_wallet.delegated_key(options), options.env
    source = wallet_source.find(replace(options, key_file=key_file or options.key_file))
    sandbox = source.sandbox
    payments = _sandbox_folder(source.path, env) if sandbox else PaymentFolder(state_folder(env))
    if key_file:  # the sandbox's wallet may have opened its channel
        payments, is_sandbox = _folder_with_channel(source.signer, payment_folders(options))
        sandbox = sandbox_file.nearest(env, options.folder) if is_sandbox else None
    base_url = options.server(sandbox)
    warnings = list(source.warnings)
    if urlsplit(base_url).scheme == "http" and not is_loopback(base_url):
        warnings.append("the server's address is not https: others on the way can read the call and change its price")
    signer = channel_wallet.signer(options, source.signer, payments.channels, base_url)
    accounts: SandboxAccounts | OwnAccounts | None = None
    if options.rail is None and signer is source.signer:
        accounts = SandboxAccounts(sandbox, signer) if sandbox else OwnAccounts(signer, source.others)
    return Configuration(
        signer=signer,
        base_url=base_url,
        max_price=_limit(options, is_sandbox=sandbox is not None),
        payments=payments,
        is_sandbox=sandbox is not None,
        warnings=tuple(warnings),
        accounts=accounts,
    )


def _folder_with_channel(signer: Signer, folders: Sequence[tuple[PaymentFolder, bool]]) -> tuple[PaymentFolder, bool]:
    """The folder with a channel whose vouchers this key signs; the first without one. Raises ChannelUnusable."""
    for payments, is_sandbox in folders:
        if any(one.config.payer_authorizer == signer.address for one in payments.channels.all()):
            return payments, is_sandbox
    return folders[0]


def payment_folders(options: Options) -> list[tuple[PaymentFolder, bool]]:
    """Every folder that has this user's payments, and whether it is the sandbox's."""
    found = [(PaymentFolder(state_folder(options.env)), False)]
    if sandbox := sandbox_file.find(options.env, options.folder):
        found.append((_sandbox_folder(sandbox, options.env), True))
    return found


def folder_of(path: Path, folders: Sequence[tuple[PaymentFolder, bool]]) -> tuple[PaymentFolder, bool]:
    """The folder that a saved payment lies in, of `payment_folders`; the first when it was moved elsewhere."""
    return next((one for one in folders if one[0].path == path.absolute().parent), folders[0])


def _sandbox_folder(path: Path, env: Mapping[str, str]) -> PaymentFolder:
    """Beside the sandbox file, so that test money is apart from real money, and goes when the sandbox goes."""
    return PaymentFolder(path.parent if os.access(path.parent, os.W_OK) else state_folder(env) / "sandbox")


def _limit(options: Options, *, is_sandbox: bool) -> Decimal:
    if options.max_price is not None:
        return options.max_price
    if text := options.env.get(MAX_PRICE_ENVIRONMENT, "").strip():
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
