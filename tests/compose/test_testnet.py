"""The sandbox's Base Sepolia, beside Base and Ethereum: its id, its token's name, and a payer with funds."""

from __future__ import annotations

from typing import Any

from eth_abi import decode

from compose.sandbox import fixtures
from compose.sandbox.evm import PAYER_FUNDS, provision, start_chains_to_pay_on
from shared.nodes.json_rpc import JsonRpc
from shared.x402.evm import domain_separator
from shared.x402.networks import EVM_USDC
from tests.compose.conftest import call


def test_payments_on_base_sepolia(make_var: Any) -> None:
    """The signature of a payment is over the name of the token, which is another there than on Base."""
    var = make_var()
    chains = start_chains_to_pay_on(fixtures.TESTNET, var)
    try:
        assert set(chains) == {fixtures.TESTNET, fixtures.BASE, fixtures.ETHEREUM}
        sandbox = provision(chains[fixtures.TESTNET], var)
        rpc = JsonRpc(sandbox.rpc_url)

        def ask(signature: str, *arguments: Any) -> bytes:
            return bytes.fromhex(
                rpc("eth_call", {"to": sandbox.usdc, "data": call(signature, *arguments)}, "latest")[2:]
            )

        token = EVM_USDC["eip155:84532"]
        assert (sandbox.chain_id, sandbox.usdc) == (84532, token.address)
        assert decode(["string"], ask("name()")) == (token.name,)
        assert ask("DOMAIN_SEPARATOR()") == domain_separator(token.name, token.version, 84532, token.address)
        assert int.from_bytes(ask("balanceOf(address)", sandbox.payer)) == PAYER_FUNDS
    finally:
        for chain in chains.values():
            chain.stop()
