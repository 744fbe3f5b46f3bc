"""Chaos for channels: API, worker, both Redis, facilitator and two claimers are killed at random under buyers who pipeline,
repeat, replay, forge, leave and want refunds; then the ledger is compared with the answers and with the chain:
`scripts/chaos channels`. With --planted each bug of PLANTED is put into a copy of the product, and has to be found.
"""

import argparse
import contextlib
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import redis
from coincurve import PrivateKey

from compose.sandbox.child import ROOT
from compose.sandbox.evm import MAX_FEE_GWEI, provision, start_chain
from compose.sandbox.redis_server import RedisServer, Role, start_redis
from facilitator.rails.evm.calldata import balance_of
from shared.ledger.channels import WATCH, channel_key
from shared.ledger.keys import bucket_of_payer
from shared.nodes.json_rpc import JsonRpc
from shared.x402.evm import address_of
from shared.x402.evm_channel import SCHEME
from shared.x402.wire import Challenge, Offer
from tests.bench import proc
from tests.chaos.channel_bugs import PLANTED, PLANTED_SECONDS, Bug, planted
from tests.chaos.channel_buyer import FUNDS, PATH, PRICE, ChannelBuyer
from tests.chaos.servers import own_port
from tests.facilitator.bench import TOKEN, Bench, an_address

BUYERS, THREADS = 5, 3
DELAY_S = 900
READY_WITHIN_S = 60.0
PEACE_WITHIN_S = 90.0
WORKER = ("--queues", "micro", "--processes", "1", "--threads", "1")
PROGRAMS: dict[str, tuple[str, ...]] = {
    "facilitator": ("facilitator",),
    "claimer-1": ("facilitator.claimer",),
    "claimer-2": ("facilitator.claimer",),
    "worker": ("dramatiq", "--skip-logging", "workers.main:create_broker", *WORKER),
    "api-1": ("api",),
    "api-2": ("api",),
}
REDIS: tuple[Role, ...] = ("ledger", "queue")
CLAIMERS = ("claimer-1", "claimer-2")


class Chaos:
    """One run, on a new chain.

    Args:
        product: the folder with the code that is run.
        forgets: the ledger keeps nothing on its disk.
    """

    def __init__(self, folder: Path, product: Path, seconds: float, seed: int, *, forgets: bool = False) -> None:
        self._folder = folder
        self._product = product
        self._plan = random.Random(seed)
        self._seconds = seconds
        self._forgets = forgets
        self._ports = {name: own_port() for name in (*PROGRAMS, *REDIS)}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._redis: dict[Role, RedisServer] = {}
        self._chain = start_chain(folder, node_folders=[ROOT / "var" / "node"])
        self._bench = Bench(provision(self._chain, folder), JsonRpc(self._chain.rpc_url))
        self._bench.fund_stranger()
        self._pay_to = an_address()
        self._authorizer = PrivateKey()
        self.buyers: list[ChannelBuyer] = []
        self.killed: Counter[str] = Counter()
        self.violations: list[str] = []

    def run(self) -> list[str]:
        """Trouble, peace, and the check. Returns the violations."""
        self._folder.joinpath("key").write_text(secrets.token_hex(32))
        keys = {"settler": self._bench.sandbox.settler_key, "authorizer": self._authorizer.secret.hex()}
        for name, text in keys.items():
            (self._folder / name).write_text(text)
        for name in (*REDIS, *PROGRAMS):
            self._start(name)
        offer = self._offer()
        origins = [f"http://127.0.0.1:{self._ports[name]}" for name in ("api-1", "api-2")]
        self.buyers = [
            ChannelBuyer(self._bench, offer, origins, random.Random(self._plan.random())) for _ in range(BUYERS + 3)
        ]
        *buyers, spoiled, leaver, refunded = self.buyers
        for one in (leaver, refunded):
            for _ in range(10):
                one.buy()
            one.finish()
        for _ in range(3):
            spoiled.buy()
        self._ledger().hset(self._key(spoiled), "sig", 130 * "1")  # a batch with this channel reverts
        until = time.monotonic() + self._seconds
        with ThreadPoolExecutor(BUYERS * THREADS + 2) as threads:
            troubles = [threads.submit(self._trouble, until), threads.submit(self._watch_lease, until)]
            buying = [threads.submit(_act, buyer, until) for buyer in buyers for _ in range(THREADS)]
            for one in (*troubles, *buying):
                one.result()
            self._wait_ready()
            list(threads.map(ChannelBuyer.finish, buyers))
        for _ in range(3):
            refunded.buy()
        refunded.finish()
        refunded.want_refund()  # before what it owes is due
        leaver.leave()
        self._wait_watched()
        if leaver.is_served():
            self.violations.append("money that leaves has paid")
        self._claim_everything()
        self._judge([*buyers, leaver, refunded])
        self._bench.rpc("evm_increaseTime", DELAY_S + 1)
        leaver.withdraw()
        if (left := self._bench.balance(leaver.payer.config.payer)) != FUNDS - PRICE * leaver.answered:
            self.violations.append(f"a payer who left has {left} of {FUNDS}, and {leaver.answered} calls were answered")
        return [*self.violations, *(text for buyer in self.buyers for text in buyer.violations)]

    def stop(self) -> None:
        """Nothing is worth an orderly end here."""
        for name in list(self._processes):
            self._kill(name)
        for server in self._redis.values():
            server.stop()
        self._chain.stop()

    def _judge(self, buyers: list[ChannelBuyer]) -> None:
        for buyer in buyers:
            charged = int(self._ledger().hget(self._key(buyer), "charged") or 0)
            balance, claimed = buyer.on_chain()
            if charged != PRICE * buyer.answered:
                self.violations.append(f"{buyer.answered} calls were answered, and {charged} is charged")
            if claimed != charged:
                self.violations.append(f"{charged} is charged, and {claimed} is claimed, of {balance}")
            if claimed > buyer.signed:
                self.violations.append(f"{claimed} is claimed, and {buyer.signed} was signed")
        earned = sum(buyer.on_chain()[1] for buyer in self.buyers)
        paid_out = int(
            self._bench.rpc("eth_call", {"to": TOKEN.address, "data": "0x" + balance_of(self._pay_to).hex()}, "latest"),
            16,
        )
        if paid_out != earned:
            self.violations.append(f"{earned} was claimed, and {paid_out} is paid out")

    def _claim_everything(self) -> None:
        """As at an orderly end; then the payers that leave take the rest."""
        for _ in range(2):
            for name in CLAIMERS:
                self._processes[name].send_signal(signal.SIGTERM)
            for name in CLAIMERS:
                self._processes[name].wait(30)
            for name in CLAIMERS:
                self._start(name)
            self._wait_watched()
        for name in CLAIMERS:
            self._processes[name].send_signal(signal.SIGTERM)
        for name in CLAIMERS:
            self._processes[name].wait(30)

    def _trouble(self, until: float) -> None:
        while time.monotonic() < until:
            time.sleep(self._plan.uniform(0.3, 1.5))
            name = self._plan.choice((*PROGRAMS, *REDIS))
            self.killed[name] += 1
            self._kill(name)
            time.sleep(self._plan.choice((0.0, 0.0, 0.5)))
            self._start(name)

    def _watch_lease(self, until: float) -> None:
        """Whoever looks keeps looking while it lives: two that take turns are two claimers."""
        names: list[tuple[str, int]] = []
        while time.monotonic() < until:
            time.sleep(0.2)
            kills = sum(self.killed[name] for name in CLAIMERS) + self.killed["ledger"]
            try:
                name = (self._ledger().hget(WATCH, "claimer") or b"").decode()
            except redis.RedisError:
                continue
            if name and (not names or names[-1][0] != name):
                names.append((name, kills))
                if len(names) >= 4 and names[-1][1] == names[-4][1] and len({one for one, _ in names[-4:]}) == 2:
                    self.violations.append("two claimers take turns")
                    return

    def _start(self, name: str) -> None:
        if name in REDIS:
            role: Role = "ledger" if name == "ledger" else "queue"
            self._redis[role] = self._start_redis(role)
            return
        log = (self._folder / f"{name}.log").open("ab")
        self._processes[name] = subprocess.Popen(
            [sys.executable, "-m", *PROGRAMS[name]],
            cwd=self._product,
            env={**_outside(), **self._environment(name)},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        log.close()

    def _start_redis(self, role: Role) -> RedisServer:
        if role == "ledger" and self._forgets:
            return start_redis("queue", self._folder / "forgetful", self._ports[role])
        return start_redis(role, self._folder, self._ports[role])

    def _kill(self, name: str) -> None:
        if name in REDIS:
            server = self._redis["ledger" if name == "ledger" else "queue"]
            _kill_family(server.process.pid)  # one that rewrites the ledger's file holds its lock, too
            server.stop()
            return
        process = self._processes[name]
        _kill_family(process.pid)
        process.wait()

    def _environment(self, name: str) -> dict[str, str]:
        own = {
            "PORT": str(self._ports[name]),
            "FACILITATOR_PORT": str(self._ports["facilitator"]),
            "BASE_URL": "http://shop.test",
            "EXTRA_HOSTS": "127.0.0.1",
            "LEDGER_URL": f"redis://127.0.0.1:{self._ports['ledger']}/0",
            "QUEUE_URL": f"redis://127.0.0.1:{self._ports['queue']}/0",
            "KEY_FILE": str(self._folder / "key"),
            "EVM_PAY_TO": self._pay_to,
            "EVM_RPC_URL": self._bench.sandbox.rpc_url,
            "EVM_FACILITATOR_URL": f"http://127.0.0.1:{self._ports['facilitator']}",
            "EVM_SETTLER_KEY_FILE": str(self._folder / "settler"),
            "EVM_AUTHORIZER_KEY_FILE": str(self._folder / "authorizer"),
            "EVM_SPACING_MS": "0",
            "EVM_MAX_FEE_GWEI": str(MAX_FEE_GWEI),
            "EVM_CHANNELS": "on",
            "EVM_WITHDRAW_DELAY_S": str(DELAY_S),
            "EVM_MIN_DEPOSIT": "10000",
            "EVM_CLAIM_VALUE": "5000",
            "EVM_CLAIM_AFTER_S": "2",
            "EVM_CHANNELS_STALE_S": "15",
            "EVM_ETHER_PRICE": "0.0001",
            "RATE_LIMITS": "off",
        }
        return {f"COINSLOT_{key}": value for key, value in own.items()}

    def _offer(self) -> Offer:
        """As soon as the claimer has said on which terms."""

        def ask() -> Offer | None:
            url = f"http://127.0.0.1:{self._ports['api-1']}{PATH}"
            try:
                urllib.request.urlopen(urllib.request.Request(url, data=b"", method="POST"), timeout=5).close()
            except urllib.error.HTTPError as answer:
                challenge = msgspec.json.decode(answer.read(), type=Challenge)
                return next((one for one in challenge.accepts if one.scheme == SCHEME), None)
            except OSError:
                pass
            return None

        offer: Offer = _await(ask, READY_WITHIN_S, "no channels are offered")
        assert offer.extra["receiverAuthorizer"].lower() == address_of(self._authorizer.public_key)
        return offer

    def _wait_ready(self) -> None:
        for name in ("api-1", "api-2"):
            url = f"http://127.0.0.1:{self._ports[name]}/healthz"
            _await(lambda url=url: _answers(url), READY_WITHIN_S, f"{name} does not answer")  # type: ignore[misc]
        self._wait_watched()

    def _wait_watched(self) -> None:
        began = time.time() * 1000
        _await(
            lambda: int(self._ledger().hget(WATCH, "watched_at") or 0) > began + 2_000,
            PEACE_WITHIN_S,
            "nobody watches the chain",
        )

    def _ledger(self) -> redis.Redis:
        return redis.Redis.from_url(f"redis://127.0.0.1:{self._ports['ledger']}/0", socket_timeout=5)

    def _key(self, buyer: ChannelBuyer) -> str:
        offer = buyer.payer.offer
        return channel_key(bucket_of_payer(offer.network, buyer.payer.config.payer), buyer.name)


def _act(buyer: ChannelBuyer, until: float) -> None:
    while time.monotonic() < until:
        buyer.act()


def _await(seen: Callable[[], Any], within_s: float, otherwise: str) -> Any:
    give_up_at = time.monotonic() + within_s
    while time.monotonic() < give_up_at:
        if value := seen():
            return value
        time.sleep(0.1)
    raise TimeoutError(otherwise)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _outside() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("COINSLOT_")}


def _kill_family(pid: int) -> None:
    for one in proc.family(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def run(seconds: float, seed: int, bug: Bug | None = None) -> tuple[Chaos, list[str]]:
    """One run, of which nothing is left."""
    with tempfile.TemporaryDirectory(prefix="coinslot-chaos-") as text:
        folder, product = Path(text), ROOT
        if bug is not None and bug.path:
            product = planted(folder / "product", bug)
        chaos = Chaos(folder, product, seconds, seed, forgets=bug is not None and not bug.path)
        try:
            return chaos, chaos.run()
        finally:
            chaos.stop()


def main() -> None:
    """Read the command line, run, print, and say by the exit code whether anything was wrong."""
    parser = argparse.ArgumentParser(prog="scripts/chaos channels", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one")
    parser.add_argument("--planted", nargs="?", const="", help="put each bug in, or those with this text in their name")
    options = parser.parse_args()
    seed = random.randrange(10**6) if options.seed is None else options.seed
    if options.planted is not None:
        missed = 0
        for name, bug in ((name, bug) for name, bug in PLANTED.items() if options.planted in name):
            try:
                found = run(PLANTED_SECONDS, seed, bug)[1]
            except TimeoutError as stopped:  # a ledger that was lost is refused by all that know it
                found = [f"the service stops: {stopped}"]
            missed += not found
            print(f"{'found' if found else 'MISSED'}: {name}: {found[:1]}", flush=True)
        sys.exit(1 if missed else 0)
    chaos, found = run(options.seconds, seed)
    seen = sum((buyer.seen for buyer in chaos.buyers), Counter())
    print(f"{options.seconds:g} s, seed {seed}; killed {dict(chaos.killed)}")
    print(f"calls {sum(len(buyer.calls) for buyer in chaos.buyers)}, seen {dict(seen)}")
    print(f"violations {len(found)}", *found[:50], sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
