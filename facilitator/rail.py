"""What every rail of this process does. facilitator/rails/ has one folder for each kind of network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from shared.x402.wire import Evidence, FacilitatorCall, Settlement, SupportedKind, Verification


class Rail(Protocol):
    """One network on which payments are settled. What is said here is not repeated in the rails."""

    @property
    def network(self) -> str:
        """CAIP-2. No two rails have the same."""

    @property
    def kinds(self) -> Sequence[SupportedKind]:
        """Its entries of /supported. There are none while it cannot settle, so that it is not offered."""

    @property
    def signers(self) -> Mapping[str, tuple[str, ...]]:
        """The accounts that send or pay for settlements, by network pattern: ``{"eip155:*": ("0x…",)}``."""

    @property
    def unavailable_reason(self) -> str:
        """Why nothing can be settled now; empty when it can."""

    @property
    def balance(self) -> str:
        """What the account that pays for settlements has, with its unit: ``0.25 ETH``. Empty where payers pay the fees."""

    @property
    def counts(self) -> Mapping[str, int]:
        """What it has counted since it was started, by name, for /healthz. Empty where nothing is counted."""

    async def start(self) -> None:
        """Connect.

        Raises:
            InvalidSetting: the node serves another network.
            CannotStart: something else than the node is at fault. The rail is started again later.
            Any other exception: the node did not answer. The rail is started again later.
        """

    async def stop(self) -> None:
        """Wait for the settlements under way, then disconnect. It also works after a start that failed."""

    async def verify(self, call: FacilitatorCall) -> Verification:
        """Whether the payment would settle now. It sends nothing."""

    async def settle(self, call: FacilitatorCall) -> Settlement:
        """Settle the payment, or say how it was settled before. The same payment twice gives one transaction. Never raises.

        Without success, `error_reason` says what is known. ``settlement_pending`` comes with a transaction that was sent and
        may still settle the payment. ``unexpected_settle_error`` means that we sent nothing, and that the chain does not
        answer or takes nothing now. Any other reason means that this payment did not settle and that nothing was sent.
        """

    async def evidence(self, payment_id: str) -> Evidence | None:
        """What the chain shows of one payment id; None when the id is not one of this rail's.

        A ``settled`` one has the recipient and the amount that the chain shows, in the form that an offer has them.
        """
