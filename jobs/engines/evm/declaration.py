"""What all endpoints that read Ethereum and Base declare alike.

An endpoint that is declared with one of these is sold where a node is configured, fails only for a documented reason, and waits
no longer than its reads may take. What it does not share (name, price, request, ...) is given as to `Endpoint`.
"""

from __future__ import annotations

from functools import partial

from jobs.engines.evm.reader import WITHIN_S
from jobs.ports.chains import CHAIN_IDS, FAILURES
from shared.endpoint import Category, Endpoint, Flavour, Pool

chain_endpoint = partial(Endpoint, pool=Pool.CHAIN, deadline_s=WITHIN_S + 2, reads=tuple(CHAIN_IDS), failures=FAILURES)
chain_data = partial(chain_endpoint, category=Category.DATA, flavour=Flavour.NEWER)
"""The endpoints below chain/."""
chain_safety = partial(chain_endpoint, category=Category.SECURITY, flavour=Flavour.OLDER)
"""tx-explain, wallet-doctor and approval-safety."""
