"""var/sandbox.json: the local sandbox's address and wallets for its buyers. The wallets hold test money."""

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from coinslot.errors import WalletUnusable
from shared.settings.sandbox_path import ENVIRONMENT, PLACE, find

__all__ = ["ENVIRONMENT", "PLACE", "Evm", "Ledger", "Sandbox", "find", "nearest", "read"]

_KEY = re.compile(r"(0x)?[0-9a-fA-F]{64}", re.ASCII)


class Evm(msgspec.Struct, frozen=True, rename="camel"):
    """The local EVM ledger. `payer_key` is hex; `usdc` is the token's contract on `chain_id`."""

    rpc_url: str
    chain_id: int
    usdc: str
    payer_key: str
    pay_to: str

    def __repr__(self) -> str:
        return f"Evm(chain {self.chain_id})"

    @property
    def key(self) -> bytes:
        """The 32 bytes of `payer_key`. Raises WalletUnusable."""
        if not _KEY.fullmatch(self.payer_key):
            raise WalletUnusable("the sandbox file's evm.payerKey must be 64 hex digits")
        return bytes.fromhex(self.payer_key.removeprefix("0x"))


class Ledger(msgspec.Struct, frozen=True, rename="camel"):
    """Another local ledger. `payer_secret` has the form that the network's wallets use."""

    rpc_url: str
    network: str
    payer_secret: str
    pay_to: str

    def __repr__(self) -> str:
        return f"Ledger({self.network})"


class Sandbox(msgspec.Struct, frozen=True, rename="camel"):
    """The file. A ledger is missing when the settings name a real one, or it was not started."""

    base_url: str
    evm: Evm
    solana: Ledger | None = None
    stellar: Ledger | None = None
    xrpl: Ledger | None = None


def nearest(env: Mapping[str, str], folder: Path) -> Sandbox | None:
    """The one that `find` finds. Raises WalletUnusable."""
    path = find(env, folder)
    return None if path is None else read(path)


def read(path: Path) -> Sandbox:
    """Read it. Raises WalletUnusable, without the file's content."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Sandbox)
    except OSError as error:
        raise WalletUnusable(f"cannot read the sandbox file {path}: {error.strerror or type(error).__name__}") from None
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise WalletUnusable(
            f"the sandbox file {path} has another form than expected", hint="Start the sandbox anew: scripts/run."
        ) from None
