"""The EVM rail: settles EIP-3009 authorizations from our settler account."""

import asyncio
import logging
import os
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from facilitator.balance import ETH, BalanceMonitor
from facilitator.json_rpc import NODE_ERRORS, JsonRpcNode, NodeFailures
from facilitator.rail import Rail
from facilitator.rails.evm.account import SettlerAccount
from facilitator.rails.evm.calldata import MULTICALL3, MULTICALL3_HASH
from facilitator.rails.evm.channels import ChannelRelay
from facilitator.rails.evm.costs import Costs
from facilitator.rails.evm.evidence import Authorizations, parse_id
from facilitator.rails.evm.finality import INCLUDED, Finality
from facilitator.rails.evm.gas_budget import GasBudget
from facilitator.rails.evm.groups import MOST_IN_GROUP, Groups
from facilitator.rails.evm.in_flight import InFlight
from facilitator.rails.evm.isolation import Isolation
from facilitator.rails.evm.journal import Journal, refuse_other_layout
from facilitator.rails.evm.node import bytes_of, number_of
from facilitator.rails.evm.outcomes import Outcomes
from facilitator.rails.evm.prices import Prices
from facilitator.rails.evm.reorgs import ReorgMonitor
from facilitator.rails.evm.settlements import Settlements
from facilitator.rails.evm.signing import Signer
from facilitator.rails.evm.simulation import Simulator
from facilitator.rails.evm.transaction import Payment
from facilitator.rails.evm.watcher import Watcher
from facilitator.settling import CannotStart
from shared.nodes.json_rpc import Call
from shared.settings.rails import EvmRailSettings, configured_token
from shared.settings.secret_files import read_key
from shared.settings.service import InvalidSetting, Settings
from shared.x402 import evm, evm_channel, evm_channel_ids, settlement_cost
from shared.x402.evm import EvmAuthorization, checksummed, keccak256
from shared.x402.networks import EVM_USDC, EvmToken
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Evidence, FacilitatorCall, Settlement, Verification

log = logging.getLogger(__name__)

SETTLEMENT_GAS = 100_000
"""The gas that one settlement may take."""
READ_EVERY_S, READ_SOON_S = 60.0, 5.0
WATCH_EVERY_S = 2.0
READ_PRICE_EVERY_S = 10.0
"""While nothing is settled. A settlement reads a price that is older than PRICE_AGE_S."""


class EvmRail(Rail[EvmAuthorization]):
    """One token on one EVM network.

    The way of a payment: `settlements` puts it into the queue `arrivals`; `groups` checks it and composes a transaction;
    `account` numbers, signs and sends that, and leaves it in `in_flight`; `watcher` finds its receipt; `outcomes` ends the
    payment, or puts it into the queue again.

    Args:
        rpc_url: JSON-RPC node.
        settler_key: 32 bytes, of the account that pays the gas.
        most_for_gas: wei that a unit of gas may cost.
        low_balance: wei of that account below which the log warns.
        ether_price: whole tokens for an ether; 0: gas costs nothing.
        cost_share: the part of a payment that its settlement may cost; None: any.
        batch: payments in one transaction.
        spacing_s: between two transactions.
        finality: of facilitator/rails/evm/finality.py.
        journal: file of what is under way; None: there is none.
        factories: contracts, in lower case, that may deploy a wallet with its first payment.
        channels_of: the recipient whose channels are served, too; empty: none are.
    """

    node_errors = NODE_ERRORS

    def __init__(
        self,
        token: EvmToken,
        rpc_url: str,
        settler_key: bytes,
        *,
        most_for_gas: int,
        low_balance: int,
        ether_price: Fraction = Fraction(0),
        cost_share: Fraction | None = None,
        batch: int = MOST_IN_GROUP,
        spacing_s: float = 0.1,
        finality: str = INCLUDED,
        journal: Path | None = None,
        channels_of: str = "",
        factories: frozenset[str] = frozenset(),
    ) -> None:
        self.token, self.network = token, token.network
        self._factories = factories
        # What reads the chain.
        self._node = node = JsonRpcNode(rpc_url)
        self._signer = signer = Signer(settler_key, token.chain_id)
        self._authorizations = Authorizations(node, token)
        self._simulator = Simulator(node, token, signer.address)
        self._prices = Prices(node, most_for_gas)
        self._balance_monitor = BalanceMonitor(
            f"the settler account {checksummed(signer.address)}",
            ETH,
            shortage=": not enough for the gas of a settlement",
            read=self._read_balance,
            needed=lambda: SETTLEMENT_GAS * self._prices.last.bid().max_fee + self._prices.l1_fee.wei,
            low=low_balance,
            read_every_s=READ_EVERY_S,
            read_soon_s=READ_SOON_S,
        )
        # What is under way.
        arrivals: asyncio.Queue[Payment] = asyncio.Queue()
        self._in_flight = in_flight = InFlight()
        self._journal = Journal(journal, signer, token)
        # What bounds losses.
        self._budget = GasBudget(batch)
        self._costs = Costs(self._prices, ether_price * 10**token.decimals, cost_share)
        self._reorg_monitor = ReorgMonitor()
        isolation = Isolation()
        # What acts, each on those above it.
        outcomes = Outcomes(
            node, self._authorizations, self._budget, self._costs, self._reorg_monitor, isolation, arrivals
        )
        self._account = SettlerAccount(node, signer, self._prices, self._balance_monitor, self._journal, in_flight)
        self._watcher = Watcher(node, Finality.parse(finality), in_flight, self._account, outcomes)
        self._groups = Groups(
            token.address,
            spacing_s,
            arrivals=arrivals,
            simulator=self._simulator,
            budget=self._budget,
            costs=self._costs,
            isolation=isolation,
            in_flight=in_flight,
            account=self._account,
            outcomes=outcomes,
        )
        self._settlements = Settlements(arrivals, in_flight, self._account, self._reorg_monitor)
        self._channels = channels_of and ChannelRelay(
            token,
            channels_of,
            signer.address,
            node=node,
            simulator=self._simulator,
            settlements=self._settlements,
            account=self._account,
        )
        if self._channels:
            self.schemes = (*self.schemes, evm_channel.SCHEME)

    @property
    def signers(self) -> Mapping[str, tuple[str, ...]]:
        """The account that sends settlements."""
        return {"eip155:*": (checksummed(self._signer.address),)}

    @property
    def unavailable_reason(self) -> str:
        monitors = (self._balance_monitor, self._prices, self._reorg_monitor)
        return next((one.unavailable_reason for one in monitors if one.unavailable_reason), "")

    @property
    def terms(self) -> dict[str, Any] | None:
        """What a settlement costs now, for whoever sells through it."""
        cost = self._costs.of_one
        return None if cost is None else {settlement_cost.KEY: str(cost)}

    @property
    def counts(self) -> Mapping[str, int]:
        """Gas that made payments, gas that made none, and lines of the journal that could not be used at the start."""
        budget, dropped = self._budget, self._journal.dropped
        return {"paid_gas": budget.paid, "burnt_gas": budget.burnt, "dropped_journal_lines": dropped}

    async def start(self) -> None:
        """Connect. Raises InvalidSetting when the node serves another chain, CannotStart, and what is in NODE_ERRORS."""
        chain_id = number_of(await self._node.ask("eth_chainId"))
        if chain_id != self.token.chain_id:
            raise InvalidSetting(f"the node serves chain {chain_id}, not {self.token.chain_id}")
        if self._budget.largest > 1 or self._factories:
            code = bytes_of(await self._node.ask("eth_getCode", MULTICALL3, "latest"))
            if keccak256(code) != MULTICALL3_HASH:
                log.warning("%s has no Multicall3: payments are settled one by one", self.network)
                self._budget.largest, self._factories = 1, frozenset()
        if self._channels:
            contracts = (evm_channel_ids.CONTRACT, evm_channel_ids.COLLECTOR)
            codes = await self._node.ask_all([Call("eth_getCode", (one, "latest")) for one in contracts])
            if not all(bytes_of(code) for code in codes):
                raise CannotStart(f"{self.network} has no contract of channels: set COINSLOT_EVM_CHANNELS to off")
        self._journal.open()
        self._settlements.restore(await self._account.start())
        await self._balance_monitor.read()
        loops = (self._watch(), self._watcher.run(), self._groups.check_forever(), self._groups.send_forever())
        self._tasks = [asyncio.create_task(loop) for loop in loops]
        self._in_flight.look_soon()

    async def stop(self) -> None:
        await self._settlements.finish()
        if self._channels:
            await self._channels.finish()
        await self._end_tasks()
        await self._node.close()
        self._journal.close()

    async def verify(self, call: FacilitatorCall) -> Verification:
        if self._channels and call.payment_requirements.scheme == evm_channel.SCHEME:
            return await self._channels.verify(call)
        return await super().verify(call)

    async def settle(self, call: FacilitatorCall) -> Settlement:
        if self._channels and call.payment_requirements.scheme == evm_channel.SCHEME:
            return await self._channels.settle(call)
        return await super().settle(call)

    async def evidence(self, payment_id: str) -> Evidence | None:
        """What the chain says of one authorization; None when the id is not one of this token."""
        named = parse_id(payment_id, self.token)
        return await self._authorizations.evidence(named.payer, bytes.fromhex(named.nonce)) if named else None

    def _check(self, call: FacilitatorCall) -> EvmAuthorization:
        offer = call.payment_requirements
        if offer.asset.lower() != self.token.address.lower():
            raise PaymentRefused("invalid_payment_requirements")
        if (offer.extra.get("name"), offer.extra.get("version")) != (self.token.name, self.token.version):
            raise PaymentRefused("missing_eip712_domain")
        if not evm.is_payable(offer):
            raise PaymentRefused("invalid_payment_requirements")
        return evm.check(offer, call.payment_payload.payload, self._factories)

    async def _simulate(self, call: FacilitatorCall, payment: EvmAuthorization) -> None:
        simulated = Payment(payment)
        (verdict,) = await self._simulator.check([simulated])
        if verdict is not None:
            raise verdict
        await self._prices.now()
        self._costs.check(simulated)

    async def _settle(self, call: FacilitatorCall, payment: EvmAuthorization) -> Settlement:
        return await self._settlements.settle(payment)

    def _named_payer(self, call: FacilitatorCall) -> str | None:
        authorization = call.payment_payload.payload.get("authorization")
        payer = authorization.get("from") if isinstance(authorization, dict) else None
        return payer if isinstance(payer, str) else None

    async def _read_balance(self) -> int:
        """The balance, and with it the price of gas and of data on L1."""
        await self._prices.now()
        questions = [
            Call("eth_getBalance", (checksummed(self._signer.address), "latest")),
            self._prices.l1_fee.question,
        ]
        balance, fee = await self._node.ask_all(questions)
        self._prices.l1_fee.take(fee)
        return number_of(balance)

    async def _watch(self) -> None:
        """Mend transactions that get into no block, and read the balance, whether or not somebody waits."""
        failures = NodeFailures(self.network, NODE_ERRORS)
        while True:
            await asyncio.sleep(WATCH_EVERY_S)
            with failures.swallowed():
                if self._account.is_overdue:
                    await self._account.mend()
                if self._prices.age_s > READ_PRICE_EVERY_S:
                    await self._prices.now()
                if self._prices.unavailable_reason:
                    self._balance_monitor.read_soon()
                if self._balance_monitor.is_due:
                    await self._balance_monitor.read()


def rail(settings: Settings, name: str) -> EvmRail:
    """Raises InvalidSetting."""
    own = settings.rails[name]
    assert isinstance(own, EvmRailSettings)
    return EvmRail(
        configured_token(EVM_USDC, own.network, name),
        own.rpc_url,
        read_key(own.settler_key_file),
        most_for_gas=_atomic(own.max_fee_gwei, 9),
        low_balance=_atomic(own.low_balance_eth, 18),
        ether_price=Fraction(repr(own.ether_price)),
        cost_share=settings.cost_share,
        batch=own.batch,
        spacing_s=own.spacing_ms / 1000,
        finality=own.finality,
        journal=_journal(own, name),
        channels_of=own.pay_to if own.has_channels else "",
        factories=own.factories,
    )


def _journal(settings: EvmRailSettings, name: str) -> Path | None:
    """The rail's journal; None when no file is set and none can be made beside the key.

    Raises:
        InvalidSetting: it cannot be written where the settings say, or was written by a version that this one does not
            understand.
    """
    path = settings.journal_path
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    except OSError as error:
        variable = f"COINSLOT_{name.upper()}_JOURNAL_FILE"
        if settings.journal_file:
            raise InvalidSetting(f"{variable}: {path} cannot be written: {error.strerror}") from None
        log.warning(
            "no journal, because %s cannot be written: %s. %s may name another file", path, error.strerror, variable
        )
        return None
    refuse_other_layout(path)
    return path


def _atomic(amount: float, decimals: int) -> int:
    """The amount in the smallest unit, exactly as the setting writes it."""
    return int(Decimal(repr(amount)).scaleb(decimals))
