"""The signature, by the judgement of others: the official SDK, eth_account, and our own verifier."""

from __future__ import annotations

import time

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from x402.mechanisms.evm import ExactEIP3009Authorization, hash_eip3009_authorization, verify_eoa_signature

from coinslot.errors import WalletUnusable
from coinslot.evm_signer import EvmSigner
from shared.money import Price
from shared.x402.evm import check, offers
from shared.x402.networks import EVM_USDC
from tests.each import each

PAY_TO = "0x00000000000000000000000000000000DeaDBeef"
_TYPES = {
    "from": "address",
    "to": "address",
    "value": "uint256",
    "validAfter": "uint256",
    "validBefore": "uint256",
    "nonce": "bytes32",
}


@pytest.mark.parametrize("network", sorted(EVM_USDC))
def test_the_official_verifier_accepts_the_signature(key: bytes, network: str) -> None:
    """The SDK's own hash and check of an EIP-3009 authorization."""
    signer, [offer] = EvmSigner(key, network=network), offers(EVM_USDC[network], Price.of("0.001"), PAY_TO)
    payload = signer.sign(offer, now=int(time.time()))
    fields = payload["authorization"]
    digest = hash_eip3009_authorization(
        ExactEIP3009Authorization(
            from_address=fields["from"],
            to=fields["to"],
            value=fields["value"],
            valid_after=fields["validAfter"],
            valid_before=fields["validBefore"],
            nonce=fields["nonce"],
        ),
        EVM_USDC[network].chain_id,
        offer.asset,
        offer.extra["name"],
        offer.extra["version"],
    )
    assert verify_eoa_signature(digest, bytes.fromhex(payload["signature"][2:]), signer.address)


@pytest.mark.parametrize("network", sorted(EVM_USDC))
def test_eth_account_recovers_the_payer(key: bytes, network: str) -> None:
    """Typed data, written out by hand, recovers to the address that eth_account derives from the key."""
    signer, token = EvmSigner(key, network=network), EVM_USDC[network]
    [offer] = offers(token, Price.of("12.345678"), PAY_TO)
    payload = signer.sign(offer, now=int(time.time()))
    typed = {
        "types": {"TransferWithAuthorization": [{"name": name, "type": kind} for name, kind in _TYPES.items()]},
        "domain": {
            "name": token.name,
            "version": token.version,
            "chainId": token.chain_id,
            "verifyingContract": token.address,
        },
        "primaryType": "TransferWithAuthorization",
        "message": payload["authorization"],
    }
    message = encode_typed_data(
        typed["domain"],
        typed["types"],
        {name: int(value) if _TYPES[name] == "uint256" else value for name, value in payload["authorization"].items()},
    )
    recovered = Account.recover_message(message, signature=payload["signature"])
    assert recovered == Account.from_key(key).address
    assert recovered.lower() == signer.address


def test_our_own_verifier_accepts_many_signatures(key: bytes) -> None:
    """Low s and v of 27 or 28, whatever the nonce: some of two hundred would fail otherwise."""
    signer, [offer] = EvmSigner(key), offers(EVM_USDC["eip155:8453"], Price.of("0.001"), PAY_TO)
    payloads = [signer.sign(offer, now=1_700_000_000) for _ in range(200)]
    assert {check(offer, payload).payer for payload in payloads} == {signer.address}
    assert len({payload["authorization"]["nonce"] for payload in payloads}) == 200
    # Our verifier and the official one take v of 0 and 1 too; the token does not.
    assert {payload["signature"][-2:] for payload in payloads} == {"1b", "1c"}


@each("key", [bytes(32), b"\xff" * 32, b"", bytes(33), b"short"])
def test_a_number_that_is_no_key_is_refused(key: bytes) -> None:
    """Zero, beyond the curve's order, or of another length."""
    with pytest.raises(WalletUnusable):
        EvmSigner(key)


def test_a_network_without_known_usdc_is_refused(key: bytes) -> None:
    """There is no contract that we could insist on."""
    with pytest.raises(WalletUnusable, match="eip155:999"):
        EvmSigner(key, network="eip155:999")
