"""A payer that is a contract signs as its contract says (ERC-1271), and only so."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from eth_abi import encode
from eth_account import Account

from compose.sandbox import artefact
from tests.compose.conftest import call

INVALID = "FiatTokenV2: invalid signature"


def _wrap(signature: bytes, owner_index: int = 0) -> bytes:
    return encode(["uint256", "bytes"], [owner_index, bytes(signature)])


@pytest.fixture(scope="module")
def owner_key() -> str:
    """The key of the wallet's one owner."""
    return "0x" + secrets.token_hex(32)


@pytest.fixture(scope="module")
def wallet(desk: Any, owner_key: str) -> str:
    """A deployed wallet that holds 1 USDC."""
    creation = artefact.load("Wallet1271").bytecode + encode(["address"], [Account.from_key(owner_key).address])
    address: str = desk.send("0x" + creation.hex(), to=None)["contractAddress"]
    desk.send(call("mint(address,uint256)", address, 1_000_000))
    return address


def test_a_smart_wallet_pays_by_the_bytes_form(desk: Any, wallet: str, owner_key: str) -> None:
    """The wallet's own wrapping of its owner's signature is accepted, because the wallet says so."""
    authorization = desk.authorization(from_=wallet)
    signature = _wrap(desk.sign(authorization, key=owner_key).signature)
    before = desk.balance(wallet)

    receipt = desk.send(desk.by_bytes(authorization, signature))

    assert receipt["status"] == "0x1"
    assert desk.balance(wallet) == before - 1000
    assert desk.refusal(desk.by_bytes(authorization, signature)) == "FiatTokenV2: authorization is used or canceled"


def test_the_owners_bare_signature_is_not_the_wallets(desk: Any, wallet: str, owner_key: str) -> None:
    """For a payer with code there is no ECDSA fallback: v, r, s of its owner are asked of the contract, which refuses."""
    authorization = desk.authorization(from_=wallet)
    signed = desk.sign(authorization, key=owner_key)

    assert desk.refusal(desk.by_parts(authorization, signed.v, signed.r, signed.s)) == INVALID
    assert desk.refusal(desk.by_bytes(authorization, signed.signature)) == INVALID


def test_a_stranger_can_not_sign_for_the_wallet(desk: Any, wallet: str, owner_key: str) -> None:
    """Neither another key nor another owner index passes."""
    authorization = desk.authorization(from_=wallet)
    stranger = desk.sign(authorization, key="0x" + secrets.token_hex(32)).signature
    owner = desk.sign(authorization, key=owner_key).signature

    assert desk.refusal(desk.by_bytes(authorization, _wrap(stranger))) == INVALID
    assert desk.refusal(desk.by_bytes(authorization, _wrap(owner, owner_index=1))) == INVALID
    assert desk.refusal(desk.by_bytes(authorization, b"")) == INVALID


def test_a_contract_that_is_no_wallet_can_not_pay(desk: Any) -> None:
    """A contract without isValidSignature refuses by not answering; here the token itself."""
    authorization = desk.authorization(from_=desk.sandbox.usdc)

    assert desk.refusal(desk.by_bytes(authorization, desk.sign(authorization).signature)) == INVALID


def test_a_delegated_account_signs_as_its_code_says(desk: Any, wallet: str) -> None:
    """Given an account with a key that took on code (EIP-7702), when its key signs plainly, then that no longer pays."""
    account = Account.create()
    desk.send(call("mint(address,uint256)", account.address, 1_000_000))
    authorization = desk.authorization(from_=account.address)
    data = desk.by_bytes(authorization, desk.sign(authorization, key="0x" + account.key.hex()).signature)
    desk.rpc("eth_call", {"to": desk.sandbox.usdc, "data": data}, "latest")
    delegation = account.sign_authorization({"chainId": 8453, "address": wallet, "nonce": 0})

    receipt = desk.send("0x", to=desk.sandbox.pay_to, gas=100_000, type=4, authorizationList=[delegation])

    assert receipt["status"] == "0x1"
    assert desk.rpc("eth_getCode", account.address, "latest") == "0xef0100" + wallet[2:].lower()
    assert desk.rpc("eth_getTransactionByHash", receipt["transactionHash"])["type"] == "0x4"
    assert desk.refusal(data) == INVALID
