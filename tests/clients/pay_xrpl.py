"""t54's PyPI x402-xrpl."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import loopback
from x402_xrpl.clients.base import x402Client
from x402_xrpl.clients.requests import x402_requests
from xrpl.wallet import Wallet

env = os.environ
Offer = Mapping[str, Any]


def of_asset(accepts: Sequence[Offer], network: str | None, scheme: str | None, limit: Any) -> Offer:
    """Its own choice among the offers of one token: by itself it takes a network's first."""
    mine = [offer for offer in accepts if offer["asset"] == env["ASSET"]]
    return x402Client.default_payment_requirements_selector(mine, network, scheme, limit)


session = x402_requests(
    Wallet.from_seed(env["KEY"]),
    rpc_url=env["RPC_URL"],
    network_filter=env["NETWORK"],
    payment_requirements_selector=of_asset,
)
answer = session.post(env["URL"], json={"message": env["MESSAGE"]}, timeout=30)
receipt = answer.headers.get("payment-response")
print(
    json.dumps({"status": answer.status_code, "body": answer.text, "receipt": receipt, "elsewhere": loopback.elsewhere})
)
