"""Channels as this process offers them: the claimer writes to the ledger on which terms, and when it looked at the chain."""

import logging
import time
from collections.abc import Collection

from api.payment.health import Health
from api.payment.periodic_task import PeriodicTask
from api.payment.rails import ConfiguredRail, facilitator_of
from api.redis_client import Commands, RedisLost, RedisRefused
from shared.ledger.channels import WATCH, Looked, behind
from shared.ledger.keys import bucket_of_payer
from shared.networks import NETWORKS
from shared.settings.rails import EvmRailSettings, configured_token
from shared.settings.service import Settings
from shared.x402 import evm_channel
from shared.x402.networks import Rail
from shared.x402.wire import SupportedKind

log = logging.getLogger(__name__)

EVERY_S = 1.0


class ChannelHealth(Health):
    """The health of channels: the facilitator's word for whether deposits are settled, the claimer's for the terms."""

    HELD = "the claimer does not look at the chain"
    unwatched: Collection[int] = ()
    """Buckets of the ledger whose channels the claimer does not look at, while it looks at others."""

    def is_held_for(self, payer: str) -> bool:
        return self.is_held or bucket_of_payer(self._network, payer) in self.unwatched

    def _hear(self, kind: SupportedKind) -> None:
        """A facilitator that offers to sign claims itself is not believed: it would sign for whoever asks it."""


class ChannelWatch(PeriodicTask):
    """Reads what the claimer writes. Channels are not offered, and no voucher is taken, while it does not look at the chain."""

    def __init__(self, redis: Commands, rail: ConfiguredRail, settings: Settings) -> None:
        super().__init__("channel-watch", every_s=EVERY_S, at_once=1)
        own = settings.rails["evm"]
        assert isinstance(own, EvmRailSettings)
        self._redis = redis
        assert isinstance(rail.health, ChannelHealth)
        self._health = rail.health
        self._network = own.network
        self._stale_s = own.channels_stale_s
        self._watched_s = 0.0
        """When the claimer looked last, in Unix seconds."""
        self._behind: dict[int, Looked] = {}

    async def run_once(self) -> int:
        """Read once. Raises RedisLost and RedisRefused."""
        try:
            fields = await self._redis.call(
                "HMGET", WATCH, "network", "authorizer", "withdraw_delay", "min_deposit", "watched_at", "behind"
            )
        except (RedisLost, RedisRefused):
            # The other servers of the ledger may still take vouchers.
            self._judge()
            raise
        network, authorizer, delay, least, watched_at = (field and field.decode() for field in fields[:-1])
        self._watched_s = int(watched_at or 0) / 1000 if network == self._network else 0.0
        self._behind = behind(fields[-1])
        self._judge()
        if network == self._network:
            terms = {"receiverAuthorizer": authorizer, "withdrawDelay": int(delay), "minDeposit": least}
            self._health.heed(terms)
        return 0

    def _judge(self) -> None:
        oldest_s = time.time() - self._stale_s
        self._health.unwatched = {bucket for bucket, looked in self._behind.items() if looked.at_ms / 1000 < oldest_s}
        self._health.hold(is_held=self._watched_s < oldest_s)


def channel_rail(settings: Settings, rails: tuple[ConfiguredRail, ...]) -> ConfiguredRail | None:
    """Channels on Base, where the settings have them and calls are sold there. They go to the facilitator of that rail.

    Nothing is offered before the claimer has written the terms.
    """
    own = settings.rails["evm"]
    assert isinstance(own, EvmRailSettings)
    if not own.has_channels:
        return None
    exact = next((rail for rail in rails if rail.rail is Rail.BASE), None)
    if exact is None:
        return None
    # A client of its own: deposits and payments fail independently.
    facilitator = facilitator_of(own, settings.settle_timeout_s)
    health = ChannelHealth(Rail.BASE, facilitator, scheme=evm_channel.SCHEME, network=own.network)
    return ConfiguredRail(
        rail=Rail.BASE,
        verifier=evm_channel,
        token=configured_token(NETWORKS["evm"].tokens[Rail.BASE], own.network, "evm"),
        pay_to=own.pay_to,
        facilitator=facilitator,
        health=health,
        scheme=evm_channel.SCHEME,
    )
