"""Finds accounts whose code has changed lately: it may have burned the gas of a group, and may be gone again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from facilitator.json_rpc import JsonRpcNode
from facilitator.rails.evm.node import bytes_of, number_of
from shared.nodes.json_rpc import Call, RpcError

BLOCKS = 64
"""How far back a change counts. A node has the state of 128 blocks at least."""


async def changed_accounts(node: JsonRpcNode, accounts: Iterable[str], block: int) -> set[str]:
    """The accounts that have code, or whose nonce has gone up in the BLOCKS blocks before `block` or since.

    Each authorization that puts code on an account or takes it off raises the account's nonce (EIP-7702). A
    transaction that the account sends does so, too. An account of which the node says nothing is left out.

    Raises what is in NODE_ERRORS.
    """
    asked = list(dict.fromkeys(accounts))
    earlier = hex(max(0, block - BLOCKS))
    answers = await node.ask_all(
        [
            call
            for account in asked
            for call in (
                Call("eth_getCode", (account, "latest")),
                Call("eth_getTransactionCount", (account, earlier)),
                # Some nodes show a preconfirmed transaction here only.
                Call("eth_getTransactionCount", (account, "pending")),
            )
        ]
    )
    shown = zip(asked, answers[::3], answers[1::3], answers[2::3], strict=True)
    return {account for account, code, before, now in shown if _has_changed(code, before, now)}


def _has_changed(code: Any, before: Any, now: Any) -> bool:
    if not isinstance(code, RpcError) and bytes_of(code):
        return True
    return not isinstance(before, RpcError) and not isinstance(now, RpcError) and number_of(before) < number_of(now)
