"""The sandbox's USDC refuses what Circle's does. That it pays: tests/facilitator/test_evm_rail.py, test_contract_wallets.py."""

import secrets
import time
from typing import Any

from eth_abi import encode
from eth_account import Account

from compose.sandbox import artefact
from tests.compose.conftest import call
from tests.each import each

N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
ZERO = "0x" + "00" * 20
FORMS = ["parts", "bytes"]


def _used(desk: Any, nonce: bytes, account: str = "") -> bool:
    return bool(int.from_bytes(desk.read("authorizationState(address,bytes32)", account or desk.sandbox.payer, nonce)))


INVALID = "FiatTokenV2: invalid signature"
NOBODY = "ERC20: transfer to the zero address"


def refused() -> list[tuple[dict[str, Any], dict[str, Any], str, str]]:
    """What is signed, what of it is altered afterwards, by whose key, and why it is refused."""
    now = int(time.time())
    return [
        ({}, {}, "0x" + secrets.token_hex(32), INVALID),
        ({}, {"to": "0x" + "11" * 20}, "", INVALID),
        ({}, {"value": 999}, "", INVALID),
        ({}, {"validAfter": 1}, "", INVALID),
        ({}, {"validBefore": 2**255}, "", INVALID),
        ({}, {"nonce": b"\1" * 32}, "", INVALID),
        ({"validBefore": now - 5}, {}, "", "FiatTokenV2: authorization is expired"),
        ({"validAfter": now + 60}, {}, "", "FiatTokenV2: authorization is not yet valid"),
        ({"value": 2**60}, {}, "", "ERC20: transfer amount exceeds balance"),
        ({"to": ZERO}, {}, "", NOBODY),
    ]


@each("form", FORMS)
@each(("signed", "altered", "key", "reason"), refused)
def test_a_payment_is_refused_with_circles_reason(
    desk: Any, form: str, signed: dict[str, Any], altered: dict[str, Any], key: str, reason: str
) -> None:
    """What the payer signed is what is paid, once, within its time, from what is there. A refusal leaves the nonce unused."""
    authorization = desk.authorization(**signed)
    signature = desk.sign(authorization, key=key)
    if form == "parts":
        data = desk.by_parts(authorization | altered, signature.v, signature.r, signature.s)
    else:
        data = desk.by_bytes(authorization | altered, signature.signature)

    assert desk.refusal(data) == desk.refusal(data, "eth_estimateGas") == reason
    assert not _used(desk, authorization["nonce"])


def test_an_idle_chain_keeps_the_time(desk: Any) -> None:
    """After a pause without transactions a call on the newest block sees the time of now, give or take a block."""
    time.sleep(5)
    now = int(time.time())

    fresh = desk.authorization(validAfter=now - 3, validBefore=now + 30)
    desk.rpc("eth_call", {"to": desk.sandbox.usdc, "data": desk.payment("bytes", fresh)}, "latest")
    assert desk.send(desk.payment("bytes", fresh))["status"] == "0x1"
    stale = desk.authorization(validBefore=now - 3)
    assert desk.refusal(desk.payment("bytes", stale)) == "FiatTokenV2: authorization is expired"


@each("form", FORMS)
@each(
    ("mend", "reason"),
    [
        (lambda v, r, s: (55 - v, r, N - s), "ECRecover: invalid signature 's' value"),
        (lambda v, r, s: (29, r, s), "ECRecover: invalid signature 'v' value"),
        (lambda v, r, s: (v - 27, r, s), "ECRecover: invalid signature 'v' value"),
        (lambda v, r, s: (v, 0, s), "ECRecover: invalid signature"),
    ],
    ids=["high s", "v of 29", "v of 0 or 1", "r of 0"],
)
def test_a_malformed_signature_is_refused(desk: Any, form: str, mend: Any, reason: str) -> None:
    """The malleable twin of a good signature, and parity values other than 27 and 28, are not signatures."""
    authorization = desk.authorization()
    signed = desk.sign(authorization)
    v, r, s = mend(signed.v, signed.r, signed.s)
    packed = r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([v])

    data = desk.by_parts(authorization, v, r, s) if form == "parts" else desk.by_bytes(authorization, packed)

    assert desk.refusal(data) == reason


def test_a_delegated_account_signs_as_its_code_says(desk: Any) -> None:
    """Given an account with a key that took on code (EIP-7702), when its key signs plainly, then that no longer pays."""
    account = Account.create()
    creation = artefact.load("Wallet1271").bytecode + encode(["address"], [account.address])
    wallet: str = desk.send("0x" + creation.hex(), to=None)["contractAddress"]
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
