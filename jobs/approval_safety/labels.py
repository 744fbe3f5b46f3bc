"""Spenders that many wallets approve, so that an answer can call them by name. A name is no proof of safety: behaviour decides.

Sources: the deployment pages of Uniswap, Permit2, 1inch, 0x, CoW Protocol, Aave and OpenSea.
"""

from __future__ import annotations

from jobs.ports.chains import Chain

_EVERYWHERE = {
    "0x000000000022d473030f116ddee9f6b43ac78ba3": "Permit2",
    "0x1111111254eeb25477b68fb85ed929f73a960582": "1inch Router v5",
    "0x111111125421ca6dc452d289314280a0f8842a65": "1inch Router v6",
    "0xdef1c0ded9bec7f1a1670819833240f027b25eff": "0x Exchange Proxy",
    "0xc92e8bdf79f0507f65a392b0ab4667716bfe0110": "CoW Protocol Vault Relayer",
    "0x1e0049783f008a0085193e00003d00cd54003c71": "OpenSea Conduit",
}
_LABELS: dict[Chain, dict[str, str]] = {
    "ethereum": {
        "0x7a250d5630b4cf539739df2c5dacb4c659f2488d": "Uniswap v2 Router",
        "0xe592427a0aece92de3edee1f18e0157c05861564": "Uniswap v3 Router",
        "0x68b3465833fb72a70ecdf485e0e4c7bd8665fc45": "Uniswap v3 Router 2",
        "0x87870bca3f3fd6335c3f4ce8392d69350b4fa4e2": "Aave v3 Pool",
    },
    "base": {
        "0x2626664c2603336e57b271c5c0b26f421741e481": "Uniswap v3 Router 2",
        "0xa238dd80c259a72e81d7e4664a9801593f98d1c5": "Aave v3 Pool",
    },
}


def label_of(chain: Chain, address: str) -> str | None:
    """The name of a spender; None for all others."""
    return _LABELS[chain].get(address) or _EVERYWHERE.get(address)
