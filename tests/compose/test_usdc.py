"""The sandbox's USDC behaves as Circle's does, on both chains."""

from __future__ import annotations

import secrets
import time
from typing import Any

from eth_abi import decode, encode
from eth_account import Account

from compose.sandbox import artefact
from tests.compose.conftest import call
from tests.each import each

TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
USED_TOPIC = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5"


N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
ZERO = "0x" + "00" * 20
FORMS = ["parts", "bytes"]


def _topic(account: str) -> str:
    return "0x" + account[2:].lower().rjust(64, "0")


def _used(desk: Any, nonce: bytes, account: str = "") -> bool:
    return bool(int.from_bytes(desk.read("authorizationState(address,bytes32)", account or desk.sandbox.payer, nonce)))


def test_domain_and_metadata_are_those_of_usdc(desk: Any) -> None:
    """A signature made for the sandbox is a signature for Base's USDC."""
    texts = [decode(["string"], desk.read(f"{view}()"))[0] for view in ("name", "version", "symbol", "currency")]

    assert desk.sandbox.usdc == "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
    assert texts == ["USD Coin", "2", "USDC", "USD"]
    assert int.from_bytes(desk.read("decimals()")) == 6
    hashes = {
        "DOMAIN_SEPARATOR()": "02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f",
        "TRANSFER_WITH_AUTHORIZATION_TYPEHASH()": "7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267",
        "CANCEL_AUTHORIZATION_TYPEHASH()": "158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a1597429",
    }
    assert {view: desk.read(view).hex() for view in hashes} == hashes


@each("form", FORMS)
def test_a_signed_authorization_settles(desk: Any, form: str) -> None:
    """Given a payer's EIP-712 signature, when anybody sends it in either form, then the money moves and the nonce is used."""
    authorization = desk.authorization(value=1234)
    payer, pay_to = desk.balance(desk.sandbox.payer), desk.balance(desk.sandbox.pay_to)
    assert not _used(desk, authorization["nonce"])

    receipt = desk.send(desk.payment(form, authorization))

    assert receipt["status"] == "0x1"
    assert desk.balance(desk.sandbox.payer) == payer - 1234
    assert desk.balance(desk.sandbox.pay_to) == pay_to + 1234
    assert _used(desk, authorization["nonce"])


def test_a_settlement_leaves_its_two_logs(desk: Any) -> None:
    """AuthorizationUsed and Transfer can be found by eth_getLogs, by payer and nonce, as a facilitator's evidence."""
    authorization = desk.authorization(value=77)
    receipt = desk.send(desk.payment("bytes", authorization))
    payer, pay_to = _topic(desk.sandbox.payer), _topic(desk.sandbox.pay_to)
    where = {"address": desk.sandbox.usdc, "fromBlock": "0x1", "toBlock": "latest"}

    (used,) = desk.rpc("eth_getLogs", where | {"topics": [USED_TOPIC, payer, "0x" + authorization["nonce"].hex()]})
    transfers = desk.rpc("eth_getLogs", where | {"topics": [[TRANSFER_TOPIC], payer, pay_to]})

    assert used["transactionHash"] == receipt["transactionHash"]
    assert used["data"] == "0x"
    (transfer,) = [log for log in transfers if log["transactionHash"] == receipt["transactionHash"]]
    assert int(transfer["data"], 16) == 77
    assert [log["logIndex"] for log in receipt["logs"]] == ["0x0", "0x1"]
    assert [used, transfer] == [{k: v for k, v in log.items() if k in used} for log in receipt["logs"]]


@each("form", FORMS)
def test_a_replay_is_refused(desk: Any, form: str) -> None:
    """One authorization pays once, in whichever form it comes back."""
    authorization = desk.authorization()
    desk.send(desk.payment("parts", authorization))

    assert desk.refusal(desk.payment(form, authorization)) == "FiatTokenV2: authorization is used or canceled"


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
