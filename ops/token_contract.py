"""Whether an EVM recipient can receive payments: the token's own contract says so, read with web3."""

from __future__ import annotations

from typing import Any

from eth_utils.address import to_checksum_address
from requests.exceptions import RequestException
from web3 import HTTPProvider, Web3
from web3.exceptions import Web3Exception

from shared.rail_settings import EvmRailSettings
from shared.x402.evm import domain_separator
from shared.x402.networks import EVM_USDC, EvmToken


def _view(name: str, output: str, *inputs: str) -> dict[str, Any]:
    return {
        "type": "function",
        "stateMutability": "view",
        "name": name,
        "inputs": [{"name": "", "type": each} for each in inputs],
        "outputs": [{"name": "", "type": output}],
    }


_ABI = [
    _view("decimals", "uint8"),
    _view("DOMAIN_SEPARATOR", "bytes32"),
    _view("isBlacklisted", "bool", "address"),
]
"""Of Circle's FiatTokenV2_2 (https://github.com/circlefin/stablecoin-evm)."""


def lacks(rail: EvmRailSettings, *, timeout_s: float) -> list[str] | None:
    """What keeps the recipient from being paid, as sentences; None when the node does not tell."""
    token = EVM_USDC.get(rail.network)
    if token is None:
        return None
    web3 = Web3(HTTPProvider(rail.rpc_url, request_kwargs={"timeout": timeout_s}))
    try:
        return _lacks(web3, token, rail.pay_to)
    except (Web3Exception, RequestException, ValueError):
        return None


def _lacks(web3: Web3, token: EvmToken, pay_to: str) -> list[str]:
    if (chain := web3.eth.chain_id) != token.chain_id:
        return [f"its node serves chain {chain}, not {token.chain_id}"]
    contract = web3.eth.contract(address=to_checksum_address(token.address), abi=_ABI)
    found = []
    domain = domain_separator(token.name, token.version, token.chain_id, token.address)
    if contract.functions.DOMAIN_SEPARATOR().call() != domain:
        found.append(f"{token.address} has another EIP-712 domain: it takes no payment")
    if (decimals := contract.functions.decimals().call()) != token.decimals:
        found.append(f"{token.address} has {decimals} decimals, not {token.decimals}")
    if contract.functions.isBlacklisted(to_checksum_address(pay_to)).call():
        found.append(f"{pay_to} is on the token's blacklist: it receives nothing")
    return found
