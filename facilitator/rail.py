"""What every rail of this process does. facilitator/rails/ has one folder for each kind of network."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from facilitator import results
from facilitator.balance import BalanceMonitor
from facilitator.settling import CannotSend, require_ours
from shared.x402.authorization import Authorization
from shared.x402.exact import SCHEME
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import X402_VERSION, Evidence, FacilitatorCall, Settlement, SupportedKind, Verification

A = TypeVar("A", bound=Authorization)


class Rail(ABC, Generic[A]):
    """One network on which payments are settled. What is said here is not repeated in the rails.

    Attributes:
        node_errors: what a call to its node raises when that does not answer, or not as it should.
        network: CAIP-2. No two rails have the same.
        schemes: of the payments that it settles.
    """

    network: str
    _balance_monitor: BalanceMonitor
    _tasks: Sequence[asyncio.Task[None]] = ()

    node_errors: ClassVar[tuple[type[Exception], ...]]
    schemes: tuple[str, ...] = (SCHEME,)

    @property
    def kinds(self) -> Sequence[SupportedKind]:
        """Its entries of /supported. There are none while it cannot settle, so that it is not offered."""
        if self.unavailable_reason:
            return ()
        return tuple(
            SupportedKind(x402_version=X402_VERSION, scheme=scheme, network=self.network, extra=self.terms)
            for scheme in self.schemes
        )

    @property
    def terms(self) -> dict[str, Any] | None:
        """What clients need to know beside the network: the entry's `extra`. It is only read while the rail can settle."""
        return None

    @property
    def signers(self) -> Mapping[str, tuple[str, ...]]:
        """The accounts that send or pay for settlements, by network pattern: ``{"eip155:*": ("0x…",)}``."""
        return {}

    @property
    @abstractmethod
    def unavailable_reason(self) -> str:
        """Why nothing can be settled now; empty when it can."""

    @property
    def balance(self) -> str:
        """What the account that pays for settlements has, with its unit: ``0.25 ETH``. Empty where payers pay the fees."""
        return self._balance_monitor.balance

    @property
    def counts(self) -> Mapping[str, int]:
        """What it has counted since it was started, by name, for /healthz."""
        return {}

    @abstractmethod
    async def start(self) -> None:
        """Connect.

        Raises:
            InvalidSetting: the node serves another network.
            CannotStart: something else than the node is at fault. The rail is started again later.
            Any other exception: the node did not answer. The rail is started again later.
        """

    @abstractmethod
    async def stop(self) -> None:
        """Wait for the settlements under way, then disconnect. It also works after a start that failed."""

    async def _end_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def verify(self, call: FacilitatorCall) -> Verification:
        """Whether the payment would settle now. It sends nothing."""
        unknown: tuple[type[Exception], ...] = (CannotSend, *self.node_errors)
        payer = self._named_payer(call)
        try:
            payment = self._checked(call)
            payer = payment.payer
            await self._simulate(call, payment)
        except PaymentRefused as refused:
            return results.invalid(refused.reason, payer)
        except unknown as error:
            return results.unverified(error)
        return results.valid(payment)

    async def settle(self, call: FacilitatorCall) -> Settlement:
        """Settle the payment, or say how it was settled before. The same payment twice gives one transaction. Never raises.

        Without success, `error_reason` says what is known. ``settlement_pending`` comes with a transaction that was sent and
        may still settle the payment. ``unexpected_settle_error`` means that we sent nothing, and that the chain does not
        answer or takes nothing now. Any other reason means that this payment did not settle and that nothing was sent.
        """
        try:
            payment = self._checked(call)
        except PaymentRefused as refused:
            return results.failed(self.network, refused.reason, self._named_payer(call))
        return await self._settle(call, payment)

    @abstractmethod
    async def evidence(self, payment_id: str) -> Evidence | None:
        """What the chain shows of one payment id; None when the id is not one of this rail's.

        A ``settled`` one has the recipient and the amount that the chain shows, in the form that an offer has them.
        """

    def _checked(self, call: FacilitatorCall) -> A:
        require_ours(call, self.network)
        return self._check(call)

    @abstractmethod
    def _check(self, call: FacilitatorCall) -> A:
        """The payment, which pays the offer as far as that can be known offline. Raises PaymentRefused."""

    @abstractmethod
    async def _simulate(self, call: FacilitatorCall, payment: A) -> object:
        """Ask the chain whether the payment would settle now.

        Raises:
            PaymentRefused: it would not.
            CannotSend: the payment is not at fault.
            What is in `node_errors`.
        """

    @abstractmethod
    async def _settle(self, call: FacilitatorCall, payment: A) -> Settlement:
        """Settle a checked payment, once however many callers ask for it. Never raises."""

    def _named_payer(self, call: FacilitatorCall) -> str | None:
        """The payer that an unchecked payload names, where it names one."""
        return None
