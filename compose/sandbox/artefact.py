"""The compiled contracts, as committed beside their sources in contracts/. `python -m compose.sandbox.compile` makes them."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

CONTRACTS = Path(__file__).with_name("contracts")
ContractName = Literal[
    "BareToken",
    "BatchSettlement",
    "Collectible",
    "Erc3009Collector",
    "MultiToken",
    "NamedToken",
    "OldToken",
    "Proxy1967",
    "Reverts",
    "Spender",
    "UsdcSandbox",
    "UsdcTestnet",
    "Wallet1271",
]


@dataclass(frozen=True, slots=True)
class Artefact:
    """One compiled contract.

    Attributes:
        abi: as solc prints it.
        bytecode: the code that a deployment sends. Constructor arguments follow it.
        deployed_bytecode: the code that the chain has afterwards. It may be placed there directly.
        source_sha256: of the source it was compiled from.
        compiler: version and settings.
    """

    abi: list[dict[str, Any]]
    bytecode: bytes
    deployed_bytecode: bytes
    source_sha256: str
    compiler: dict[str, Any]


@cache
def load(name: ContractName) -> Artefact:
    """Read a committed artefact."""
    raw = msgspec.json.decode((CONTRACTS / f"{name}.json").read_bytes())
    return Artefact(
        abi=raw["abi"],
        bytecode=bytes.fromhex(raw["bytecode"][2:]),
        deployed_bytecode=bytes.fromhex(raw["deployedBytecode"][2:]),
        source_sha256=raw["sourceSha256"],
        compiler=raw["compiler"],
    )
