"""Builds what the ledger records of a payment that is presented for the first time."""

import time

import msgspec

from api.payment import identifier
from api.payment.binding import expiry
from api.payment.facilitator import EVIDENCE_TIMEOUT_S
from api.payment.ledger_terms import Claim, Reserve
from api.payment.match import Match
from api.services import Services
from shared.endpoint import Endpoint
from shared.x402.authorization import Authorization, LastClaim
from shared.x402.evm_channel import Deposit, Voucher
from shared.x402.wire import Offer, Payment

LEASE_MARGIN_S = 3.0
"""A driver's lease outlives everything that the driver waits for by so many seconds."""


def build_claim(
    services: Services, endpoint: Endpoint, authorization: Authorization, paid: Match, query: bytes, body: bytes
) -> Claim:
    """The claim of one checked payment on one request."""
    # A payment id is public on the chain. The signature proves that the caller is the payer. Where we cannot check it, the
    # same request has to bring the same signature.
    proof = b"" if authorization.signature_checked else authorization.signature
    if isinstance(authorization, Voucher):
        return voucher_claim(services, endpoint, authorization, paid.payment, query, body)
    settle_s = paid.rail.facilitator.settle_timeout_s + EVIDENCE_TIMEOUT_S + LEASE_MARGIN_S
    return Claim(
        payment_id=authorization.payment_id,
        fingerprint=services.fingerprint(endpoint.name, query, body, proof),
        previous_fingerprint=services.fingerprint.previous(endpoint.name, query, body, proof),
        endpoint=endpoint.name,
        payer=authorization.payer,
        offer=msgspec.json.encode(settled_offer(paid.offer, authorization)),
        settle_lease_ms=int(settle_s * 1000),
        run_lease_ms=int((endpoint.deadline_s + LEASE_MARGIN_S) * 1000),
        valid_before=authorization.expires(int(time.time())),
        last_claim=_last_claim(authorization, paid),
        payment=services.payments.seal(_bare(paid.payment), authorization.payment_id.encode()),
        # Without a checked signature, somebody else may have chosen the identifier.
        identifier=identifier.of(paid.payment) if authorization.signature_checked else "",
        token=paid.token,
        undelivered_ms=_undelivered_ms(services, endpoint, authorization, paid.payment),
        limit=services.limits.of(endpoint.pool),
    )


def _last_claim(authorization: Authorization, paid: Match) -> LastClaim:
    """By what the payer signed, or by the token that he was given. No rail has both."""
    if paid.token:
        return LastClaim(expiry(paid.token), paid.rail.verifier.TOKEN_REASON)
    return authorization.last_claim()


def _undelivered_ms(services: Services, endpoint: Endpoint, authorization: Authorization, payment: Payment) -> int:
    """0 where the next payment cannot stand for this one: who pays must be proven, an answer with secrets opens only with its
    own payment, and a client that names its calls says itself which are the same."""
    is_free = authorization.signature_checked and not endpoint.holds_secret and not isinstance(authorization, Deposit)
    return services.undelivered_ms if is_free and not identifier.of(payment) else 0


def voucher_claim(
    services: Services, endpoint: Endpoint, voucher: Voucher, payment: Payment, query: bytes, body: bytes
) -> Claim:
    """The claim of a voucher, which is settled already: it reserves its price."""
    return Claim(
        payment_id=voucher.payment_id,
        fingerprint=services.fingerprint(endpoint.name, query, body, b""),
        previous_fingerprint=services.fingerprint.previous(endpoint.name, query, body, b""),
        endpoint=endpoint.name,
        payer=voucher.payer,
        offer=b"",
        settle_lease_ms=0,
        run_lease_ms=int((endpoint.deadline_s + LEASE_MARGIN_S) * 1000),
        identifier=identifier.of(payment),
        limit=services.limits.of(endpoint.pool),
        reserve=Reserve(voucher.price, voucher.max_claimable, voucher.signature.hex()),
    )


def settled_offer(offer: Offer, authorization: Authorization) -> Offer:
    """What the chain shows once a payment is settled: the offer; of a deposit its amount, paid to the collector."""
    if not isinstance(authorization, Deposit):
        return offer
    return msgspec.structs.replace(offer, amount=authorization.amount, pay_to=authorization.pay_to)


def _bare(payment: Payment) -> bytes:
    """The payment as a facilitator needs it, without the extensions that the client echoes, which may be long."""
    return msgspec.json.encode(msgspec.structs.replace(payment, resource=None, extensions=None))
