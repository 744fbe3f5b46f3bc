"""A facilitator that fails in every way that one can, and the chain behind it: `python -m tests.chaos.facilitator`.

It holds the truth: transfers.jsonl says which payment moved money, once per nonce and only while it is valid, and is on the
disk before anybody is answered. settles.jsonl says when /settle was called and how the call went. Both survive SIGKILL.
Several facilitators of one folder have the chain in common.

A mode is what the caller sees, and after a plus what becomes of the money: ``+paid`` moves it first, ``+late`` after the caller
has gone. What is drawn depends on the seed, the payment and the number of the attempt alone.
"""

import argparse
import asyncio
import fcntl
import json
import os
import random
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

FAULTS = (
    *("error500", "error500+paid", "garbage", "garbage+paid", "reset", "reset+paid", "pending", "pending+paid"),
    *(
        "hang",
        "hang+paid",
        "hang+late",
        "other_network+paid",
        "other_payer+paid",
        "no_transaction",
        "no_transaction+paid",
    ),
    *("expired", "refuse"),
)
"""`expired` and `refuse` are final refusals. The first also answers for payments that an earlier attempt may have made."""
EVIDENCE_FAULTS = ("error", "garbage", "hang", "reset")
"""Only a script says `slow` of a settle call, and `other_payee` of evidence: that somebody else was paid."""
LATE_S = 1.5
HANG_S = 30.0
SLOW_S = 0.25
NETWORK = "eip155:8453"


class Chain:
    """Which payments were made."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / "transfers.jsonl").open("a+b")
        self.ahead_s = 0.0
        self._transfers: dict[str, dict[str, Any]] = {}
        self._read_to = 0

    def now(self) -> float:
        """The chain's own clock."""
        return time.time() + self.ahead_s

    def transfer_of(self, payment: str) -> dict[str, Any] | None:
        """Of a payment that was made."""
        if payment not in self._transfers:
            with self._locked():
                pass
        return self._transfers.get(payment)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Nobody else writes meanwhile, and what others have written is read."""
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            self._file.seek(self._read_to)
            whole, end, _ = self._file.read().rpartition(b"\n")
            self._read_to += len(whole) + len(end)
            for text in whole.splitlines():
                line = json.loads(text)
                self._transfers[line["payment"]] = line
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def move(self, payment: str, call: dict[str, Any]) -> None:
        """Make a payment, unless it was made or has lapsed."""
        with self._locked():
            self._move(payment, call)

    def _move(self, payment: str, call: dict[str, Any]) -> None:
        authorization = call["paymentPayload"]["payload"]["authorization"]
        if payment in self._transfers or self.now() >= int(authorization["validBefore"]):
            return
        offer = call["paymentRequirements"]
        transfer = {
            "payment": payment,
            "transaction": "0x" + uuid.uuid4().hex * 2,
            "network": offer["network"],
            "asset": offer["asset"].lower(),
            "amount": authorization["value"],
            "pay_to": authorization["to"],
            "at": time.time(),
        }
        written = json.dumps(transfer).encode() + b"\n"
        self._file.truncate(self._read_to)  # what SIGKILL cut off
        self._file.write(written)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._read_to += len(written)
        self._transfers[payment] = transfer


class Facilitator:
    """The standard API, and /control to say how calls are to go.

    Args:
        faults: share of the calls that fail.
        log: the name of the file of its settle calls.
    """

    def __init__(self, folder: Path, seed: str, faults: float, log: str = "settles.jsonl") -> None:
        self._chain = Chain(folder)
        self._seed = seed
        self._faults = faults
        self._scripts: dict[str, dict[str, list[str]]] = {}
        path = folder / log
        self._attempts = Counter(line["payment"] for line in _lines(path) if line["event"] == "began")
        self._asked: Counter[str] = Counter()
        self._file = path.open("a")
        self._late: set[asyncio.Task[None]] = set()

    def app(self) -> web.Application:
        """Its routes."""
        app = web.Application()
        app.router.add_post("/settle", self.settle)
        app.router.add_post("/verify", self.verify)
        app.router.add_get("/settlements/{id}", self.look_up)
        app.router.add_get("/supported", self.supported)
        app.router.add_post("/control", self.control)
        return app

    async def settle(self, request: web.Request) -> web.StreamResponse:
        """One attempt, logged from its beginning to its end, which may be that the caller has gone."""
        call = await request.json()
        payment = _payment_id(call)
        self._attempts[payment] += 1
        mode = self._next_mode(payment)
        log = {"call": uuid.uuid4().hex, "payment": payment, "mode": mode}
        self._say({"event": "began", "at": time.time(), **log})
        try:
            return await self._answer(mode, payment, call, request)
        finally:
            self._say({"event": "ended", "at": time.time(), **log})

    async def look_up(self, request: web.Request) -> web.StreamResponse:
        """Evidence."""
        payment = request.match_info["id"]
        self._asked[payment] += 1
        mode = self._next_evidence(payment)
        match mode:
            case "error":
                return web.json_response({"status": "unknown", "network": NETWORK}, status=503)
            case "garbage":
                return web.Response(body=b'{"status": "sett')
            case "hang":
                await asyncio.sleep(HANG_S)
            case "reset":
                return _reset(request)
        transfer = self._chain.transfer_of(payment)
        found: dict[str, Any] = {"status": "unused", "network": NETWORK, "asOf": int(self._chain.now())}
        if transfer is not None:
            found |= {
                "status": "settled",
                "transaction": transfer["transaction"],
                "payer": payment.split(":")[3],
                "payTo": transfer["pay_to"],
                "amount": transfer["amount"],
            }
        if mode == "other_payee":
            # One nonce can be signed for two recipients.
            found |= {"status": "settled", "transaction": "0x" + "77" * 32, "amount": "1000", "payTo": "0x" + "77" * 20}
        return web.json_response(found)

    async def verify(self, request: web.Request) -> web.Response:
        """Every signature is good."""
        return web.json_response({"isValid": True})

    async def supported(self, request: web.Request) -> web.Response:
        """What it settles."""
        return web.json_response({"kinds": [{"x402Version": 2, "scheme": "exact", "network": NETWORK}]})

    async def control(self, request: web.Request) -> web.Response:
        """Change the share of faults, how far the chain's clock is ahead, or say how the calls of one payment are to go:
        {"script": {"<payment id>": {"settle": [...], "evidence": [...]}}}."""
        orders = await request.json()
        self._faults = orders.get("faults", self._faults)
        self._chain.ahead_s = orders.get("ahead_s", self._chain.ahead_s)
        self._scripts |= orders.get("script", {})
        return web.json_response({})

    def _next_mode(self, payment: str) -> str:
        attempt = self._attempts[payment]
        if payment in self._scripts:
            script = self._scripts[payment].get("settle", [])
            return script.pop(0) if script else "ok"
        draw = random.Random(f"{self._seed}:{payment}:{attempt}")
        if draw.random() >= self._faults:
            return "ok"
        mode = draw.choice(FAULTS)
        # That an earlier attempt had paid would make a lie of it: no shop can tell a first refusal that is untrue.
        return "reset+paid" if mode == "expired" and attempt == 1 else mode

    def _next_evidence(self, payment: str) -> str:
        if payment in self._scripts:
            script = self._scripts[payment].get("evidence", [])
            return script.pop(0) if script else "ok"
        draw = random.Random(f"{self._seed}:{payment}:evidence:{self._asked[payment]}")
        return draw.choice(EVIDENCE_FAULTS) if draw.random() < self._faults / 2 else "ok"

    async def _answer(self, mode: str, payment: str, call: dict[str, Any], request: web.Request) -> web.StreamResponse:
        fault, _, money = mode.partition("+")
        if fault == "slow":
            await asyncio.sleep(SLOW_S)
            fault = "ok"
        if fault == "ok" or money == "paid":
            self._chain.move(payment, call)
        elif money == "late":
            self._move_later(payment, call)
        transfer = self._chain.transfer_of(payment)
        good = {
            "success": True,
            "transaction": transfer["transaction"] if transfer else "0x" + "00" * 32,
            "network": call["paymentRequirements"]["network"],
        }
        bad = {**good, "success": False, "transaction": ""}
        match fault:
            case "ok" if transfer:
                return web.json_response(good)
            case "ok":
                reason = "invalid_exact_evm_payload_authorization_valid_before"
                return web.json_response({**bad, "errorReason": reason})
            case "refuse":
                return web.json_response({**bad, "errorReason": "insufficient_funds"})
            case "expired":
                return web.json_response({**bad, "errorReason": "payment_expired"}, status=400)
            case "error500":
                return web.Response(status=500)
            case "garbage":
                return web.Response(body=b'\xff{"success": true')
            case "pending":
                return web.json_response({**good, "success": False, "errorReason": "settlement_pending"})
            case "other_network":
                return web.json_response({**good, "network": "eip155:1"})
            case "other_payer":
                return web.json_response({**good, "payer": "0x" + "99" * 20})
            case "no_transaction":
                return web.json_response({**good, "transaction": ""})
            case "hang":
                await asyncio.sleep(HANG_S)
        return _reset(request)

    def _move_later(self, payment: str, call: dict[str, Any]) -> None:
        async def move() -> None:
            await asyncio.sleep(LATE_S)
            self._chain.move(payment, call)

        task = asyncio.create_task(move())
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    def _say(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


def _payment_id(call: dict[str, Any]) -> str:
    offer, authorization = call["paymentRequirements"], call["paymentPayload"]["payload"]["authorization"]
    nonce = authorization["nonce"].lower()
    return f"{offer['network']}:{offer['asset'].lower()}:{authorization['from'].lower()}:{nonce}"


def _reset(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def _lines(path: Path) -> list[dict[str, Any]]:
    """What was written before, without a line that SIGKILL cut off."""
    if not path.exists():
        return []
    whole = path.read_text().rpartition("\n")[0]
    path.write_text(whole + "\n" if whole else "")
    return [json.loads(line) for line in whole.splitlines()]


async def serve(host: str, port: int, facilitator: Facilitator) -> None:
    """Until the process ends. A handler whose caller has gone is cancelled."""
    runner = web.AppRunner(facilitator.app(), handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    await asyncio.Event().wait()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--faults", type=float, default=0.0)
    parser.add_argument("--log", default="settles.jsonl")
    options = parser.parse_args()
    facilitator = Facilitator(options.folder, options.seed, options.faults, options.log)
    asyncio.run(serve(options.host, options.port, facilitator))


if __name__ == "__main__":
    main()
