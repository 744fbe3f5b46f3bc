"""Finds the command's wallets: --key-file, COINSLOT_WALLET_KEY_FILE with those of single rails, or the sandbox file. A key is
never an argument."""

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
class OwnKey:
    """A key file of the user's own, for one rail. Nothing of it is read before it is asked for.

    Attributes:
        named: the file.
        rpc_url: node of the network, which some rails need.
    """

    rail: Rail
    named: str
    network: str
    rpc_url: str

    def signer(self) -> Signer:
        """What pays with it. Raises WalletUnusable."""
        if _LOOKS_LIKE_A_KEY.fullmatch(self.named):
            raise WalletUnusable(
                "the key file's name looks like a key, which other users may have seen by now",
                hint="Put the key into a file that only you can read, and give the file's name.",
            )
        try:
            return _signer(self.rail, Path(self.named), self.network, self.rpc_url)
        except (InvalidSetting, OSError, ValueError) as error:
            raise WalletUnusable(str(error)) from None

    @property
    def warning(self) -> str | None:
        """About the file's permissions, if they are wrong. A file that is not there is reported by `signer`."""
        try:
            is_exposed = Path(self.named).stat().st_mode & 0o044
        except (OSError, ValueError):
            return None
        return f"others can read the key file {self.named}; run: chmod 600 {self.named}" if is_exposed else None


@dataclass(frozen=True, slots=True)
class WalletSource:
    """A wallet's signer and its source.

    Attributes:
        path: of the key file or the sandbox file.
        sandbox: the sandbox that the wallet belongs to; None for an own key.
        warnings: about files' permissions that are wrong.
        others: further keys of the user's own, which pay what `signer` cannot.
    """

    signer: Signer
    path: Path
    sandbox: sandbox_file.Sandbox | None = None
    warnings: tuple[str, ...] = ()
    others: tuple[OwnKey, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnAccounts:
    """The accounts of the user's own keys, one for each rail. Each is made when those before it could not pay.

    Attributes:
        first: is asked first.
    """

    first: Signer
    others: tuple[OwnKey, ...]

    def __iter__(self) -> Iterator[Signer]:
        """Raises WalletUnusable."""
        yield self.first
        for key in self.others:
            yield key.signer()


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
    if keys := own_keys(options):
        warnings = tuple(filter(None, (key.warning for key in keys)))
        return WalletSource(keys[0].signer(), Path(keys[0].named), warnings=warnings, others=tuple(keys[1:]))
    path = sandbox_file.find(options.env, options.folder)
    if path is None:
        raise WalletUnusable(
            "there is no wallet to pay from",
            hint=f"Give --key-file FILE, set {ENVIRONMENT}, or start the sandbox (scripts/run).",
        )
    sandbox = sandbox_file.read(path)
    return WalletSource(sandbox_signer(sandbox, options.rail or Rail.BASE), path, sandbox=sandbox)


def own_keys(options: Options) -> list[OwnKey]:
    """The keys of the user's own, in the order in which they are asked to pay: that of Base or of the chosen rail first. An
    option names the only one."""
    rail = options.rail or Rail.BASE
    named = options.named(options.key_file, of_rail(ENVIRONMENT, rail)) or options.named(None, ENVIRONMENT)
    node = options.named(options.rpc_url, of_rail(RPC_ENVIRONMENT, rail)) or options.named(None, RPC_ENVIRONMENT)
    keys = [OwnKey(rail, named, options.network or network_of(rail).default, node)] if named else []
    if options.rail is None and options.key_file is None:
        for other in Rail:
            if other is not rail and (file := options.named(None, of_rail(ENVIRONMENT, other))):
                node = options.named(None, of_rail(RPC_ENVIRONMENT, other))
                keys.append(OwnKey(other, file, network_of(other).default, node))
    return keys


def of_rail(variable: str, rail: Rail) -> str:
    """The name of a variable that is for one rail alone."""
    return f"{variable}_{rail.upper().replace('-', '_')}"


def _signer(rail: Rail, path: Path, network: str, rpc_url: str) -> Signer:
    """Raises InvalidSetting, WalletUnusable."""
    if network_of(rail).signs_offline:
        return _of_network(rail, read_key(path).hex(), network, "")
    if urlsplit(rpc_url).scheme not in ("http", "https"):
        raise WalletUnusable(
            f"paying on {rail} takes a node of its network",
            hint=f"Give --rpc-url URL, or set {of_rail(RPC_ENVIRONMENT, rail)} or {RPC_ENVIRONMENT}.",
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
