"""Buys under one version, stops it in the worst moment, and has the other version end what was begun: OLD, NEW, and OLD again;
then restarts one process after the other, in both directions, while calls are made, and restores a backup.
`scripts/upgrade-test OLD NEW`.

Chains, sites and queue stay as compose/embedded.py starts them. The ledger's server is restarted between versions.
"""

import argparse
import asyncio
import dataclasses
import itertools
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import aiohttp
import msgspec
import redis

from compose.embedded import Embedded, embed
from compose.sandbox.child import claim_port
from compose.sandbox.redis_server import RedisServer, start_redis
from shared.ledger.channels import is_voucher
from shared.ledger.keys import OPEN, RERUN_MS, bucket_of, record_key
from shared.x402.networks import Rail
from tests.chaos.caller import Caller, calling
from tests.chaos.history import History, read_history
from tests.time_limits import patience
from tests.upgrade.buying import END_WITHIN_S, Buying, said
from tests.upgrade.purchases import FAILS, RAILS, Shop
from tests.upgrade.revision import Revision
from tests.upgrade.verdict import wrong_channel, wrong_money, wrong_payments

FAILPOINTS = ("claimed", "before-settle", "facilitator-answered", "settled", "enqueued", "reply-received")
"""Where API processes of the first version are killed, each with DYING calls in flight."""
DYING = 8
IN_FLIGHT = 48
"""Payments that are signed when all processes are killed. A quarter is not sent before the next version runs."""
AGED = 3
"""Charged calls without an answer that are made a day old: they are refundable under the next version."""
LOAD = (Rail.BASE, Rail.BASE, Rail.BASE, Rail.SOLANA, Rail.STELLAR)
"""The rails of those who buy during a rolling restart. A payment on the XRP Ledger is valid for a number of ledgers, of which
the sandbox closes four in the time of one: it might lapse while the facilitator is replaced."""
PASSING = frozenset({"facilitator_unreachable", "rail_down", "settling_given_up"})
"""Causes of an uncharged 503 after which a payment is sent again: there is one facilitator, which stops before its successor
starts."""
FORWARD: tuple[tuple[str, ...], ...] = ((),)
BACK = (("api",), ())
"""The orders of `coinslot-ops restart`: the API is the last to be updated, and the first to go back (docs/operations.md)."""


class Upgrade(Buying):
    """One run.

    Args:
        folder: of the answers that callers got.
    """

    def __init__(self, shop: Shop, revision: Revision, caller: Caller, embedded: Embedded, folder: Path) -> None:
        super().__init__(shop, caller)
        self._revision = revision
        self._settings = embedded.settings
        self._folder = folder
        self._held = {rail: Decimal(0) for rail in RAILS}
        self._aged: set[str] = set()
        self.restored_server: RedisServer | None = None

    async def first(self, checkout: Path, count: int) -> None:
        """So many payments, in every state, under the first version."""
        self._revision.install(checkout)
        await asyncio.to_thread(self._revision.start)
        self._held = await asyncio.to_thread(self.shop.held)
        self.channel = await asyncio.to_thread(self.shop.channel)
        poor = await asyncio.gather(*(asyncio.to_thread(self.shop.poor_purchase) for _ in range(5)))
        await self.ask(poor, self.bought)
        self.failing += [await asyncio.to_thread(self.shop.purchase, Rail.BASE, "rss", FAILS) for _ in range(5)]
        await self.ask(self.failing, [])
        await self.buy(count - len(poor) - len(self.failing) - len(FAILPOINTS) * DYING - IN_FLIGHT)
        for failpoint in FAILPOINTS:
            port = claim_port(0)
            with self._revision.dying_api(failpoint, port) as origin:
                await self._lose([Rail.BASE] * DYING, origin)
        await self._pull_the_plug(kills_facilitator=True)

    async def next(self, name: str, checkout: Path, count: int) -> None:
        """Another version ends what was begun, answers again what was answered, and sells; then it is killed, too."""
        began = time.monotonic()
        await asyncio.to_thread(self._restart_ledger)
        found = Counter(record.get("state", "") for record in self._history().records.values())
        self._revision.install(checkout)
        await asyncio.to_thread(self._revision.start)
        await self._end()
        await self.answer_again(name)
        await self.buy(count)
        print(f"{name}: found {dict(found)} and ended it in {time.monotonic() - began:.0f} s", flush=True)
        await self._pull_the_plug(kills_facilitator=False)

    async def rolling(self, name: str, checkout: Path, orders: Sequence[Sequence[str]]) -> None:
        """Replace one process after the other while calls are made, none of which may fail."""
        is_over = asyncio.Event()
        began, first, causes_before = time.monotonic(), len(self.bought), self._revision.causes()
        buying = [asyncio.create_task(self.keep_buying(rail, is_over)) for rail in LOAD]
        self._revision.install(checkout)
        for lines in orders:
            await asyncio.to_thread(self._revision.restart, *lines)
        is_over.set()
        await asyncio.gather(*buying)
        calls, causes = self.bought[first:], self._revision.causes() - causes_before
        for one in calls:
            self.resets += sum(answer.status == 0 for answer in one.answers)
            if one.end != 200 or any(answer.status not in (0, 200, 503) for answer in one.answers):
                self.violations.append(
                    f"{name}: a call failed: {one.payment} got {[said(answer) for answer in one.answers]}"
                )
        if causes.keys() - PASSING:
            self.violations.append(f"{name}: calls were refused: {dict(causes)}")
        if self.resets and _passes_connections_on():
            self.violations.append(f"{name}: {self.resets} connections were reset")
        print(
            f"{name}: {len(calls)} calls in {time.monotonic() - began:.0f} s; repeated for {dict(causes)}; not offered "
            f"{self.unoffered}; resets {self.resets}",
            flush=True,
        )
        await self.answer_again(name)

    async def restored(self, name: str, checkout: Path, var: Path) -> None:
        """Start a version on a copy of the ledger and the keys, which was made while calls ran, in another folder. Calls that
        were made after the copy are run again and not charged again, if their payments have not lapsed."""
        copy = var / "restored"
        with redis.Redis.from_url(self._settings.ledger_urls[0]) as ledger:
            ledger.config_set("auto-aof-rewrite-percentage", 0)  # its files are not replaced meanwhile
        before = asyncio.create_task(self.buy(40))
        await asyncio.sleep(0.3)
        await asyncio.to_thread(shutil.copytree, var / "sandbox" / "ledger", copy / "sandbox" / "ledger")
        key, journal = self._settings.key_file, Path(self._settings.evm.journal_file)
        for file in (key, key.with_name(f"{key.name}.ledger"), journal):
            shutil.copy(file, copy)
        await before
        later = [await self.buy_one(Rail.BASE, "echo") for _ in range(10)]
        await asyncio.to_thread(self._revision.stop)
        server = await asyncio.to_thread(start_redis, "ledger", copy)
        self.restored_server = server
        files = {"COINSLOT_KEY_FILE": key, "COINSLOT_EVM_JOURNAL_FILE": journal}
        self._revision.environment["COINSLOT_LEDGER_URL"] = server.url
        self._revision.environment |= {setting: str(copy / file.name) for setting, file in files.items()}
        self._settings = dataclasses.replace(self._settings, ledger_url=server.url)
        known = {name for name, record in self._history().records.items() if record.get("state") == "DONE"}
        unknown = [one for one in self.bought if one.end == 200 and one.payment not in known]
        self.unknown_to_copy = {one.payment for one in unknown}
        self._revision.install(checkout)
        await asyncio.to_thread(self._revision.start)
        valid = [one for one in unknown if one.valid_before > time.time() + 5]
        receipts = {one.payment: one.answers[-1].receipt for one in valid}
        await asyncio.gather(*(self.caller.insist(one, within_s=END_WITHIN_S) for one in valid))
        for one in valid:
            has_lapsed = one.end == 402 and one.payment.startswith("xrpl")  # after a number of ledgers
            if not has_lapsed and one.answers[-1].receipt != receipts[one.payment]:
                self.violations.append(f"{name}: {one.payment} was charged again: {said(one.answers[-1])}")
        await self.answer_again(name)
        if not {one.payment for one in later} <= self.unknown_to_copy:
            self.violations.append(f"{name}: the copy has what was made after it")
        print(
            f"{name}: {len(known)} answers in the copy; of {len(unknown)} later ones {len(valid)} had not lapsed",
            flush=True,
        )

    async def judge(self) -> None:
        """The invariants of the payments, and of the channel, against the chains."""
        await self._end()
        history = self._history()
        receipts = {answer.payment: answer.receipt for answer in history.answers if answer.receipt}
        moved = await self.shop.transfers(self._settings.evm.facilitator_url, receipts)
        settled_at = {entry.payment: entry.at for entry in history.journal if entry.event == "SETTLED"}
        moved = [msgspec.structs.replace(one, at=settled_at.get(one.payment, 0.0)) for one in moved]
        claims = await asyncio.to_thread(self.shop.claimed)
        held = await asyncio.to_thread(self.shop.held)
        received = {rail: has - self._held[rail] for rail, has in held.items()}
        self.violations += wrong_money(self.shop, moved, received, claims)
        self.violations += wrong_payments(self, history, moved)
        self.violations += wrong_channel(self, self._settings.ledger_urls[0], claims)
        ends = Counter(str(one.end) for one in self.bought)
        print(
            f"payments {len(self.bought) + len(self.failing)}, vouchers {len(self.vouchers)}; {len(moved)} moved money; "
            f"requests {len(history.answers)}; ends {dict(ends)}; refundable {len(history.refundable)}"
        )

    async def _lose(self, rails: Sequence[Rail], origin: str) -> None:
        """Send payments to one process, which dies of them."""
        made = await asyncio.gather(*(asyncio.to_thread(self.shop.purchase, rail) for rail in rails))
        self.bought += made
        async with calling(self._folder, [origin]) as caller:
            await asyncio.gather(*(caller.ask(one) for one in made))

    async def _pull_the_plug(self, *, kills_facilitator: bool) -> None:
        """Kill all processes while calls run."""
        rails = [(*[Rail.BASE] * 4, Rail.SOLANA, Rail.STELLAR)[number % 6] for number in range(IN_FLIGHT - 1)]
        made = await asyncio.gather(*(asyncio.to_thread(self.shop.purchase, rail) for rail in (*rails, Rail.XRPL_USDC)))
        self.bought += made
        sent = made[IN_FLIGHT // 4 :]
        asking = [asyncio.create_task(self.caller.ask(one)) for one in sent]
        if kills_facilitator:
            await asyncio.sleep(0.05)
            await asyncio.to_thread(self._revision.kill, "facilitator")
        for ended in itertools.islice(asyncio.as_completed(asking), len(asking) // 4):
            await ended
        await asyncio.to_thread(self._revision.pull_the_plug)
        await asyncio.gather(*asking)

    async def _end(self) -> None:
        """Every caller repeats its request until there is an end; of those whose payment was made old it is a refund."""
        waiting = [one for one in (*self.bought, *self.vouchers) if one.end is None and one.payment not in self._aged]
        await asyncio.gather(*(self.caller.insist(one, within_s=END_WITHIN_S, pause_s=0.5) for one in waiting))
        await self.ask([one for one in self.bought if one.payment in self._aged], [])
        self.violations += [f"{one.payment} has no end: {said(one.answers[-1])}" for one in waiting if one.end is None]
        answered = {one.payment for one in self.bought if one.end == 200}  # its job was still in the queue
        self.violations += [f"{name} is not refundable" for name in self._aged - answered - self._history().refundable]

    def _restart_ledger(self) -> None:
        """Restart the server of the ledger, as for a new version of it, and make some charged payments a day old."""
        with redis.Redis.from_url(self._settings.ledger_urls[0]) as ledger:
            records = self._history().records.items()
            charged = [name for name, record in records if record.get("state") == "SETTLED" and not is_voucher(name)]
            fresh = () if self._aged else charged[:AGED]
            self._aged.update(fresh)
            for name in fresh:
                settled = int(time.time() * 1000) - RERUN_MS - 60_000
                ledger.hset(record_key(name), "settled", settled)
                ledger.zadd(OPEN[bucket_of(name)], {name: 0})
            started = ledger.info("server")["run_id"]
            ledger.shutdown()
            give_up_at = time.monotonic() + patience(30)
            while time.monotonic() < give_up_at:
                try:
                    if ledger.info("server")["run_id"] != started and not ledger.info("persistence")["loading"]:
                        return
                except redis.RedisError:
                    time.sleep(0.05)
        raise AssertionError("the ledger's server is not started again")

    def _history(self) -> History:
        return read_history(self._folder, self._settings.ledger_urls[0], most_executions=8)


def _passes_connections_on() -> bool:
    """Whether Linux gives the connections that an ending process has not accepted to the other one of its port."""
    setting = Path("/proc/sys/net/ipv4/tcp_migrate_req")
    return setting.exists() and setting.read_text().strip() == "1"


async def _run(old: Path, new: Path, count: int, var: Path, embedded: Embedded) -> list[str]:
    settings = embedded.settings
    sandbox = json.loads((var / "sandbox.json").read_text())
    folder = var / "callers"
    folder.mkdir()
    (folder / "key").write_text(settings.key_file.read_text())
    environment = {name: value for name, value in os.environ.items() if name.startswith("COINSLOT_")}
    revision = Revision(var, environment | embedded.environment, settings.base_url)
    upgrade: Upgrade | None = None
    try:
        async with calling(folder, [settings.base_url]) as caller:
            upgrade = Upgrade(Shop(settings.base_url, sandbox), revision, caller, embedded, folder)
            await upgrade.first(old, count)
            await upgrade.next("new", new, count // 8)
            await upgrade.next("old again", old, count // 8)
            await asyncio.to_thread(revision.start)
            await upgrade.rolling("old to new, one after the other", new, FORWARD)
            await upgrade.rolling("new to old, one after the other", old, BACK)
            await upgrade.restored("restored", new, var)
            await upgrade.judge()
            return upgrade.violations
    except (AssertionError, aiohttp.ClientError):
        print(revision.log_tail(), file=sys.stderr)
        raise
    finally:
        revision.stop()
        if upgrade is not None and upgrade.restored_server is not None:
            upgrade.restored_server.stop()


def main() -> None:
    """Read the command line, run, print, and say by the exit code whether anything was wrong."""
    parser = argparse.ArgumentParser(prog="scripts/upgrade-test", description=__doc__)
    parser.add_argument("old", type=Path, help="a checkout that scripts/setup has set up")
    parser.add_argument("new", type=Path, help="another one")
    parser.add_argument("--payments", type=int, default=500, help="under the first version")
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="coinslot-upgrade-") as name:
        var = Path(name)
        os.environ |= {
            "COINSLOT_PORT": str(claim_port(0)),
            "COINSLOT_METRICS_PORT": str(claim_port(0)),
            "COINSLOT_RATE_LIMITS": "off",
            "COINSLOT_EVM_CHANNELS": "on",
        }
        with embed(os.environ, var, scale={}) as embedded:
            found = asyncio.run(_run(options.old.resolve(), options.new.resolve(), options.payments, var, embedded))
    print(f"violations {len(found)}, after {time.monotonic() - began:.0f} s", *found[:50], sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
