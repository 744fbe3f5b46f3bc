"""The networks whose refunds can be built and read: a module for each package of shared/networks.py."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from shared.networks import NETWORKS
from shared.nodes.connections import NodeFailed
from shared.nodes.json_rpc import RpcError
from shared.nodes.xrpl_rpc import XrplError
from shared.settings.rails import RailSettings
from shared.settings.service import Settings

NODE_ERRORS = (NodeFailed, RpcError, XrplError, LookupError, TypeError, ValueError, ArithmeticError)
"""What a node makes a network's module raise, when it does not answer, or not as it should."""


def module_of(name: str) -> ModuleType:
    """The module of a network, by the name of its settings."""
    return import_module(f"ops.refunds.{NETWORKS[name].package}")


def configured(settings: Settings, network: str) -> tuple[str, RailSettings, ModuleType] | None:
    """The name, the settings and the module of a CAIP-2 network; None where no setting has it."""
    for name, own in settings.rails.items():
        if own.network == network:
            return name, own, module_of(name)
    return None
