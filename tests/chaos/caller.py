"""A caller with a wallet, who writes down what every request got."""

import asyncio
import base64
import dataclasses
import hashlib
import json
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import aiohttp
import msgspec
from coincurve import PrivateKey

from api.payment.fingerprint import Fingerprinter
from shared.money import Price
from shared.settings.secret_files import read_key
from shared.x402 import evm
from shared.x402.networks import EVM_USDC
from shared.x402.wire import Offer
from tests import signing
from tests.chaos.history import Answer

PAY_TO = "0x1111111111111111111111111111111111111111"
OFFER = evm.offers(EVM_USDC["eip155:8453"], Price.of("0.001"), PAY_TO)[0]
TIMEOUT_S = 30.0


@dataclass
class Purchase:
    """One payment, and the request that it is meant for.

    Attributes:
        call: what the handler is asked; to watch: what is looked at, a stroke, and something of its own.
        body: what is sent instead of the call.
        answers: what the request has got, in the order of their arrival.
        content: of the last 200.
    """

    header: str
    payment: str
    valid_before: int
    endpoint: str = "echo"
    call: str = field(default_factory=lambda: uuid.uuid4().hex)
    body: bytes = b""
    answers: list[Answer] = field(default_factory=list)
    content: bytes = b""

    @property
    def end(self) -> int | None:
        """200 or 402 once it has got that last, and there is nothing more to be had."""
        last = self.answers[-1].status if self.answers else 0
        return last if last in (200, 402) else None

    def substitute(self) -> "Purchase":
        """The same payment with another body."""
        return dataclasses.replace(self, call=f"{self.call}-", answers=[])


def purchase(
    key: PrivateKey,
    *,
    valid_s: int = 300,
    endpoint: str = "echo",
    subject: str = "",
    offer: Offer = OFFER,
    body: bytes = b"",
) -> Purchase:
    """Sign a payment.

    Args:
        subject: what is looked at.
        body: what is sent instead of a message with the subject.
    """
    valid_before = int(time.time()) + valid_s
    payload = signing.payload(key, offer, validBefore=str(valid_before))
    nonce, payer = payload["authorization"]["nonce"], payload["authorization"]["from"]
    content = {"x402Version": 2, "accepted": signing.wire(offer), "payload": payload}
    return Purchase(
        header=base64.b64encode(json.dumps(content).encode()).decode(),
        payment=f"{offer.network}:{offer.asset.lower()}:{payer}:{nonce}",
        valid_before=valid_before,
        endpoint=endpoint,
        call=f"{subject}/{uuid.uuid4().hex}",
        body=body,
    )


class Caller:
    """Sends requests and writes down what they got.

    Args:
        origins: of the API processes, which a request goes to in turn.
        key: of the installation.
        answers: where each answer is a line.
    """

    def __init__(self, session: aiohttp.ClientSession, origins: Sequence[str], *, key: bytes, answers: TextIO) -> None:
        self.key = PrivateKey()
        self._session = session
        self._origins = origins
        self._turn = 0
        self._fingerprint = Fingerprinter(key)
        self._file = answers

    def lead_to(self, origins: Sequence[str]) -> None:
        """Send requests to these API processes from now on."""
        self._origins = origins

    async def ask(self, bought: Purchase) -> Answer:
        """Send the request once."""
        body = bought.body or json.dumps({"message": bought.call}).encode()
        self._turn += 1
        sent = time.time()
        status, headers, content = await self._post(bought, body, self._origins[self._turn % len(self._origins)])
        problem = _problem(content) if status not in (0, 200) else {}
        answer = Answer(
            payment=bought.payment,
            call=bought.call,
            fingerprint=self._fingerprint(bought.endpoint, b"", body, b""),
            valid_before=bought.valid_before,
            sent=sent,
            at=time.time(),
            status=status,
            code=str(problem.get("code") or problem.get("error") or ""),
            charged=problem.get("charged"),
            body=hashlib.blake2b(content, digest_size=8).hexdigest(),
            receipt=_transaction(headers.get("PAYMENT-RESPONSE", "")),
            seen=_seen(content) if status == 200 and bought.endpoint == "watch" else None,
        )
        self._file.write(msgspec.json.encode(answer).decode() + "\n")
        self._file.flush()
        bought.answers.append(answer)
        bought.content = content if status == 200 else bought.content
        return answer

    async def insist(self, bought: Purchase, *, within_s: float, pause_s: float = 0.15) -> int | None:
        """Repeat the identical request until it has its end."""
        give_up_at = time.monotonic() + within_s
        while True:
            await self.ask(bought)
            if bought.end is not None or time.monotonic() > give_up_at:
                return bought.end
            await asyncio.sleep(pause_s)

    async def _post(self, bought: Purchase, body: bytes, origin: str) -> tuple[int, dict[str, str], bytes]:
        headers = {"PAYMENT-SIGNATURE": bought.header, "Content-Type": "application/json"}
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
        try:
            async with self._session.post(
                f"{origin}/v1/cdp/{bought.endpoint}", data=body, headers=headers, timeout=timeout
            ) as response:
                content = await response.read()
                return response.status, {name.upper(): value for name, value in response.headers.items()}, content
        except (aiohttp.ClientError, OSError, TimeoutError):
            return 0, {}, b""


@asynccontextmanager
async def calling(folder: Path, origins: Sequence[str]) -> AsyncIterator[Caller]:
    """A caller whose answers are in the run's folder."""
    # As many requests at once as there are; a connection to a process that was killed is not used again.
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    with (folder / "answers.jsonl").open("a") as answers:
        async with aiohttp.ClientSession(connector=connector) as session:
            yield Caller(session, origins, key=read_key(folder / "key"), answers=answers)


def _problem(content: bytes) -> dict[str, Any]:
    try:
        problem = json.loads(content)
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}


def _seen(content: bytes) -> tuple[str, str]:
    _, visit, before = json.loads(content)["youSent"].rsplit(" ", 2)
    return visit, before


def _transaction(header: str) -> str:
    if not header:
        return ""
    receipt = json.loads(base64.b64decode(header))
    return str(receipt["transaction"]) if receipt["success"] else ""
