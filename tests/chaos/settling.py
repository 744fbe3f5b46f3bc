"""Chaos for our own facilitator: payments are settled together while it is killed, its node fails, the chain stops and
forgets, and payers cheat; then all is put right, and the answers are compared with the chain: `scripts/chaos settling`.
"""

import argparse
import random
import secrets
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from facilitator.rails.evm.calldata import AUTHORIZATION_USED, MULTICALL3
from facilitator.rails.evm.evidence import transfers_in
from shared.settings.service import Settings
from tests.facilitator.bench import TOKEN, FaultyNode, Payer, on_sandbox
from tests.facilitator.paused_chain import PausedChain
from tests.facilitator.served import Served, serve

CALLERS = 24
HONEST, CODED = 8, 3
"""Payers with money; and those whose account has code now and then, which burns all gas."""
POOR_SHARE, MOST_POOR = 0.1, 100
"""Of the purchases: by somebody who has money for one payment, and makes two."""
TWICE = 0.1
"""Share of the payments of which a second one has the same nonce, with another amount, at the same time."""
END_WITHIN_S = 60.0
METHODS = (
    *("eth_sendRawTransaction", "eth_getTransactionReceipt", "eth_call", "eth_getCode", "eth_getLogs"),
    *("eth_getBlockByNumber", "eth_getTransactionCount", "eth_getTransactionByHash"),
)
FAULTS = ("error", "garbage", "http429", "reset", "lost", "null")
OPEN = ("settlement_pending", "unexpected_settle_error")
BURNS_ALL, NO_CODE = "0xfe", "0x"

Paid = Mapping[tuple[str, str], tuple[str, int, str]]
"""By payer and nonce, both as topics: recipient, value and transaction."""


@dataclass
class Bought:
    """One payment, and what was said of it.

    Attributes:
        answers: of /settle, in their order; None where there was none.
    """

    call: Any
    answers: list[Any] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether the last answer is final."""
        last = self.answers[-1] if self.answers else None
        return last is not None and (last["success"] or last["errorReason"] not in OPEN)

    @property
    def use(self) -> tuple[str, str]:
        """Payer and nonce, as topics."""
        authorization = self.call["paymentPayload"]["payload"]["authorization"]
        return "0x" + authorization["from"][2:].lower().rjust(64, "0"), authorization["nonce"].lower()

    @property
    def wanted(self) -> tuple[str, int]:
        """Recipient and value."""
        authorization = self.call["paymentPayload"]["payload"]["authorization"]
        return authorization["to"].lower(), int(authorization["value"])


def violations(bought: Iterable[Bought], paid: Paid) -> list[str]:
    """What the answers have that the chain has not, and the other way round."""
    found = []
    for one in bought:
        *shown, transaction = paid.get(one.use, ("", 0, ""))
        is_paid = tuple(shown) == one.wanted
        shown_hashes = [answer["transaction"] for answer in one.answers if answer and answer["success"]]
        name = f"{one.use[0][-6:]} {one.use[1][:10]} {one.wanted[1]}"
        if shown_hashes and not is_paid:
            found.append(f"{name}: answered with success, and the chain has no such payment")
        elif any(each != transaction for each in shown_hashes):
            found.append(f"{name}: answered with {shown_hashes}, paid by {transaction}")
        if not one.is_over:
            found.append(f"{name}: there is no end: {one.answers[-1:]}")
        elif is_paid and not one.answers[-1]["success"]:
            found.append(f"{name}: paid, and refused in the end: {one.answers[-1]['errorReason']}")
    return found


class Chaos:
    """One run, on a new chain."""

    def __init__(self, chain: PausedChain, node: FaultyNode, settings: Settings, seconds: float, seed: int) -> None:
        self._chain = chain
        self._node = node
        self._settings = settings
        self._until = time.monotonic() + seconds
        self._plan = random.Random(seed)
        self._served: Served | None = None
        self._lock = threading.Lock()
        self._pay_to = "0x" + secrets.token_hex(20)
        self.bought: list[Bought] = []
        self.troubles: Counter[str] = Counter()
        self.honest = [chain.payer() for _ in range(HONEST)]
        self.poor = [chain.payer(funds=1_500) for _ in range(MOST_POOR)]
        self.coded = [chain.payer() for _ in range(CODED)]

    def run(self) -> list[str]:
        """Trouble, peace, and the check. Returns the violations."""
        self._served = serve(self._settings)
        try:
            with ThreadPoolExecutor(CALLERS + 1) as threads:
                trouble = threads.submit(self._trouble)
                buying = [threads.submit(self._buy) for _ in range(CALLERS)]
                for one in [trouble, *buying]:
                    one.result()
                self._make_peace()
                list(threads.map(self._end, self.bought))
        finally:
            self._served.kill()
        return violations(self.bought, self.paid)

    @property
    def paid(self) -> Paid:
        """What the chain has of all payments."""
        topics = ["0x" + AUTHORIZATION_USED.hex()]
        logs = self._chain.rpc(
            "eth_getLogs", {"address": TOKEN.address, "fromBlock": "0x0", "toBlock": "latest", "topics": topics}
        )
        found: dict[tuple[str, str], tuple[str, int, str]] = {}
        for transaction in {one["transactionHash"] for one in logs}:
            receipt = self._chain.rpc("eth_getTransactionReceipt", transaction)
            for use, (to, value) in transfers_in(receipt["logs"], TOKEN.address).items():
                found[use] = (to, value, transaction)
        return found

    @property
    def groups(self) -> Counter[bool]:
        """How many transactions were groups."""
        transactions = {transaction for _, _, transaction in self.paid.values()}
        asked = (self._chain.rpc("eth_getTransactionByHash", one) for one in transactions)
        return Counter(one["to"].lower() == MULTICALL3.lower() for one in asked)

    def _buy(self) -> None:
        while time.monotonic() < self._until:
            with self._lock:
                made = self._purchases()
                self.bought += made
            with ThreadPoolExecutor(len(made)) as threads:
                list(threads.map(self._insist, made))

    def _purchases(self) -> list[Bought]:
        """What one caller pays at the same moment. A poor payer signs twice what it has."""
        payer: Payer = self._plan.choice(self.honest * 3 + self.coded)
        if self.poor and self._plan.random() < POOR_SHARE:
            poor = self.poor.pop()
            return [Bought(poor.call(self._pay_to)) for _ in range(2)]
        nonce = "0x" + secrets.token_hex(32)
        prices = ("0.001", "0.002") if self._plan.random() < TWICE else ("0.001",)
        return [Bought(payer.call(self._pay_to, price=price, nonce=nonce)) for price in prices]

    def _insist(self, one: Bought) -> None:
        while not one.is_over and time.monotonic() < self._until:
            self._ask(one)

    def _ask(self, one: Bought) -> None:
        assert self._served is not None
        answer = self._served.settle(one.call)
        one.answers.append(answer)
        if answer is None:
            time.sleep(0.1)

    def _end(self, one: Bought) -> None:
        """Insist on an end, then ask once more. A refusal at the first attempt is final: it must be true without that."""
        if len(one.answers) == 1 and one.is_over and not one.answers[0]["success"]:
            return
        give_up_at = time.monotonic() + END_WITHIN_S
        while not one.is_over and time.monotonic() < give_up_at:
            self._ask(one)
        self._ask(one)

    def _trouble(self) -> None:
        kinds = (self._kill, self._fail, self._fail, self._hold_blocks, self._forget, self._code, self._code)
        while time.monotonic() < self._until:
            kind = self._plan.choice(kinds)
            self.troubles[kind.__name__.strip("_")] += 1
            kind()
            time.sleep(self._plan.uniform(0, 0.3))
        self._make_peace()

    def _kill(self) -> None:
        assert self._served is not None
        self._served.kill()
        self._served = serve(self._settings)

    def _fail(self) -> None:
        method = self._plan.choice(METHODS)
        self._node.faults[method] = self._plan.choice(FAULTS)
        time.sleep(self._plan.uniform(0.05, 0.8))
        self._node.faults.clear()

    def _hold_blocks(self) -> None:
        self._chain.hold()
        time.sleep(self._plan.uniform(0.1, 2.0))
        self._chain.flow()

    def _forget(self) -> None:
        self._chain.hold()
        time.sleep(self._plan.uniform(0.1, 0.5))
        self._chain.lose_the_pool()
        self._chain.flow()

    def _code(self) -> None:
        code = self._plan.choice((BURNS_ALL, NO_CODE))
        self._chain.rpc("anvil_setCode", self._plan.choice(self.coded).address, code)

    def _make_peace(self) -> None:
        self._node.faults.clear()
        self._chain.flow()
        for payer in self.coded:
            self._chain.rpc("anvil_setCode", payer.address, NO_CODE)


def run(seconds: float, seed: int) -> tuple[Chaos, list[str]]:
    """One run, of which nothing is left."""
    with tempfile.TemporaryDirectory() as folder:
        process, chain = PausedChain.start(Path(folder))
        node = FaultyNode(chain.sandbox.rpc_url)
        try:
            node.start()
            key = Path(folder) / "settler.key"
            key.write_text(chain.sandbox.settler_key)
            settings = Settings(evm=on_sandbox(chain.sandbox, rpc_url=node.url, settler_key_file=key))
            chaos = Chaos(chain, node, settings, seconds, seed)
            found = chaos.run()
            chaos.troubles["groups"], chaos.troubles["transactions of one payment"] = (
                chaos.groups[True],
                chaos.groups[False],
            )
            return chaos, found
        finally:
            node.stop()
            process.stop()


def main() -> None:
    """Read the command line, run, print, and say by the exit code whether anything was wrong."""
    parser = argparse.ArgumentParser(prog="scripts/chaos settling", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one")
    options = parser.parse_args()
    seed = random.randrange(10**6) if options.seed is None else options.seed
    chaos, found = run(options.seconds, seed)
    ends = Counter(_end_of(one) for one in chaos.bought)
    print(f"{options.seconds:g} s, seed {seed}; troubles {dict(chaos.troubles)}")
    print(f"payments {len(chaos.bought)}, answers {sum(len(one.answers) for one in chaos.bought)}, ends {dict(ends)}")
    print(f"violations {len(found)}", *found[:50], sep="\n")
    sys.exit(1 if found else 0)


def _end_of(one: Bought) -> str:
    last = one.answers[-1] if one.answers else None
    return "no answer" if last is None else "settled" if last["success"] else last["errorReason"]


if __name__ == "__main__":
    main()
