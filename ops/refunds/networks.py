"""The networks whose refunds can be built and read: a module for each package of shared/networks.py."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from types import ModuleType

from ops.chains import node_of
from shared.networks import NETWORKS
from shared.settings.rails import RailSettings
from shared.settings.service import Settings


def side(settings: Settings, name: str) -> tuple[RailSettings, ModuleType]:
    """The settings of a network with the node that it is read from, and its module."""
    own = dataclasses.replace(settings.rails[name], rpc_url=node_of(settings, name))
    return own, import_module(f"ops.refunds.{NETWORKS[name].package}")


def name_of(settings: Settings, network: str) -> str | None:
    """The name of the settings that have a CAIP-2 network; None where none do."""
    return next((name for name, own in settings.rails.items() if own.network == network), None)
