"""The objects of the process that all paid calls share."""

from dataclasses import dataclass

from api.disk import Disk
from api.dispatch import Dispatcher
from api.long_bodies import LongBodies
from api.payment.binding import Binder
from api.payment.fingerprint import Fingerprinter
from api.payment.ledger import Ledger
from api.payment.limits import Limits
from api.payment.price_lists import PriceLists
from api.payment.unrecorded import UnrecordedSettlements
from api.status.counter import StatusCounter
from jobs.site import Site
from shared.sealing.answers import AnswerSealer
from shared.sealing.sealing import Sealer


@dataclass(frozen=True, slots=True)
class Services:
    """Built once by api/app.py and shared by all endpoints."""

    ledger: Ledger
    unrecorded: UnrecordedSettlements
    dispatcher: Dispatcher
    fingerprint: Fingerprinter
    limits: Limits
    long_bodies: LongBodies
    payments: Sealer
    disk: Disk
    binder: Binder
    answers: AnswerSealer
    site: Site
    price_lists: PriceLists
    status: StatusCounter
    undelivered_ms: int = 0
    """How long an answer that could not be delivered waits for the payer's next payment for the same request."""
    base_url: str = ""
    """Public address of the API."""
    logs_calls: bool = False
    """Whether answered calls leave a line in the log, too."""
