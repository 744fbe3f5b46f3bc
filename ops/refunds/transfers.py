"""What the networks' modules have in common: the transfers that a plan proposes, and those that a chain shows."""

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import closing
from decimal import Decimal
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from ops.chains import TIMEOUT_S, node_of
from ops.refunds.debts import Debt
from shared.networks import NETWORKS
from shared.nodes.json_rpc import JsonRpc
from shared.settings.rails import RailSettings
from shared.settings.service import Settings

T = TypeVar("T")


class Options(NamedTuple):
    """What a node is not asked for.

    Attributes:
        now: Unix seconds.
        blockhash: of the transactions on Solana.
        sequence: the last one that the recipient's account on Stellar has used.
    """

    now: int
    blockhash: str | None = None
    sequence: int | None = None


class Built(NamedTuple):
    """The unsigned transfers of one sender on one network.

    Attributes:
        files: what is written, by the end of the file's name.
        notes: sentences about signing them.
    """

    files: dict[str, Any]
    notes: list[str]


class Transfer(NamedTuple):
    """A transfer that a chain shows. `number` tells it from others in its transaction. The rest is as in a Debt."""

    number: str
    asset: str
    sender: str
    to: str
    value: Decimal


class Found(NamedTuple):
    """A transaction that a chain shows as final as the rail wants it.

    Attributes:
        name: its only name: a transaction may be asked for by several.
        at: Unix seconds.
    """

    name: str
    at: int
    transfers: list[Transfer]


class NotPossible(Exception):
    """The text says why transfers cannot be built, or why a transaction does not count."""


def batches(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """Parts of so many at most."""
    return (items[start : start + most] for start in range(0, len(items), most))


def listed(debts: Sequence[Debt]) -> list[dict[str, str]]:
    """What the transfers of a file are for, in its order."""
    return [{"payment": debt.payment, "to": debt.payer, "amount": debt.amount} for debt in debts]


def side(settings: Settings, name: str) -> tuple[RailSettings, ModuleType]:
    """The settings of a network with the node that it is read from, and its module."""
    own = dataclasses.replace(settings.rails[name], rpc_url=node_of(settings, name))
    return own, import_module(f"ops.refunds.{NETWORKS[name].package}")


def name_of(settings: Settings, network: str) -> str | None:
    """The name of the settings that have a CAIP-2 network; None where none do."""
    return next((name for name, own in settings.rails.items() if own.network == network), None)


def asked(own: RailSettings) -> closing[JsonRpc]:
    """The rail's own node, for one question or a few."""
    return closing(JsonRpc(own.rpc_url, timeout_s=TIMEOUT_S))
