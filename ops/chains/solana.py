"""Fees and transfers of Solana."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from ops.chains import TIMEOUT_S, Fee, NotKept, Transfer
from shared.nodes.json_rpc import Call, JsonRpc, RpcError
from shared.settings.rails import RailSettings, SolanaRailSettings
from shared.x402.networks import SOLANA_USDC, SolanaToken, Token
from shared.x402.solana_address import decode_base58, encode_base58, token_account

COIN = ("SOL", 9)
PAYERS_PAY = False
MOST_CALLS = 20
"""In one request to the node."""
PAGE = 1_000
"""Signatures that a node lists at once."""
_AMOUNT = slice(64, 72)
"""Of a token account's data, after its mint and its owner."""
_HOW = {"encoding": "base64", "maxSupportedTransactionVersion": 0, "commitment": "confirmed"}


def fees(url: str, transactions: Sequence[str]) -> Mapping[str, Fee]:
    """What the transactions' own accounts say. The first signer has paid it."""
    found = _transactions(JsonRpc(url, timeout_s=TIMEOUT_S), transactions)
    return {name: Fee(int(shown["meta"]["fee"])) for name, shown in found.items()}


def transfers(url: str, own: RailSettings, token: Token, since: int) -> Iterator[Transfer]:
    """What the recipient's token account got, the newest first."""
    node = JsonRpc(url, timeout_s=TIMEOUT_S)
    mint: str = token.mint  # type: ignore[union-attr]
    account = _account(own.pay_to, mint)
    missing = 0
    for page in _pages(node, account, since):
        found = _transactions(node, [one["signature"] for one in page])
        missing += len(page) - len(found)
        for one in page:
            moved = _moved(found[one["signature"]]["meta"], mint) if one["signature"] in found else {}
            if (gained := moved.get(own.pay_to, 0)) > 0:
                payer = min(moved, key=lambda owner: moved[owner])
                yield Transfer(one["signature"], 0, payer, str(gained), one["blockTime"])
    if missing:
        raise NotKept(f"it does not show {missing} transactions of {account} any more")


def holds(url: str, token: SolanaToken, holder: str) -> int:
    """What the token account of a wallet has; 0 where there is none."""
    how = {"encoding": "base64", "commitment": "confirmed"}
    found = JsonRpc(url, timeout_s=TIMEOUT_S)("getAccountInfo", _account(holder, token.mint), how)["value"]
    return int.from_bytes(base64.b64decode(found["data"][0])[_AMOUNT], "little") if found else 0


def is_final(url: str, own: RailSettings, transaction: str) -> bool:
    """Whether a confirmed block has it."""
    how = {"searchTransactionHistory": True}
    [found] = JsonRpc(url, timeout_s=TIMEOUT_S)("getSignatureStatuses", [transaction], how)["value"]
    return found is not None and found["err"] is None and found["confirmationStatus"] in ("confirmed", "finalized")


def finality(own: RailSettings) -> str:
    """Of every settlement on it."""
    return "a confirmed block"


def _account(holder: str, mint: str) -> str:
    return encode_base58(token_account(decode_base58(holder, 32), decode_base58(mint, 32)))


def _pages(node: JsonRpc, account: str, since: int) -> Iterator[list[dict[str, Any]]]:
    """The account's transactions that were executed well, the newest first."""
    before: dict[str, str] = {}
    while True:
        found = node("getSignaturesForAddress", account, {"limit": PAGE, "commitment": "confirmed", **before})
        yield [one for one in found if one["err"] is None and one["blockTime"] >= since]
        if len(found) < PAGE or found[-1]["blockTime"] < since:
            return
        before = {"before": found[-1]["signature"]}


def _transactions(node: JsonRpc, signatures: Sequence[str]) -> dict[str, Any]:
    """Those that the node shows."""
    found: dict[str, Any] = {}
    for start in range(0, len(signatures), MOST_CALLS):
        named = signatures[start : start + MOST_CALLS]
        answers = node.batch([Call("getTransaction", (name, _HOW)) for name in named])
        for name, shown in zip(named, answers, strict=True):
            if isinstance(shown, RpcError):
                raise shown
            if shown is not None:
                found[name] = shown
    return found


def _moved(meta: dict[str, Any], mint: str) -> dict[str, int]:
    """By owner, how much more of the token he has than before."""
    moved: dict[str, int] = {}
    for name, sign in (("preTokenBalances", -1), ("postTokenBalances", 1)):
        for held in meta[name]:
            if held["mint"] == mint:
                amount = sign * int(held["uiTokenAmount"]["amount"])
                moved[held["owner"]] = moved.get(held["owner"], 0) + amount
    return moved


def lacks(own: SolanaRailSettings, *, timeout_s: float) -> list[str] | None:
    """What the recipient lacks, as sentences; None when the node does not say."""
    token = SOLANA_USDC.get(own.network)
    if token is None:
        return None
    account = encode_base58(token_account(decode_base58(own.pay_to, 32), decode_base58(token.mint, 32)))
    with closing(JsonRpc(own.rpc_url, timeout_s=timeout_s)) as node:
        found = node("getAccountInfo", account, {"encoding": "base64"})["value"]
    return [] if found else [f"{own.pay_to} has no token account for USDC: {account} does not exist"]
