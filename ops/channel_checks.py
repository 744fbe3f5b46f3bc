"""What has to be true for channels to be sold: contracts, the token, the authorizer's key, and gas to claim everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import redis
from coincurve import PrivateKey

from ops.channels import channels
from shared.ledger.channels import AUTHORIZER
from shared.nodes.connections import NodeFailed
from shared.nodes.json_rpc import JsonRpc, RpcError
from shared.settings.rails import EvmRailSettings
from shared.settings.secret_files import is_exposed, read_key
from shared.settings.service import InvalidSetting
from shared.x402.evm import address_of, checksummed, selector
from shared.x402.evm_channel_ids import CLAIM_ROW_GAS, COLLECTOR, CONTRACT
from shared.x402.networks import EVM_USDC

_TIMEOUT_S = 5.0
_RECEIVE = selector("receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)")

Lack = str


def key_lacks(own: EvmRailSettings, ledger: redis.Redis | None) -> Iterator[Lack]:
    """What is wrong with the authorizer's key. Raises RedisError.

    Args:
        ledger: None: not looked at.
    """
    try:
        key = read_key(own.authorizer_key_file)
    except InvalidSetting as error:
        yield str(error)
        return
    if is_exposed(own.authorizer_key_file):
        yield f"{own.authorizer_key_file} can be read by others: chmod 600 {own.authorizer_key_file}"
    try:
        if key == read_key(own.settler_key_file):
            yield "the authorizer's key is the settler's: whoever takes one would have both"
    except InvalidSetting:
        pass  # the facilitator is elsewhere
    if ledger is not None:
        known = cast(Any, ledger.get(AUTHORIZER))
        address = checksummed(address_of(PrivateKey(key).public_key))
        if known is not None and known.decode() != address:
            yield f"the ledger's channels name {known.decode()}, and the key is of {address}: its claims would be refused"


def chain_lacks(own: EvmRailSettings, settler: str, ledger: redis.Redis | None) -> list[Lack] | None:
    """What the chain lacks for channels; None when the node does not say. Raises RedisError.

    Args:
        settler: the account that pays for claims; empty: a facilitator elsewhere does.
    """
    node = JsonRpc(own.rpc_url, timeout_s=_TIMEOUT_S)
    try:
        return list(_chain_lacks(node, own, settler, ledger))
    except (NodeFailed, RpcError, TypeError, ValueError):
        return None
    finally:
        node.close()


def _chain_lacks(node: JsonRpc, own: EvmRailSettings, settler: str, ledger: redis.Redis | None) -> Iterator[Lack]:
    for address in (CONTRACT, COLLECTOR):
        if len(node("eth_getCode", address, "latest")) <= len("0x"):
            yield f"there is no contract at {address}"
    token = EVM_USDC.get(own.network)
    if token is None:
        yield f"no token is known on {own.network}"
    elif not _receives(node, token.address):
        yield f"{token.address} has no receiveWithAuthorization: no deposit can be made"
    if settler and ledger is not None:
        rows = sum(one.unclaimed > 0 for one in channels(ledger))
        needed = rows * CLAIM_ROW_GAS * int(node("eth_gasPrice"), 16)
        balance = int(node("eth_getBalance", settler, "latest"), 16)
        if balance < needed:
            yield f"to claim from {rows} channels costs {needed / 1e18:.6f} ETH, and {settler} has {balance / 1e18:.6f}"


def _receives(node: JsonRpc, token: str) -> bool:
    """Whether the token knows the function: it refuses a call that is none of its payee, in words."""
    words = "".join(f"{number:064x}" for number in (1, 2, 0, 0, 0, 0, 7 * 32, 0))
    try:
        node("eth_call", {"to": token, "data": f"0x{_RECEIVE.hex()}{words}"}, "latest")
    except RpcError as refused:
        return "FiatToken" in refused.message or b"FiatToken".hex() in str(refused.data)
    return False  # also an address without code lets every call succeed
