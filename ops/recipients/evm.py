"""Whether a recipient on an EVM network can receive USDC: the token's own contract says so."""

from __future__ import annotations

from contextlib import closing

from shared.nodes.json_rpc import JsonRpc
from shared.settings.rails import EvmRailSettings
from shared.x402.evm import domain_separator, selector
from shared.x402.networks import EVM_USDC, EvmToken


def lacks(own: EvmRailSettings, *, timeout_s: float) -> list[str] | None:
    """What the recipient lacks, as sentences; None when the node does not say."""
    token = EVM_USDC.get(own.network)
    if token is None:
        return None
    found = []
    with closing(JsonRpc(own.rpc_url, timeout_s=timeout_s)) as node:
        if (chain := int(node("eth_chainId"), 16)) != token.chain_id:
            return [f"its node serves chain {chain}, not {token.chain_id}"]
        domain = domain_separator(token.name, token.version, token.chain_id, token.address)
        if _word(node, token, "DOMAIN_SEPARATOR()") != int.from_bytes(domain):
            found.append(f"{token.address} has another EIP-712 domain: it takes no payment")
        if (decimals := _word(node, token, "decimals()")) != token.decimals:
            found.append(f"{token.address} has {decimals} decimals, not {token.decimals}")
        if _word(node, token, "isBlacklisted(address)", own.pay_to.removeprefix("0x").rjust(64, "0")):
            found.append(f"{own.pay_to} is on the token's blacklist: it receives nothing")
    return found


def _word(node: JsonRpc, token: EvmToken, function: str, argument: str = "") -> int:
    """What a view function of Circle's FiatTokenV2_2 (https://github.com/circlefin/stablecoin-evm) returns.

    Raises:
        ValueError: it is not one word.
    """
    data = f"0x{selector(function).hex()}{argument}"
    word = bytes.fromhex(node("eth_call", {"to": token.address, "data": data}, "latest").removeprefix("0x"))
    if len(word) != 32:
        raise ValueError("not one word")
    return int.from_bytes(word)
