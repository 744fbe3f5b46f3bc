"""What all endpoints that read Ethereum and Base declare alike.

An endpoint that is declared with one of these is sold where a node is configured, fails only for a documented reason, and waits
no longer than its reads may take. What it does not share (name, price, request, ...) is given as to `Endpoint`.
"""

from functools import partial
from typing import Any

from jobs.engines.evm.reader import WITHIN_S
from jobs.ports.chains import CHAIN_IDS, FAILURES
from shared.endpoint import Category, Endpoint, Flavour, Pool

chain_endpoint = partial(Endpoint, pool=Pool.CHAIN, deadline_s=WITHIN_S + 2, reads=tuple(CHAIN_IDS), failures=FAILURES)
chain_data = partial(chain_endpoint, category=Category.DATA, flavour=Flavour.NEWER)
"""The endpoints below chain/."""
chain_safety = partial(chain_endpoint, category=Category.SECURITY, flavour=Flavour.OLDER)
"""tx-explain, wallet-doctor and approval-safety."""

EXAMPLE_HEAD: dict[str, Any] = {
    "ok": True,
    "chain": "base",
    "chainId": 8453,
    "blockNumber": "38500000",
    "blockTimestamp": "2026-11-20T15:04:05Z",
    "warnings": [],
}
"""The fields of `jobs.engines.evm.reader.Response` in the examples."""
NOT_REVERTED: dict[str, Any] = {"reverted": False, "revertReason": None, "revert": None}
"""The fields of a call that did not revert, in the examples."""
