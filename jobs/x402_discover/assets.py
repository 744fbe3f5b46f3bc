"""The names that x402 has used for networks, and the USDC of each network."""

from shared.x402.networks import EVM_USDC, SOLANA_DEVNET, SOLANA_MAINNET, SOLANA_USDC, STELLAR_USDC, V1_NAMES, XRPL_USDC

_SOLANA_TESTNET = "solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z"

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
    "solana": SOLANA_MAINNET,
    "solana-mainnet": SOLANA_MAINNET,
    "solana-devnet": SOLANA_DEVNET,
    "solana-testnet": _SOLANA_TESTNET,
    "stellar": "stellar:pubnet",
    "stellar-testnet": "stellar:testnet",
    "xrpl": "xrpl:0",
}

# What we settle ourselves, and Circle's contracts on further networks, as the official SDK lists them.
_USDC: dict[str, tuple[str, int]] = {
    **{network: (token.address, token.decimals) for network, token in EVM_USDC.items()},
    **{network: (token.mint, token.decimals) for network, token in SOLANA_USDC.items()},
    **{network: (token.contract, token.decimals) for network, token in STELLAR_USDC.items()},
    "eip155:137": ("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", 6),
    "eip155:42161": ("0xaf88d065e77c8cC2239327C5EDb3A432268e5831", 6),
    "eip155:42220": ("0xcebA9300f2b948710d2653dD7B07f33A8B32118C", 6),
    "eip155:43114": ("0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", 6),
}


def network_id(name: str) -> str:
    """The CAIP-2 name of a network; an unknown name as it was written."""
    text = name.strip()
    if text.isdecimal() and text.isascii():
        return f"eip155:{text}"
    return _NAMES.get(text.lower().replace("_", "-").replace(" ", "-"), text)


def has_decimal_amounts(network: str | None) -> bool:
    """Whether amounts on a network are decimal values and not atomic units."""
    return network is not None and network.startswith("xrpl:")


def usdc_decimals(network: str | None, asset: str | None, issuer: object) -> int | None:
    """The decimals of an amount of USDC; None when the asset is not known to be USDC.

    Args:
        asset: address, mint or currency. The name `USDC` is accepted on networks with only one USDC.
        issuer: of a currency on XRPL, where anybody may issue one of that name.
    """
    if network is None or asset is None:
        return None
    if token := XRPL_USDC.get(network):
        is_usdc = asset.upper() in ("USDC", token.currency) and issuer == token.issuer
        return 0 if is_usdc else None
    address, decimals = _USDC.get(network, ("", 0))
    if not address:
        return None
    return decimals if asset.upper() == "USDC" or same_asset(network, asset, address) else None


def same_asset(network: str | None, one: str | None, other: str | None) -> bool:
    """Whether two assets are the same. EVM addresses may be in any case; others have one spelling."""
    if one is None or other is None:
        return one is other
    return one.lower() == other.lower() if (network or "").startswith("eip155:") else one == other
