"""A buyer with a channel in the chaos: it pipelines, repeats, replays, forges, tops up, leaves and wants its money back."""

import base64
import http.client
import json
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import msgspec

from shared.x402.evm_channel_ids import CONTRACT
from shared.x402.wire import Offer
from tests import signing
from tests.channel_signing import FINALIZE, INITIATE, Payer, on_chain
from tests.facilitator.bench import Bench

PATH = "/v1/cdp/echo"
PRICE = 1_000
DEPOSIT = 60_000
FUNDS = 10_000_000


@dataclass
class Call:
    """One request, and what was said of it.

    Attributes:
        answers: the bodies of its 200s.
        is_over: the last answer is final: an answer, or a 402.
    """

    payload: dict[str, Any]
    message: str
    answers: list[bytes] = field(default_factory=list)
    is_over: bool = False


class ChannelBuyer:
    """One wallet with one channel, used by several threads.

    Args:
        origins: of the API processes.
    """

    def __init__(self, bench: Bench, offer: Offer, origins: list[str], plan: random.Random) -> None:
        self.payer = Payer(offer)
        self.bench = bench
        self._origins = origins
        self._plan = plan
        self._lock = threading.Lock()
        self._next = 0
        self.deposited = 0
        self.is_leaving = False
        self.calls: list[Call] = []
        self.refunds: list[dict[str, Any]] = []
        self.violations: list[str] = []
        self.seen: Counter[str] = Counter()
        bench.mint(self.payer.config.payer, FUNDS)
        bench.send(b"", to=self.payer.config.payer, value=10**17, gas=21_000)

    @property
    def name(self) -> str:
        """The channel's id."""
        return f"0x{self.payer.channel.hex()}"

    @property
    def answered(self) -> int:
        """Calls with an answer."""
        return sum(bool(call.answers) for call in self.calls)

    @property
    def signed(self) -> int:
        """The highest voucher."""
        return max((int(call.payload["voucher"]["maxClaimableAmount"]) for call in self.calls), default=0)

    def leave(self) -> None:
        """Announce a withdrawal of everything that is left. A claim in the meantime makes it less, and a refund nothing, which
        the contract refuses to pay."""
        state = self.on_chain()
        while not self.is_leaving:
            balance, claimed = state
            if balance == claimed:
                return
            try:
                self._transact(INITIATE, ("uint128", balance - claimed))
                self.is_leaving = True
            except AssertionError:
                if (now := self.on_chain()) == state:
                    raise
                state = now

    def is_served(self) -> bool:
        """Whether one more voucher is taken, without a deposit."""
        return self._post(self.payer.voucher(self.signed + PRICE), "one more")[0] == 200

    def act(self) -> None:
        """One thing that a buyer does."""
        kind = self._plan.random()
        if kind < 0.82 or not self.calls:
            self.buy()
        elif kind < 0.9:
            self._replay()
        elif kind < 0.95:
            self._forge()
        elif kind < 0.97 and not self.is_leaving:
            self._leave()
        else:
            self.want_refund()

    def finish(self) -> None:
        """Insist on an end of every call that has none."""
        for call in self.calls:
            give_up_at = time.monotonic() + 60
            while not call.is_over and time.monotonic() < give_up_at:
                self._send(call)
            if not call.is_over:
                self._violated(f"a call has no end: {call.message}")

    def withdraw(self) -> None:
        """Take what is left out of the channel, after the delay."""
        self._transact(FINALIZE)

    def buy(self) -> None:
        """One more call, with the next voucher or with a deposit."""
        with self._lock:
            # Now and then a number is left out: what vouchers allow is more than what is charged.
            self._next += PRICE * (2 if self._plan.random() < 0.1 else 1)
            payload = self.payer.voucher(self._next)
            if self._next > self.deposited:
                amount = max(DEPOSIT, self._next - self.deposited)
                payload = self.payer.deposit(amount, self._next)
                self.deposited += amount
            call = Call(payload, f"{self.name[2:10]} {len(self.calls)} {self._plan.random()}")
            self.calls.append(call)
        for _ in range(self._plan.choice((1, 1, 3, 40))):  # some give up after a lost answer, and come back at the end
            self._send(call)
            if call.is_over:
                return

    def _send(self, call: Call) -> None:
        status, headers, body = self._post(call.payload, call.message)
        if status == 200:
            self._answered(call, body, headers)
        elif status == 402:
            self._corrected(call, json.loads(body))
        else:
            self.seen[f"{status}"] += 1
            time.sleep(0.1)

    def _answered(self, call: Call, body: bytes, headers: dict[str, str]) -> None:
        if json.loads(body)["youSent"] != call.message:
            self._violated(f"another call's answer: {call.message}")
        if call.answers and call.answers[0] != body:
            self._violated(f"two answers to one call: {call.message}")
        told = json.loads(base64.b64decode(headers["payment-response"]))
        if told["extra"]["chargedAmount"] != str(PRICE):
            self._violated(f"charged {told['extra']['chargedAmount']}: {call.message}")
        call.answers.append(body)
        call.is_over = True
        self.seen["answered"] += 1

    def _corrected(self, call: Call, challenge: dict[str, Any]) -> None:
        self.seen[challenge["error"].rpartition("evm_")[2]] += 1
        if call.answers:
            self._violated(f"answered, and refused when it was repeated: {call.message} {challenge['error']}")
        call.is_over = True
        offer = next((one for one in challenge["accepts"] if one["scheme"] == "batch-settlement"), None)
        state = offer and offer["extra"].get("channelState")
        if state:
            with self._lock:
                self._next = max(self._next, int(state["chargedCumulativeAmount"]))
                self.deposited = int(state["balance"])
        elif challenge["error"].endswith(("exceeds_balance", "not_found")):
            with self._lock:  # a deposit was refused, or money has left: the next call deposits
                self.deposited = min(self.deposited, self._next)

    def _replay(self) -> None:
        """The same voucher for another request is never answered; the same request has the same answer, or none any more."""
        done = [call for call in self.calls[-200:] if call.answers]
        if not done:
            return
        call = self._plan.choice(done)
        if self._plan.random() < 0.5:
            status, _, body = self._post(call.payload, call.message)
            if status == 200 and body != call.answers[0]:
                self._violated(f"another answer to a repeated request: {call.message}")
            return
        status, _, _ = self._post(call.payload, call.message + " another")
        if status == 200:
            self._violated(f"one voucher paid two requests: {call.message}")

    def _forge(self) -> None:
        """Who cannot sign learns nothing and buys nothing."""
        payload = self.payer.voucher(self._next + 50 * PRICE)
        payload["voucher"]["signature"] = self.payer.voucher(PRICE)["voucher"]["signature"]
        status, _, body = self._post(payload, "forged")
        if status == 200 or b"channelState" in body:
            self._violated(f"a forged voucher: {status}")

    def _leave(self) -> None:
        """Announce a withdrawal of everything; from then on the money that leaves pays nothing."""
        with self._lock:
            balance, claimed = self.on_chain()
            if balance - claimed <= 20 * PRICE or self.is_leaving:
                return
            self.leave()
            self.seen["leaves"] += self.is_leaving

    def want_refund(self) -> None:
        """Ask for everything that is not charged."""
        with self._lock:
            last = self._next
        status, headers, _ = self._post(self.payer.refund(last), "", method="GET")
        if status == 200:
            told = json.loads(base64.b64decode(headers["payment-response"]))
            with self._lock:
                self.refunds.append(told)
                self.deposited = int(told["extra"]["channelState"]["balance"])
            self.seen["refunded"] += 1

    def on_chain(self) -> tuple[int, int]:
        """Balance and total claimed."""
        return on_chain(self.bench.rpc, self.payer.channel)

    def _transact(self, signature: str, *more: tuple[str, Any]) -> None:
        """A call of the contract, at the payer's own cost."""
        self.bench.send(self.payer.calldata(signature, *more), to=CONTRACT, key="0x" + self.payer.key.secret.hex())

    def _violated(self, text: str) -> None:
        self.violations.append(text)

    def _post(self, payload: dict[str, Any], message: str, method: str = "POST") -> tuple[int, dict[str, str], bytes]:
        """Status 0: nobody answered."""
        payment = {"x402Version": 2, "accepted": signing.wire(self.payer.offer), "payload": payload}
        header = base64.b64encode(msgspec.json.encode(payment)).decode()
        host = self._plan.choice(self._origins).removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=40)
        try:
            body = json.dumps({"message": message}).encode() if method == "POST" else None
            headers = {"content-type": "application/json", "payment-signature": header}
            connection.request(method, PATH, body, headers)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, {}, b""
        finally:
            connection.close()
