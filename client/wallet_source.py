"""Where the command finds its wallet: --key-file, COINSLOT_WALLET_KEY_FILE, the sandbox file; never in an argument."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from client import sandbox_file
from client.errors import WalletUnusable
from client.evm_signer import EvmSigner
from client.signer import Signer
from shared.secret_files import read_key
from shared.settings import InvalidSetting
from shared.x402.networks import EVM_USDC, Rail

ENVIRONMENT = "COINSLOT_WALLET_KEY_FILE"
# A rail that can be paid on adds its signer in `_signer`, and the sandbox's account on it in `_sandbox_signer`.
NETWORKS: dict[Rail, str] = {Rail.BASE: "eip155:8453"}
# Hex and base58 keys, and phrases of many words; file names of this length have a dot or a slash.
_LOOKS_LIKE_A_KEY = re.compile(r"[^./\\]{40,}")


@dataclass(frozen=True, slots=True)
class WalletSource:
    """A wallet's signer and where it came from.

    Attributes:
        path: of the key file or the sandbox file.
        sandbox: the sandbox that the wallet belongs to; None for an own key.
        warning: what is wrong with the file's permissions, if something is.
    """

    signer: Signer
    path: Path
    sandbox: sandbox_file.Sandbox | None = None
    warning: str | None = None


def find(*, key_file: str | None, rail: Rail, env: Mapping[str, str], folder: Path) -> WalletSource:
    """The first wallet there is.

    Args:
        key_file: value of --key-file.
        folder: where the search for a sandbox file starts.

    Raises:
        WalletUnusable: there is none, or the first one has the wrong form. The others are then not tried.
    """
    if named := key_file or env.get(ENVIRONMENT, "").strip():
        return _from_key_file(named, rail)
    path = sandbox_file.find(env, folder)
    if path is None:
        raise WalletUnusable(
            "there is no wallet to pay from",
            hint=f"Give --key-file FILE, set {ENVIRONMENT}, or start the sandbox (scripts/run).",
        )
    sandbox = sandbox_file.read(path)
    return WalletSource(_sandbox_signer(sandbox, rail), path, sandbox=sandbox)


def _from_key_file(named: str, rail: Rail) -> WalletSource:
    if _LOOKS_LIKE_A_KEY.fullmatch(named):
        raise WalletUnusable(
            "the key file's name looks like a key, which other users may have seen by now",
            hint="Put the key into a file that only you can read, and give the file's name.",
        )
    path = Path(named)
    try:
        key = read_key(path)
        exposed = path.stat().st_mode & 0o044
    except (InvalidSetting, OSError, ValueError) as error:
        raise WalletUnusable(str(error)) from None
    warning = f"others can read the key file {path}; run: chmod 600 {path}" if exposed else None
    return WalletSource(_signer(rail, key), path, warning=warning)


def _signer(rail: Rail, key: bytes) -> Signer:
    return EvmSigner(key, network=NETWORKS[rail])


def _sandbox_signer(sandbox: sandbox_file.Sandbox, rail: Rail) -> Signer:
    """The sandbox's account, if its ledger is a copy of a network that we know, token included."""
    network = f"eip155:{sandbox.evm.chain_id}"
    token = EVM_USDC.get(network)
    if token is None or token.address.lower() != sandbox.evm.usdc.lower():
        raise WalletUnusable(
            f"the sandbox's USDC contract is not the known one of {network}; its {rail} is not payable"
        )
    return EvmSigner(sandbox.evm.key, network=network)
