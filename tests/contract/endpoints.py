"""The literal table: what is sold, copied by hand from the interface specification.

Nothing is computed, so it catches wrong derivations.

Names, prices, categories, flavours and listing are the specification's; pools are docs/architecture.md's.
"""

from typing import NamedTuple

ALL = ("base", "solana", "stellar", "xrpl-usdc", "xrpl-rlusd", "ethereum")
RLUSD = ("xrpl-rlusd",)


class Row(NamedTuple):
    """One endpoint.

    Attributes:
        price: per call, in USDC; in RLUSD when that is the only rail.
        usdc_atomic: the price in units of 0.000001 USDC; None when it is not sold for USDC.
    """

    name: str
    path: str
    price: str
    usdc_atomic: str | None
    category: str
    pool: str
    flavour: str
    rails: tuple[str, ...] = ALL
    listed: bool = True


SPECIFIED: tuple[Row, ...] = (
    Row("echo", "/v1/cdp/echo", "0.001", "1000", "utility", "micro", "newer"),
    Row("json-repair", "/v1/cdp/json-repair", "0.005", "5000", "utility", "fast", "newer"),
    Row("faker", "/v1/cdp/faker", "0.005", "5000", "utility", "fast", "newer"),
    Row("llm-tool-validate", "/v1/cdp/llm-tool-validate", "0.008", "8000", "utility", "fast", "newer"),
    Row("render-pro", "/v1/cdp/render-pro", "0.01", "10000", "data", "render", "newer"),
    Row("jwt-verify", "/v1/cdp/jwt-verify", "0.005", "5000", "utility", "fast", "newer"),
    Row("webhook-sig-verify", "/v1/cdp/webhook-sig-verify", "0.005", "5000", "utility", "fast", "newer"),
    Row("regex-test", "/v1/cdp/regex-test", "0.005", "5000", "utility", "fast", "newer"),
    Row("pii-redact", "/v1/cdp/pii-redact", "0.008", "8000", "utility", "fast", "newer"),
    Row("dns", "/v1/cdp/dns", "0.01", "10000", "utility", "net", "newer"),
    Row("whois", "/v1/cdp/whois", "0.01", "10000", "data", "whois", "newer"),
    Row("rss", "/v1/cdp/rss", "0.008", "8000", "data", "net", "newer"),
    Row("youtube", "/v1/cdp/youtube", "0.015", "15000", "data", "youtube", "newer"),
    Row("web-diff", "/v1/cdp/web-diff", "0.08", "80000", "data", "render", "newer"),
    Row("ssl-info", "/v1/cdp/ssl-info", "0.002", "2000", "security", "net", "older"),
    Row("x402-discover", "/v1/cdp/x402-discover", "0.005", "5000", "security", "net", "older"),
    Row(
        "prompt-injection-scan",
        "/v1/cdp/prompt-injection-scan",
        "0.005",
        "5000",
        "security",
        "fast",
        "older",
    ),
    Row("tx-explain", "/v1/cdp/tx-explain", "0.005", "5000", "security", "chain", "older"),
    Row("wallet-doctor", "/v1/cdp/wallet-doctor", "0.005", "5000", "security", "chain", "older"),
    Row("approval-safety", "/v1/cdp/approval-safety", "0.05", "50000", "security", "chain", "older"),
    Row(
        "xrpl-wallet-watch",
        "/v1/cdp/xrpl-wallet-watch",
        "0.001",
        None,
        "data",
        "chain",
        "watch",
        rails=RLUSD,
    ),
    Row("chain/chain-id", "/v1/cdp/chain/chain-id", "0.001", "1000", "data", "chain", "newer"),
    Row("chain/erc20-balance", "/v1/cdp/chain/erc20-balance", "0.003", "3000", "data", "chain", "newer"),
    Row("chain/allowance", "/v1/cdp/chain/allowance", "0.003", "3000", "data", "chain", "newer"),
    Row("chain/nft-owner", "/v1/cdp/chain/nft-owner", "0.003", "3000", "data", "chain", "newer"),
    Row(
        "chain/erc1155-balance",
        "/v1/cdp/chain/erc1155-balance",
        "0.003",
        "3000",
        "data",
        "chain",
        "newer",
        listed=False,
    ),
    Row("chain/estimate-gas", "/v1/cdp/chain/estimate-gas", "0.004", "4000", "data", "chain", "newer"),
    Row("chain/call", "/v1/cdp/chain/call", "0.005", "5000", "data", "chain", "newer"),
    Row("chain/storage", "/v1/cdp/chain/storage", "0.005", "5000", "data", "chain", "newer"),
)

ADDED: tuple[Row, ...] = ()
"""What is sold beyond the specification."""

ENDPOINTS = SPECIFIED + ADDED
