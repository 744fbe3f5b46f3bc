"""Networks by the names that x402 has used for them, and what is USDC on which network."""

from __future__ import annotations

from shared.x402.networks import EVM_USDC, V1_NAMES

_SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
_SOLANA_DEVNET = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"
_SOLANA_TESTNET = "solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z"
_XRPL_USDC = "5553444300000000000000000000000000000000"

# The chain ids of x402 version 1 (the official SDK, PyPI x402 2.25.0), and spellings that manifests use beside them.
_NAMES: dict[str, str] = {
    **V1_NAMES,
    "base-mainnet": "eip155:8453",
    "ethereum-mainnet": "eip155:1",
    "polygon": "eip155:137",
    "polygon-amoy": "eip155:80002",
    "avalanche": "eip155:43114",
    "avalanche-fuji": "eip155:43113",
    "arbitrum": "eip155:42161",
    "arbitrum-one": "eip155:42161",
    "sei": "eip155:1329",
    "sei-testnet": "eip155:1328",
    "iotex": "eip155:4689",
    "peaq": "eip155:3338",
    "abstract": "eip155:2741",
    "abstract-testnet": "eip155:11124",
    "story": "eip155:1513",
    "celo": "eip155:42220",
    "solana": _SOLANA,
    "solana-mainnet": _SOLANA,
    "solana-devnet": _SOLANA_DEVNET,
    "solana-testnet": _SOLANA_TESTNET,
    "stellar": "stellar:pubnet",
    "stellar-testnet": "stellar:testnet",
    "xrpl": "xrpl:0",
}

# Circle's contracts, as the official SDK lists them; Stellar: @x402/stellar; XRPL: the issuers that its token lists name.
_USDC: dict[str, tuple[str, int]] = {
    **{network: (token.address, token.decimals) for network, token in EVM_USDC.items()},
    "eip155:137": ("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", 6),
    "eip155:42161": ("0xaf88d065e77c8cC2239327C5EDb3A432268e5831", 6),
    "eip155:42220": ("0xcebA9300f2b948710d2653dD7B07f33A8B32118C", 6),
    "eip155:43114": ("0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", 6),
    _SOLANA: ("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", 6),
    _SOLANA_DEVNET: ("4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU", 6),
    "stellar:pubnet": ("CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75", 7),
    "stellar:testnet": ("CBIELTK6YBZJU5UP2WWQEUCYKLPU6AUNZ2BQ4WWFEIE3USCIHMXQDAMA", 7),
}
_XRPL_ISSUERS = {"xrpl:0": "rGm7WCVp9gb4jZHWTEtGUr4dd74z2XuWhE", "xrpl:1": "rHuGNhqTG32mfmAvWA8hUyWRLV3tCSwKQt"}


def network_id(name: str) -> str:
    """CAIP-2 where the name is known, else as it was written."""
    text = name.strip()
    if text.isdecimal() and text.isascii():
        return f"eip155:{text}"
    return _NAMES.get(text.lower().replace("_", "-").replace(" ", "-"), text)


def has_decimal_amounts(network: str | None) -> bool:
    """Whether amounts are decimal values there, not atomic units."""
    return network is not None and network.startswith("xrpl:")


def usdc_decimals(network: str | None, asset: str | None, issuer: object) -> int | None:
    """The decimals of the amount when the asset is USDC; None when it is not known to be.

    Args:
        asset: address, mint or currency; `USDC` is taken at its word on networks that have one USDC.
        issuer: of a currency on XRPL, where anybody may issue one of that name.
    """
    if network is None or asset is None:
        return None
    if network in _XRPL_ISSUERS:
        is_usdc = asset.upper() in ("USDC", _XRPL_USDC) and issuer == _XRPL_ISSUERS[network]
        return 0 if is_usdc else None
    address, decimals = _USDC.get(network, ("", 0))
    if not address:
        return None
    return decimals if asset.upper() == "USDC" or same_asset(network, asset, address) else None


def same_asset(network: str | None, one: str | None, other: str | None) -> bool:
    """EVM addresses are the same in any case; all others are what they are."""
    if one is None or other is None:
        return one is other
    return one.lower() == other.lower() if (network or "").startswith("eip155:") else one == other
