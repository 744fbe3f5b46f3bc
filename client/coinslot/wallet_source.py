"""Finds the command's wallet: --key-file, COINSLOT_WALLET_KEY_FILE or the sandbox file. A key is never an argument."""

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

from coinslot import sandbox_file
from coinslot.errors import WalletUnusable
from coinslot.evm_signer import EvmSigner
from coinslot.options import Options
from coinslot.signer import Signer
from shared.networks import network_of
from shared.settings.secret_files import read_key, read_secret
from shared.settings.setting import InvalidSetting
from shared.x402.networks import EVM_USDC, Rail

ENVIRONMENT = "COINSLOT_WALLET_KEY_FILE"
RPC_ENVIRONMENT = "COINSLOT_WALLET_RPC_URL"
# Hex and base58 keys, and phrases of many words; file names of this length have a dot or a slash.
_LOOKS_LIKE_A_KEY = re.compile(r"[^./\\]{40,}")


@dataclass(frozen=True, slots=True)
class WalletSource:
    """A wallet's signer and its source.

    Attributes:
        path: of the key file or the sandbox file.
        sandbox: the sandbox that the wallet belongs to; None for an own key.
        warning: about the file's permissions, if they are wrong.
    """

    signer: Signer
    path: Path
    sandbox: sandbox_file.Sandbox | None = None
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class SandboxAccounts:
    """The sandbox's accounts, one for each rail. Each is made when those before it could not pay: some take a large library.

    Attributes:
        first: is asked first.
    """

    sandbox: sandbox_file.Sandbox
    first: Signer

    def __iter__(self) -> Iterator[Signer]:
        yield self.first
        for rail in Rail:
            if rail is not self.first.rail:
                with contextlib.suppress(WalletUnusable):
                    yield sandbox_signer(self.sandbox, rail)


def find(options: Options) -> WalletSource:
    """The first wallet that is found.

    Raises:
        WalletUnusable: there is no wallet, or the first one has the wrong form. Then the others are not tried.
    """
    rail = options.rail or Rail.BASE
    if named := options.named(options.key_file, ENVIRONMENT):
        network = options.network or network_of(rail).default
        return _from_key_file(named, rail, network, options.named(options.rpc_url, RPC_ENVIRONMENT))
    path = sandbox_file.find(options.env, options.folder)
    if path is None:
        raise WalletUnusable(
            "there is no wallet to pay from",
            hint=f"Give --key-file FILE, set {ENVIRONMENT}, or start the sandbox (scripts/run).",
        )
    sandbox = sandbox_file.read(path)
    return WalletSource(sandbox_signer(sandbox, rail), path, sandbox=sandbox)


def _from_key_file(named: str, rail: Rail, network: str, rpc_url: str) -> WalletSource:
    if _LOOKS_LIKE_A_KEY.fullmatch(named):
        raise WalletUnusable(
            "the key file's name looks like a key, which other users may have seen by now",
            hint="Put the key into a file that only you can read, and give the file's name.",
        )
    path = Path(named)
    try:
        signer = _signer(rail, path, network, rpc_url)
        exposed = path.stat().st_mode & 0o044
    except (InvalidSetting, OSError, ValueError) as error:
        raise WalletUnusable(str(error)) from None
    warning = f"others can read the key file {path}; run: chmod 600 {path}" if exposed else None
    return WalletSource(signer, path, warning=warning)


def _signer(rail: Rail, path: Path, network: str, rpc_url: str) -> Signer:
    """Raises InvalidSetting, WalletUnusable."""
    if network_of(rail).signs_offline:
        return _of_network(rail, read_key(path).hex(), network, "")
    if urlsplit(rpc_url).scheme not in ("http", "https"):
        raise WalletUnusable(
            f"paying on {rail} takes a node of its network",
            hint=f"Give --rpc-url URL or set {RPC_ENVIRONMENT}.",
        )
    return _of_network(rail, read_secret(path), network, rpc_url)


def _of_network(rail: Rail, secret: str, network: str, rpc_url: str) -> Signer:
    """What the module of the network makes of a wallet's key. Raises WalletUnusable, also where its library is missing."""
    package = network_of(rail).package
    try:
        signer: Callable[..., Signer] = import_module(f"coinslot.{package}_signer").signer
        return signer(secret, network=network, rpc_url=rpc_url, rail=rail)
    except ImportError as error:
        raise WalletUnusable(
            f"paying on {rail} takes a library that is not installed ({error.name})",
            hint=f"Run: pip install 'coinslot-client[{package}]'",
        ) from None


def sandbox_signer(sandbox: sandbox_file.Sandbox, rail: Rail) -> Signer:
    """The sandbox's account on this rail. Raises WalletUnusable when it has none."""
    if rail is not Rail.BASE:
        ledger: sandbox_file.Ledger | None = getattr(sandbox, network_of(rail).name, None)
        if ledger is None:
            raise WalletUnusable(f"the sandbox has no account on {rail}")
        return _of_network(rail, ledger.payer_secret, ledger.network, ledger.rpc_url)
    network = f"eip155:{sandbox.evm.chain_id}"
    token = EVM_USDC.get(network)
    if token is None or token.address.lower() != sandbox.evm.usdc.lower():
        raise WalletUnusable(
            f"the sandbox's USDC contract is not the known one of {network}; its {rail} is not payable"
        )
    return EvmSigner(sandbox.evm.key, network=network)
