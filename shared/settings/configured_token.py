"""The token on the network that a setting names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from shared.settings.setting import PREFIX, InvalidSetting

T = TypeVar("T")


def configured_token(tokens: Mapping[str, T], network: str, prefix: str) -> T:
    """The token that is known on a network.

    Args:
        prefix: of the setting that names the network: ``solana`` for COINSLOT_SOLANA_NETWORK.

    Raises:
        InvalidSetting: no token is known there.
    """
    try:
        return tokens[network]
    except KeyError:
        raise InvalidSetting(f"{PREFIX}{prefix.upper()}_NETWORK: no token is known on {network}") from None
