"""Whether recipients can receive payments: a trust line on Stellar and the XRP Ledger, a token account on Solana, and on EVM
networks no entry in the token's blacklist."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from shared.networks import NETWORKS
from shared.nodes.connections import NodeFailed
from shared.nodes.json_rpc import RpcError
from shared.nodes.xrpl_rpc import XrplError
from shared.settings.rails import RailSettings
from shared.settings.service import PREFIX

TIMEOUT_S = 5.0


class NotChecked(Exception):
    """Whether the recipient can receive is not known. The text says why."""


def missing(name: str, own: RailSettings) -> list[str]:
    """What the recipient lacks, as sentences.

    Args:
        name: of the network's settings, `own`.

    Raises:
        NotChecked: no node can be asked, or it does not say.
    """
    variable = f"{PREFIX}{name.upper()}_RPC_URL"
    if not own.rpc_url:
        raise NotChecked(f"{variable} names no node to ask")
    lacks: Callable[..., list[str] | None] = import_module(f"ops.recipients.{NETWORKS[name].package}").lacks
    try:
        found = lacks(own, timeout_s=TIMEOUT_S)
    except (NodeFailed, RpcError, XrplError, LookupError, TypeError, ValueError):
        found = None
    if found is None:
        raise NotChecked(f"the node of {variable} does not say")
    return found
