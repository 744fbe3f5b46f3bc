"""What every rail of this process does. facilitator/rails/ has one module for each network's way of paying."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from shared.x402.wire import Evidence, FacilitatorCall, Settlement, SupportedKind, Verification


class Rail(Protocol):
    """One network on which payments are settled."""

    @property
    def network(self) -> str:
        """CAIP-2. No two rails have the same."""

    @property
    def kinds(self) -> Sequence[SupportedKind]:
        """What /supported says of it: nothing while it cannot settle, so that it is not offered."""

    @property
    def signers(self) -> Mapping[str, tuple[str, ...]]:
        """The accounts that send or pay for settlements, by network pattern: ``{"eip155:*": ("0x…",)}``."""

    @property
    def unavailable_reason(self) -> str:
        """Why nothing can be settled now; empty when it can."""

    @property
    def balance(self) -> str:
        """What the account that pays for settlements has, with its unit: ``0.25 ETH``. Empty where payers pay for them."""

    async def start(self) -> None:
        """Connect. What it raises because the node does not answer is no end: it is started again later.

        Raises:
            InvalidSetting: the node serves another network: settling there would be settling nothing.
        """

    async def stop(self) -> None:
        """Wait for what is being settled, then close the connections. Also after a start that failed."""

    async def verify(self, call: FacilitatorCall) -> Verification:
        """Whether the payment would settle now. Changes nothing."""

    async def settle(self, call: FacilitatorCall) -> Settlement:
        """Settle the payment, or say how it was settled before. The same payment twice is one transaction.

        Never raises. When it did not succeed, `error_reason` says how sure that is: ``settlement_pending``, with the
        transaction, when one may be on its way; ``unexpected_settle_error`` when none of ours is, and the chain cannot be
        asked; any other reason only when this payment did not settle and nothing of it was sent.
        """

    async def evidence(self, payment_id: str) -> Evidence | None:
        """What the chain says of one payment, known by its id alone; None when the id is not one of this rail's.

        ``settled`` only with the recipient and the amount that the chain shows, in the form that an offer has them.
        """
