"""The signature, by the judgement of others: the official SDK, eth_account, and our own verifier."""

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
from tests.client.conftest import KEY, PAY_TO
from tests.each import each

_TYPES = {
    "from": "address",
    "to": "address",
    "value": "uint256",
    "validAfter": "uint256",
    "validBefore": "uint256",
    "nonce": "bytes32",
}


@each("network", sorted(EVM_USDC))
def test_independent_verifiers_accept_the_signature(network: str) -> None:
    """The official SDK, with its own hash, and eth_account, from typed data written by hand, name the same payer."""
    signer, token = EvmSigner(KEY, network=network), EVM_USDC[network]
    [offer] = offers(token, Price.of("12.345678"), PAY_TO)
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
        token.chain_id,
        offer.asset,
        offer.extra["name"],
        offer.extra["version"],
    )
    assert verify_eoa_signature(digest, bytes.fromhex(payload["signature"][2:]), signer.address)
    message = encode_typed_data(
        {
            "name": token.name,
            "version": token.version,
            "chainId": token.chain_id,
            "verifyingContract": token.address,
        },
        {"TransferWithAuthorization": [{"name": name, "type": kind} for name, kind in _TYPES.items()]},
        {name: int(value) if _TYPES[name] == "uint256" else value for name, value in fields.items()},
    )
    recovered = Account.recover_message(message, signature=payload["signature"])
    assert recovered == Account.from_key(KEY).address
    assert recovered.lower() == signer.address


def test_our_own_verifier_accepts_many_signatures() -> None:
    """Low s and v of 27 or 28, whatever the nonce: some of two hundred would fail otherwise."""
    signer, [offer] = EvmSigner(KEY), offers(EVM_USDC["eip155:8453"], Price.of("0.001"), PAY_TO)
    payloads = [signer.sign(offer, now=1_700_000_000) for _ in range(200)]
    assert {check(offer, payload).payer for payload in payloads} == {signer.address}
    assert len({payload["authorization"]["nonce"] for payload in payloads}) == 200
    # Our verifier and the official one take v of 0 and 1 too; the token does not.
    assert {payload["signature"][-2:] for payload in payloads} == {"1b", "1c"}


@each(
    ("key", "network"),
    [*((key, "eip155:8453") for key in (bytes(32), b"\xff" * 32, bytes(33), b"short")), (KEY, "eip155:999")],
)
def test_a_wallet_that_cannot_pay_is_refused(key: bytes, network: str) -> None:
    """A number that is no key of the curve, and a network without a known USDC contract."""
    with pytest.raises(WalletUnusable):
        EvmSigner(key, network=network)
