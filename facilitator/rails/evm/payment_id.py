"""A payment id names what a chain makes single-use, so a facilitator can look it up with nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass

_EVM = re.compile(r"(eip155:[1-9][0-9]{0,17}):(0x[0-9a-f]{40}):(0x[0-9a-f]{40}):0x([0-9a-f]{64})", re.ASCII)


@dataclass(frozen=True, slots=True)
class EvmPaymentId:
    """``eip155:<chain>:<asset>:<payer>:<nonce>``, all in lower case."""

    network: str
    asset: str
    payer: str
    nonce: bytes


def parse_evm(text: str) -> EvmPaymentId | None:
    """The parts of an EVM payment id, or None when it is not one."""
    match = _EVM.fullmatch(text)
    if match is None:
        return None
    network, asset, payer, nonce = match.groups()
    return EvmPaymentId(network, asset, payer, bytes.fromhex(nonce))
