"""Each cause, over the real API, ledger and queue: what the caller is told, and the one line that it leaves in the log."""

import asyncio
import dataclasses
import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import dramatiq
import httpx
import pytest
from litestar import Litestar

from api.admission import Admission
from api.causes import Cause
from api.dispatch import Dispatcher, ReplyTimeout
from api.errors import ERROR_KINDS
from api.payment.ledger import Ledger
from api.payment.ledger_terms import LOOK_UPS, Entry, LookUp, Verdict
from api.payment.limits import Limit, Limits
from api.payment.price_lists import PriceLists
from api.pools import PoolRefusal, Pools
from api.redis_client import RedisLost, RedisRefused
from api.replies import Unread
from jobs.catalogue import BY_NAME
from shared.layouts import UnknownLayout
from shared.money import Price
from shared.outcome import NOT_STORED, Failed
from shared.x402.refusal import PaymentRefused
from tests.api.paying import Payer, encoded

PATH = "/v1/cdp/echo"
NOWHERE = "http://127.0.0.1:1"
RECEIPT = b'{"success":true,"transaction":"0x1","network":"eip155:8453"}'
LINE = re.compile(
    r"paid call not answered: request=(?P<request>\S+) payment=(?P<payment>\S+) job=(?P<job>\S+) endpoint=(?P<endpoint>\S+)"
    r" code=(?P<code>\S+) cause=(?P<cause>\S+) charged=(?P<charged>true|false|unknown)(?: error=.+)?"
)

pytestmark = pytest.mark.anyio


SOLD = (dataclasses.replace(BY_NAME["echo"], failures=("node_error", "dns_failure"), target_failures=("dns_failure",)),)
"""These tests buy echo, with reasons of failure."""


@dataclass
class Trial:
    """One API without a worker, and what a scenario may change in it."""

    app: Litestar
    shop: httpx.AsyncClient
    call: Any
    payer: Any
    facilitator: Any
    monkeypatch: pytest.MonkeyPatch

    @property
    def rail(self) -> Any:
        return self.call._gate._priced[0][1]

    def header(self, **payload: str) -> str:
        payment = self.payer.payment()
        payment["payload"] |= payload
        return encoded(payment)

    async def pay(self, header: str = "", *, name: str = "the-one", content: bytes = b"{}") -> httpx.Response:
        """Make a paid call. Its request id is `name`."""
        headers = {"PAYMENT-SIGNATURE": header or self.header(), "X-Request-Id": name}
        return await self.shop.post(PATH, content=content, headers=headers)

    async def pay_slowly(self, *events: dict[str, Any], **headers: str) -> httpx.Response:
        """Make a paid call whose body arrives in these ASGI events, and then not at all."""
        sent: list[Any] = []
        coming = list(events)

        async def receive() -> Any:
            if not coming:
                await asyncio.Event().wait()
            return coming.pop(0)

        async def send(event: Any) -> None:
            sent.append(event)

        sent_headers = [
            (b"content-length", b"9"),
            (b"x-request-id", b"the-one"),
            (b"payment-signature", self.header().encode()),
            *((name.encode(), value.encode()) for name, value in headers.items()),
        ]
        scope = {"type": "http", "method": "POST", "path": PATH, "query_string": b"", "headers": sent_headers}
        await self.app(scope, receive, send)  # type: ignore[arg-type]
        return httpx.Response(sent[0]["status"], headers=sent[0]["headers"], content=sent[1]["body"])

    def open_pool(self) -> None:
        """As if a worker served it."""
        self.close_pool(None)

    def close_pool(self, refusal: PoolRefusal | None) -> None:
        async def take(dispatcher: Dispatcher, endpoint: Any, work: object = None) -> PoolRefusal | None:
            dispatcher._taken[endpoint.pool] += refusal is None
            return refusal

        self.monkeypatch.setattr(Dispatcher, "take", take)

    def run_raises(self, error: Exception) -> None:
        async def run(*_: object) -> bytes:
            raise error

        self.open_pool()
        self.monkeypatch.setattr(Dispatcher, "run", run)

    def ledger_says(self, *entries: Entry | Exception) -> None:
        """These verdicts one after the other, the last one for ever."""
        saying = list(entries)

        async def look_up(*_: object) -> Entry:
            said = saying.pop(0) if len(saying) > 1 else saying[0]
            if isinstance(said, Exception):
                raise said
            return said

        self.open_pool()
        self.monkeypatch.setattr(Ledger, "look_up", look_up)


Scenario = Callable[[Trial], Awaitable[httpx.Response]]
SCENARIOS: dict[Cause, Scenario] = {}
CHARGED: dict[Cause, bool | str] = {
    **dict.fromkeys((Cause.LEDGER_UNREACHABLE, Cause.SETTLEMENT_UNKNOWN, Cause.DRIVER_MISSING), "unknown"),
    **dict.fromkeys((Cause.SAME_CALL, Cause.UNEXPECTED, Cause.CLAIMED_BY_ANOTHER), "unknown"),
    **dict.fromkeys((Cause.SETTLEMENT_UNRECORDED, Cause.QUEUE_UNREACHABLE, Cause.ANSWER_LATE), True),
    **dict.fromkeys((Cause.WORKER_KEY, Cause.RUN_FAILED, Cause.ANSWER_NOT_STORED), True),
    **dict.fromkeys((Cause.REFUNDABLE, Cause.REFUNDED, Cause.ANSWER_LAYOUT), True),
}
"""The others are not charged."""
COUNTED: dict[Cause, str] = {
    **dict.fromkeys(
        (Cause.NO_WORKER, Cause.QUEUE_UNREADABLE, Cause.PORT_UNAVAILABLE, Cause.UPSTREAM_CLOSED), "refused"
    ),
    **dict.fromkeys((Cause.POOL_FULL, Cause.POOL_SLOW, Cause.LONG_BODIES, Cause.LEDGER_DISK_FULL), "refused"),
    **dict.fromkeys((Cause.LEDGER_FULL, Cause.RAIL_DOWN, Cause.VERIFICATION_UNANSWERED), "refused"),
    **dict.fromkeys((Cause.FACILITATOR_UNREACHABLE, Cause.SETTLEMENT_TOO_COSTLY), "refused"),
    **dict.fromkeys((Cause.LEDGER_UNREACHABLE, Cause.SETTLEMENT_UNKNOWN, Cause.SETTLEMENT_UNRECORDED), "failed"),
    **dict.fromkeys((Cause.QUEUE_UNREACHABLE, Cause.ANSWER_NOT_STORED, Cause.ANSWER_LATE), "failed"),
    **dict.fromkeys((Cause.WORKER_KEY, Cause.RUN_FAILED, Cause.UNEXPECTED), "failed"),
}
"""How /status counts a call that ends so. The others are the caller's, or not the first request of their call."""
OF_CHANNELS = (Cause.CHANNEL_UNREAD,)
"""tests/api/test_channels.py has them."""
REASONS = {Cause.PORT_UNAVAILABLE: "no_browser"}
"""The others are their problem's reason themselves."""


def scenario(cause: Cause) -> Callable[[Scenario], Scenario]:
    """Declare how a cause comes about."""

    def declare(how: Scenario) -> Scenario:
        SCENARIOS[cause] = how
        return how

    return declare


@scenario(Cause.NO_WORKER)
async def no_worker(trial: Trial) -> httpx.Response:
    return await trial.pay()


@scenario(Cause.QUEUE_UNREADABLE)
async def queue_unreadable(trial: Trial) -> httpx.Response:
    async def unreadable(pools: Pools) -> None:
        pools._states = {}

    trial.monkeypatch.setattr(Pools, "_read", unreadable)
    watching = trial.call._services.dispatcher._pools
    await watching.stop()  # a read that is under way would end after this one
    watching._states = {}
    return await trial.pay()


@scenario(Cause.NOT_SOLD)
async def not_sold(trial: Trial) -> httpx.Response:
    async def honoured(*_: object) -> tuple[Price, ...]:
        return ()

    trial.monkeypatch.setattr(PriceLists, "honoured", honoured)
    trial.call._gate.sell_at(None)
    return await trial.pay()


@scenario(Cause.CALL_RATE)
async def call_rate(trial: Trial) -> httpx.Response:
    trial.monkeypatch.setattr(Limits, "of", lambda *_: Limit(60_000, 1))
    trial.run_raises(RedisLost("on purpose"))
    await trial.pay(name="before")
    return await trial.pay()


@scenario(Cause.VERIFICATION_UNANSWERED)
async def verification_unanswered(trial: Trial) -> httpx.Response:
    trial.open_pool()
    trial.rail.facilitator.url = NOWHERE
    return await trial.pay(trial.header(signature="0x" + "ab" * 96))


@scenario(Cause.VERIFICATION_REFUSED)
async def verification_refused(trial: Trial) -> httpx.Response:
    trial.open_pool()
    return await trial.pay(trial.header(signature="0x" + "ab" * 96))


async def left_unknown(trial: Trial, header: str, name: str) -> httpx.Response:
    trial.open_pool()
    trial.facilitator.script, trial.facilitator.evidence = ["error500"], "unknown"
    return await trial.pay(header, name=name)


@scenario(Cause.CLAIMED_BY_ANOTHER)
async def claimed_by_another(trial: Trial) -> httpx.Response:
    header = trial.header()
    await left_unknown(trial, header, "before")
    return await trial.pay(header, content=b'{"message":"another"}')


@scenario(Cause.DRIVER_MISSING)
async def driver_missing(trial: Trial) -> httpx.Response:
    header = trial.header()
    await left_unknown(trial, header, "before")

    async def refusal(*_: object, **__: object) -> PaymentRefused:
        return PaymentRefused("expired")

    trial.monkeypatch.setattr(Admission, "refusal", refusal)
    trial.close_pool(PoolRefusal(Cause.NO_WORKER))
    return await trial.pay(header)


@scenario(Cause.ANSWER_NOT_STORED)
async def answer_not_stored(trial: Trial) -> httpx.Response:
    async def not_stored(dispatcher: Dispatcher, endpoint: Any, arguments: Any, _: object) -> bytes:
        payment_id, secret = arguments.payment_id, arguments.secret
        return cast(bytes, trial.call._services.answers.seal(NOT_STORED, endpoint, payment_id, secret))

    trial.open_pool()
    trial.monkeypatch.setattr(Dispatcher, "run", not_stored)
    return await trial.pay()


@scenario(Cause.REFUNDED)
async def refunded(trial: Trial) -> httpx.Response:
    trial.ledger_says(Entry(Verdict.FAILED, receipt=RECEIPT, refund="0xdef"))
    answer = await trial.pay()
    assert answer.json()["details"] == [{"refund": "0xdef"}]
    return answer


@scenario(Cause.BODY_LATE)
async def body_late(trial: Trial) -> httpx.Response:
    trial.monkeypatch.setattr("api.body.READ_TIMEOUT_S", 0.05)
    return await trial.pay_slowly()


@scenario(Cause.BODY_CUT_OFF)
async def body_cut_off(trial: Trial) -> httpx.Response:
    part = {"type": "http.request", "body": b"{", "more_body": True}
    return await trial.pay_slowly(part, {"type": "http.disconnect"})


@scenario(Cause.BODY_TRAILERS)
async def body_trailers(trial: Trial) -> httpx.Response:
    part = {"type": "http.request", "body": b"{", "more_body": True}
    return await trial.pay_slowly(part, {"type": "http.disconnect"}, trailer="x-checksum")


@scenario(Cause.REFUSED_BEFORE)
async def refused_before(trial: Trial) -> httpx.Response:
    trial.open_pool()
    trial.facilitator.script = ["refuse"]
    header = trial.header()
    await trial.pay(header, name="before")
    return await trial.pay(header)


def raising(error: Exception) -> Callable[..., NoReturn]:
    def fail(*_: object) -> NoReturn:
        raise error

    return fail


OTHER = Entry(Verdict.IDENTIFIED, other="eip155:8453:another")
LOST = RedisLost("on purpose")
CLOSED = (Cause.PORT_UNAVAILABLE, Cause.UPSTREAM_CLOSED, Cause.POOL_FULL, Cause.POOL_SLOW)
"""What a pool that takes no call says."""
LEDGER: dict[Cause, tuple[Entry | Exception, ...]] = {
    Cause.LEDGER_FULL: (RedisRefused("OOM"), Entry(Verdict.ABSENT)),
    Cause.LEDGER_UNREACHABLE: (LOST,),
    Cause.SETTLING_GIVEN_UP: (Entry(Verdict.WAIT), Entry(Verdict.ABSENT)),
    Cause.REFUNDABLE: (Entry(Verdict.FAILED, receipt=RECEIPT),),
    Cause.SAME_CALL: (Entry(Verdict.WAIT),),
    Cause.ANSWER_LAYOUT: (Entry(Verdict.ANSWER, receipt=RECEIPT, answer=b"sealed"),),
    Cause.UNEXPECTED: (ValueError("on purpose"),),
    Cause.IDENTIFIER_OF_ANOTHER: (OTHER, Entry(Verdict.CONFLICT)),
    Cause.IDENTIFIER_OPEN: (OTHER, Entry(Verdict.IDLE)),
    Cause.IDENTIFIER_SECRET: (OTHER, Entry(Verdict.ANSWER, receipt=RECEIPT, answer=b"sealed for another payment")),
}
"""What the ledger says."""
RUN: dict[Cause, Exception] = {
    Cause.QUEUE_UNREACHABLE: LOST,
    Cause.ANSWER_LATE: ReplyTimeout(),
    Cause.WORKER_KEY: Unread("on purpose"),
    Cause.RUN_FAILED: ValueError("on purpose"),
}
"""What comes of a run."""
FACILITATOR: dict[Cause, tuple[str, str | None]] = {
    Cause.SETTLEMENT_UNKNOWN: ("error500", "unknown"),
    Cause.SETTLEMENT_REFUSED: ("refuse", None),
    Cause.SETTLEMENT_REFUTED: ("error500", "void"),
}
"""How the facilitator answers /settle, and then when it is asked for evidence."""
CHANGED: dict[Cause, dict[str, object]] = {
    Cause.LONG_BODIES: {"api.long_bodies.LONG_BYTES": 1, "api.long_bodies.HELD_BYTES": 1},
    Cause.CALLS_IN_FLIGHT: {"api.payment.limits.IN_FLIGHT": 0},
    Cause.LEDGER_DISK_FULL: {"api.disk.Disk.is_full": lambda _: True},
    Cause.SAME_CALL: {"api.pipeline.DUPLICATE_WAIT_S": 0},
    Cause.SETTLEMENT_UNRECORDED: {"api.payment.ledger.Ledger.settled": raising(LOST)},
    Cause.ANSWER_LAYOUT: {"shared.sealing.answers.AnswerSealer.open_for": raising(UnknownLayout("on purpose"))},
}
"""What is different in the process."""
OF_THE_RAIL: dict[Cause, Callable[[Any], object]] = {
    Cause.RAIL_DOWN: lambda rail: setattr(rail.health, "is_up", False),
    Cause.SETTLEMENT_TOO_COSTLY: lambda rail: rail.health.costs.note(501),
    Cause.FACILITATOR_UNREACHABLE: lambda rail: setattr(rail.facilitator, "url", NOWHERE),
}
"""What is different at the rail."""


async def come_about(trial: Trial, cause: Cause) -> httpx.Response:
    """The answer to a call that ends so: one line of a table, or a scenario."""
    if cause in SCENARIOS:
        return await SCENARIOS[cause](trial)
    trial.open_pool()
    if cause in CLOSED:
        trial.close_pool(PoolRefusal(cause, REASONS.get(cause)))
    if cause in LEDGER:
        trial.ledger_says(*LEDGER[cause])
    if cause in RUN:
        trial.run_raises(RUN[cause])
    if cause in FACILITATOR:
        trial.facilitator.script, trial.facilitator.evidence = [FACILITATOR[cause][0]], FACILITATOR[cause][1]
    if cause in OF_THE_RAIL:
        OF_THE_RAIL[cause](trial.rail)
    for name, value in CHANGED.get(cause, {}).items():
        trial.monkeypatch.setattr(name, value)
    return await trial.pay()


@pytest.fixture
def trial(
    app: Litestar,
    shop: httpx.AsyncClient,
    paid_calls: dict[str, Any],
    payer: Payer,
    facilitator: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Trial:
    return Trial(app, shop, paid_calls[PATH], payer, facilitator, monkeypatch)


def lines(caplog: pytest.LogCaptureFixture, request: str = "the-one") -> list[re.Match[str]]:
    """The lines of one request. Whatever mentions it has the form of LINE."""
    told = [record.getMessage() for record in caplog.records if request in record.getMessage()]
    matches = [LINE.fullmatch(message) for message in told]
    assert None not in matches, told
    return [match for match in matches if match is not None]


def counted_by(trial: Trial) -> Counter[tuple[str, str]]:
    """What /status will show, by result and cause. Every rail and endpoint is that of these tests."""
    cells = trial.call._services.status._new.cells
    assert set(cells) <= {("echo", "base")}
    found = {key: failures.count for cell in cells.values() for key, failures in cell.failures.items()}
    answered = sum(cell.count("answered") for cell in cells.values())
    return Counter(found | ({("answered", ""): answered} if answered else {}))


@pytest.mark.parametrize("cause", [one for one in Cause if one not in OF_CHANNELS], ids=lambda cause: cause.reason)
async def test_each_cause_is_told_to_the_caller_and_is_one_line_in_the_log(
    trial: Trial, caplog: pytest.LogCaptureFixture, cause: Cause
) -> None:
    """With request, payment, endpoint, code, cause and charged; an operator sees it without any setting. Where the call was
    charged, metrics count it as our fault."""
    caplog.set_level(logging.DEBUG)
    faults: list[str] = []
    before = counted_by(trial)
    trial.monkeypatch.setattr("api.pipeline.metrics.call", lambda *counts: faults.append(counts[4]))
    answer = await come_about(trial, cause)
    (line,) = lines(caplog)
    charged = CHARGED.get(cause, False)
    if cause.code == "payment_required":
        assert (answer.status_code, line["code"]) == (402, answer.json()["error"])
    else:
        problem = answer.json()
        reason = REASONS.get(cause, cause.reason)
        assert (problem["code"], problem["reason"], problem["detail"]) == (cause.code, reason, cause.detail)
        assert (problem["charged"], line["code"]) == (charged, cause.code)
        assert ("payment-response" in answer.headers) == (charged is True)
    assert (line["endpoint"], line["cause"], line["charged"]) == ("echo", cause.reason, str(charged).lower())
    knows_payment = cause not in (Cause.BODY_LATE, Cause.BODY_CUT_OFF, Cause.BODY_TRAILERS, Cause.LONG_BODIES)
    assert line["payment"].startswith("eip155:8453:") == knows_payment
    (record,) = [record for record in caplog.records if "the-one" in record.getMessage()]
    assert record.levelno >= logging.WARNING
    assert faults[-1] == ("ours" if charged is True else "")
    of_this = {key: count for key, count in (counted_by(trial) - before).items() if key[1] == cause.reason}
    assert of_this == ({(COUNTED[cause], cause.reason): 1} if cause in COUNTED else {})


def test_causes_are_told_apart() -> None:
    """By their words and by their sentences; and each has a code that the API knows."""
    assert len({cause.detail for cause in Cause}) == len(Cause)
    assert {cause.code for cause in Cause} <= {*ERROR_KINDS, "payment_required"}
    assert all(cause.detail.endswith(".") for cause in Cause)


async def test_a_failed_job_is_one_line_with_its_id(
    trial: Trial, worker: dramatiq.Worker, caplog: pytest.LogCaptureFixture
) -> None:
    """Its cause is the reason that the endpoint documents, or else its code. Metrics say whose fault it is."""
    counted: list[tuple[object, ...]] = []
    trial.monkeypatch.setattr("api.pipeline.metrics.call", lambda *counts: counted.append((*counts[:3], counts[4])))
    reasons = {"node_error": "ours", "dns_failure": "caller", None: "ours"}
    for reason, cause in ((reason, reason or "upstream_failed") for reason in reasons):
        failed = Failed(code="upstream_failed", detail="No.", reason=reason, retryable=True)
        trial.monkeypatch.setattr("workers.actors.execute", lambda *_, failed=failed: failed)
        answer = await trial.pay(name=f"request-{cause}")
        assert (answer.status_code, answer.json()["reason"]) == (502, reason)
        (line,) = lines(caplog, f"request-{cause}")
        assert (line["code"], line["cause"], line["charged"]) == ("upstream_failed", cause, "true")
        assert re.fullmatch(r"[0-9a-f]{32}", line["job"])
    assert counted == [("echo", 502, reason or "upstream_failed", fault) for reason, fault in reasons.items()]
    ended = {"node_error": "failed", "dns_failure": "caller_failed", "upstream_failed": "failed"}
    assert counted_by(trial) == {(result, cause): 1 for cause, result in ended.items()}


async def test_a_call_is_counted_once_by_what_its_first_request_got(trial: Trial, worker: dramatiq.Worker) -> None:
    """Neither the price, nor the stored answer, nor what is run again for the same payment, nor a request that is not right."""
    header = trial.header()
    for _ in range(2):
        assert (await trial.pay(header)).status_code == 200
        assert (await trial.pay(header, content=b'{"message":"another"}')).status_code == 402
        assert (await trial.pay(content=b'{"message":5}')).status_code == 400
        assert (await trial.shop.post(PATH)).status_code == 402
    failed = Failed(code="upstream_failed", detail="No.", reason="node_error", retryable=True)
    header = trial.header()
    with trial.monkeypatch.context() as failing:
        failing.setattr("workers.actors.execute", lambda *_: failed)
        assert (await trial.pay(header)).status_code == 502
    assert (await trial.pay(header)).status_code == 200
    assert counted_by(trial) == {("answered", ""): 1, ("failed", "node_error"): 1}


async def test_what_is_answered_or_not_paid_leaves_no_line(
    trial: Trial, worker: dramatiq.Worker, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor does a payment that our own checks refuse: nothing was asked of anybody."""
    caplog.set_level(logging.DEBUG)
    assert (await trial.pay()).status_code == 200
    assert (await trial.shop.post(PATH, headers={"X-Request-Id": "the-one"})).status_code == 402
    assert (await trial.shop.put(PATH, headers={"X-Request-Id": "the-one"})).status_code == 405
    assert (await trial.pay("not base64")).status_code == 400
    assert lines(caplog) == []


async def test_an_invalid_body_is_one_line_without_a_word_of_it(trial: Trial, caplog: pytest.LogCaptureFixture) -> None:
    """The code is the cause."""
    trial.open_pool()
    answer = await trial.pay(content=b'{"message": 5, "secret": "hunter2"}')
    assert answer.status_code == 400
    (line,) = lines(caplog)
    assert (line["code"], line["cause"], line["charged"]) == ("invalid_body", "invalid_body", "false")
    assert "hunter2" not in caplog.text


async def test_a_payment_for_an_unknown_path_is_one_line(trial: Trial, caplog: pytest.LogCaptureFixture) -> None:
    """The path is the caller's text, and is not in it."""
    headers = {"PAYMENT-SIGNATURE": trial.header(), "X-Request-Id": "the-one"}
    assert (await trial.shop.post("/v1/cdp/hunter2", headers=headers)).status_code == 404
    (line,) = lines(caplog)
    assert (line["endpoint"], line["code"], line["charged"]) == ("-", "not_found", "false")


def test_the_ledger_is_asked_as_the_table_says() -> None:
    """A call without a slot drives nothing, whatever else is wrong with it."""
    assert {how for (_, has_slot), how in LOOK_UPS.items() if not has_slot} == {LookUp.PEEK}
