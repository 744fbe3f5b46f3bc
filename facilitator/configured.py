"""The rails whose node the settings name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from facilitator.rail import Rail
from shared.networks import NETWORKS
from shared.settings.service import InvalidSetting, Settings


def configured_rails(settings: Settings) -> Sequence[Rail[Any]]:
    """Every rail with a node. Each one imports its network's library, which takes a second or two.

    Raises:
        InvalidSetting: no rail has a node, a key cannot be read, or no token is known on a network.
    """
    modules = {
        name: f"facilitator.rails.{NETWORKS[name].package}.rail" for name, own in settings.rails.items() if own.rpc_url
    }
    rails: list[Rail[Any]] = [import_module(module).rail(settings, name) for name, module in modules.items()]
    if not rails:
        raise InvalidSetting("COINSLOT_EVM_RPC_URL, or that of another network, must name a node to settle through")
    networks = [rail.network for rail in rails]
    if len(set(networks)) < len(networks):
        raise InvalidSetting("COINSLOT_EVM_NETWORK is Ethereum already: leave out COINSLOT_ETHEREUM_RPC_URL")
    return rails
