"""What is true now, for Prometheus: queues and workers, payments, rails, and the accounts that pay for settlements.

Each function reads one source. It raises RedisError or NoAnswer when the source does not answer.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import redis
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from ops.channels import summary
from ops.queries import api_place, count_of, get_json, read_pools
from ops.settlement_costs import SettlementCost, settlement_costs
from shared.ledger.keys import LOST, OPEN, RECHECK, RECORDS, REFUNDABLE
from shared.observability.status import QUANTILES, RESULTS, WINDOWS, summed
from shared.queue.pool_states import PoolState
from shared.servers.ledger_servers import ask_each_bucket
from shared.settings.rails import EvmRailSettings, RailSettings
from shared.settings.secret_files import read_headers
from shared.settings.service import Settings

TIMEOUT_S = 2.0
"""For an answer over HTTP. Prometheus gives up after 10 s by default."""
MOST_OPEN = 20_000
"""Open payments whose state is read at each scrape, PAGE of each bucket. The states of more are not counted."""
PAGE = 1_000
OPEN_STATES = ("SETTLING", "UNKNOWN", "SETTLED", "REJECTED")
_BALANCE = re.compile(r"([0-9.]+) ([A-Z]+)")

Families = Iterator[CounterMetricFamily | GaugeMetricFamily]


class NoAnswer(Exception):
    """An HTTP service does not answer, or not as ours does."""


_POOL: tuple[tuple[str, str, Callable[[PoolState], float]], ...] = (
    ("coinslot_pool_depth", "Jobs that wait or run.", lambda state: state.depth),
    ("coinslot_pool_running", "Jobs that a worker has fetched.", lambda state: state.running),
    ("coinslot_pool_oldest_wait_seconds", "How long the oldest job has waited.", lambda state: state.waited_ms / 1000),
    ("coinslot_pool_workers", "Living worker processes.", lambda state: state.workers),
    ("coinslot_pool_available_workers", "Living worker processes whose ports work.", lambda state: state.available),
)


def pools(queue: redis.Redis) -> Families:
    """The pools, as the queue Redis has them."""
    states = read_pools(queue)
    for name, help_text, value in _POOL:
        family = GaugeMetricFamily(name, help_text, labels=["pool"])
        for pool, state in states.items():
            family.add_metric([pool], value(state))
        yield family


def payments(ledger: redis.Redis) -> Families:
    """How many payments are not at a good end, as the ledger has them."""
    family = GaugeMetricFamily("coinslot_open_payments", "Payments that are not at their end.", labels=["state"])
    counted: Counter[bytes | None] = Counter()
    listed: list[list[bytes]] = ask_each_bucket(ledger, lambda asked, bucket: asked.zrange(OPEN[bucket], 0, PAGE - 1))
    for bucket, ids in enumerate(listed):
        ids = ids[: max(0, MOST_OPEN - counted.total())]
        pipeline = ledger.pipeline(transaction=False)
        for payment_id in ids:
            pipeline.hget(RECORDS[bucket] + payment_id.decode(), "state")
        counted.update(pipeline.execute() if ids else ())
    for state in OPEN_STATES:
        family.add_metric([state.lower()], counted[state.encode()])
    yield family
    for name, index, help_text in (
        ("coinslot_refundable_payments", REFUNDABLE, "Payments that were charged and not answered within a day."),
        ("coinslot_lost_payments", LOST, "Payments that the chain took back."),
        ("coinslot_unchecked_payments", RECHECK, "Settled payments that are looked for on the chain once more."),
    ):
        yield GaugeMetricFamily(name, help_text, value=count_of(ledger, index))


def channels(ledger: redis.Redis, settings: Settings) -> Families:
    """What channels owe, and the settings that say when that is too much. No series without channels."""
    own = settings.evm
    found = summary(ledger, own)
    if found is None:
        return
    for name, value, help_text in (
        ("coinslot_channels", found.open, "Channels."),
        ("coinslot_channel_unclaimed_usdc", found.unclaimed / 1e6, "What was charged and not claimed, in USDC."),
        ("coinslot_channel_oldest_unclaimed_seconds", found.oldest_s, "Age of the oldest charge that is not claimed."),
        ("coinslot_channels_leaving", found.leaving, "Channels whose payers withdraw while they owe something."),
        ("coinslot_channel_leaving_seconds", found.leaving_s, "Since when the first of them."),
        ("coinslot_channels_frozen", found.frozen, "Channels that owe more than they hold."),
        ("coinslot_channels_not_worth_claiming", found.small, "Channels whose claim is due and not worth its gas."),
        ("coinslot_channel_claim_within_seconds", own.claim_within_s, "How old a charge may be."),
        ("coinslot_channel_withdraw_delay_seconds", own.withdraw_delay_s, "How long a withdrawal takes."),
    ):
        yield GaugeMetricFamily(name, help_text, value=value)
    if own.has_channels or found.unclaimed:
        age = float("inf") if found.watch_age_s is None else found.watch_age_s
        yield GaugeMetricFamily(
            "coinslot_channel_watch_age_seconds", "Since the claimer looked at the chain.", value=age
        )
        help_text = "When no voucher is taken any more."
        yield GaugeMetricFamily("coinslot_channel_stale_seconds", help_text, value=own.channels_stale_s)


def calls(ledger: redis.Redis) -> Families:
    """How new paid calls ended, over the times that /status shows, as all API processes have counted it."""
    labels, now = ["endpoint", "rail", "window"], time.time()
    ended = GaugeMetricFamily("coinslot_status_calls", "New paid calls, by how they ended.", labels=[*labels, "result"])
    seconds = GaugeMetricFamily(
        "coinslot_status_seconds", "Within which the answered ones were answered.", labels=[*labels, "quantile"]
    )
    failed = GaugeMetricFamily(
        "coinslot_status_last_failure_timestamp_seconds",
        "When a call last ended for a cause.",
        labels=["endpoint", "rail", "cause", "result"],
    )
    unknown = GaugeMetricFamily(
        "coinslot_status_unknown_seconds", "Of a window, in which no API process counted.", labels=["window"]
    )
    for window in WINDOWS:
        with ledger.pipeline(transaction=False) as pipeline:
            for key in window.keys(now):
                pipeline.hvals(key)
            tally = summed(chain.from_iterable(pipeline.execute()))
        known_s, whole_s = tally.known(window, now)
        unknown.add_metric([window.name], whole_s - known_s)
        for (endpoint, rail), cell in tally.cells.items():
            for result in RESULTS:
                ended.add_metric([endpoint, rail, window.name, result], cell.count(result))
            for quantile in QUANTILES:
                if (value := cell.quantile(quantile)) is not None:
                    seconds.add_metric([endpoint, rail, window.name, str(quantile)], value)
            for (result, cause), failures in cell.failures.items() if window is WINDOWS[-1] else ():
                failed.add_metric([endpoint, rail, cause, result], failures.last)
    yield from (ended, seconds, failed, unknown)


def rails(settings: Settings) -> Families:
    """The state of this machine's API."""
    answer = _asked(f"{api_place(settings)}/readyz")
    yield GaugeMetricFamily("coinslot_ready", "Whether the API is ready.", value=int(answer["ok"]))
    family = GaugeMetricFamily("coinslot_rail_up", "Whether a rail takes payments.", labels=["rail"])
    for name, works in answer["checks"].items():
        if name.startswith("facilitator:"):
            family.add_metric([name.removeprefix("facilitator:")], int(works))
    yield family
    costs: tuple[tuple[str, str, Callable[[SettlementCost], float]], ...] = (
        ("coinslot_settlement_cost", "What a settlement costs us, in tokens.", lambda one: float(one.cost)),
        ("coinslot_least_price", "What a call has to cost to be worth it.", lambda one: float(one.least_price)),
        ("coinslot_calls_too_cheap", "Endpoints that cost less.", lambda one: len(one.too_cheap)),
    )
    for name, help_text, value in costs:
        family = GaugeMetricFamily(name, help_text, labels=["rail"])
        for one in settlement_costs(answer):
            family.add_metric([one.rail], value(one))
        yield family


def settlers(settings: Settings) -> Families:
    """The accounts that pay for settlements, and gas, as our facilitator reports them. There are none on the XRP Ledger."""
    balances = GaugeMetricFamily("coinslot_settler_balance", "What a settling account has.", labels=["network", "unit"])
    lows = GaugeMetricFamily("coinslot_settler_low_balance", "Below it the log warns.", labels=["network", "unit"])
    able = GaugeMetricFamily("coinslot_settler_able", "Whether our facilitator can settle.", labels=["network"])
    gas = CounterMetricFamily("coinslot_settlement_gas_total", "Gas of settlements.", labels=["network", "use"])
    answers: dict[tuple[str, str], dict[str, Any]] = {}
    for network, rail in _settled_by_us(settings).items():
        facilitator = (f"{rail.facilitator_url}/healthz", rail.facilitator_headers_file)
        if facilitator not in answers:
            answers[facilitator] = _asked(*facilitator)
        of_network = answers[facilitator]["rails"].get(network, {})
        able.add_metric([network], int(not of_network.get("reason")))
        if found := _BALANCE.fullmatch(of_network.get("balance", "")):
            balances.add_metric([network, found[2]], float(found[1]))
        if isinstance(rail, EvmRailSettings):
            lows.add_metric([network, "ETH"], rail.low_balance_eth)
            for use in ("paid", "burnt"):
                gas.add_metric([network, use], of_network.get("counts", {}).get(f"{use}_gas", 0))
    yield from (balances, lows, able, gas)


def _settled_by_us(settings: Settings) -> dict[str, RailSettings]:
    """The rails whose facilitator is ours, by network."""
    return {rail.network: rail for rail in settings.rails.values() if rail.pay_to and rail.rpc_url}


def _asked(url: str, headers_file: str = "") -> dict[str, Any]:
    _, answer = get_json(url, read_headers(headers_file), timeout_s=TIMEOUT_S)
    if answer is None:
        raise NoAnswer
    return answer
