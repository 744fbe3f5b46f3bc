"""What is recorded of a payment when it is first presented."""

from __future__ import annotations

import time

import msgspec

from api.payment import identifier
from api.payment.facilitator import EVIDENCE_TIMEOUT_S
from api.payment.gate import Match
from api.payment.ledger import Claim
from api.services import Services
from shared.endpoint import Endpoint
from shared.x402.authorization import Authorization
from shared.x402.wire import Payment

LEASE_MARGIN_S = 3.0
"""A driver's lease outlives all that it may wait for by this much."""


def build_claim(
    services: Services, endpoint: Endpoint, authorization: Authorization, paid: Match, query: bytes, body: bytes
) -> Claim:
    """The claim of one checked payment on one request."""
    # Everything in a payment id is public on the chain. What proves that the caller is the payer is the signature: where
    # we could not check it, only the very same one belongs to the same request.
    proof = b"" if authorization.signature_checked else authorization.signature
    settle_s = paid.rail.facilitator.settle_timeout_s + EVIDENCE_TIMEOUT_S + LEASE_MARGIN_S
    return Claim(
        payment_id=authorization.payment_id,
        fingerprint=services.fingerprint(endpoint.name, query, body, proof),
        endpoint=endpoint.name,
        payer=authorization.payer,
        offer=msgspec.json.encode(paid.offer),
        settle_lease_ms=int(settle_s * 1000),
        run_lease_ms=int((endpoint.deadline_s + LEASE_MARGIN_S) * 1000),
        valid_before=authorization.expires(int(time.time())),
        payment=services.payments.seal(_bare(paid.payment), authorization.payment_id.encode()),
        # What somebody else may have signed for the payer names none of the payer's calls.
        identifier=identifier.of(paid.payment) if authorization.signature_checked else "",
        token=paid.token,
        limit=services.limits.of(endpoint.pool),
    )


def _bare(payment: Payment) -> bytes:
    """What a facilitator has to be asked with: without what the client echoes, which may be long."""
    return msgspec.json.encode(msgspec.structs.replace(payment, resource=None, extensions=None))
