"""One paid call over the real API, ledger, queue and worker; only the facilitator is a double."""

import asyncio
import base64
import gzip
import json
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import dramatiq
import httpx
import pytest
import redis

from api.body import READ_TIMEOUT_S
from api.payment.ledger import Ledger
from api.payment.ledger_terms import Claim, Entry, LookUp
from api.pools import FRESH_S
from jobs.catalogue import BY_NAME
from shared.endpoint import Pool
from shared.ledger.keys import in_every_bucket
from shared.outcome import Failed, Ok
from shared.pools import POOLS
from shared.queue.streams import closed_key
from shared.x402.evm import SETTLE_MARGIN_S
from tests.api.conftest import FacilitatorDouble
from tests.api.paying import Payer, encoded, paid_with
from tests.each import each

PATH = "/v1/cdp/echo"

pytestmark = pytest.mark.anyio


SOLD = (BY_NAME["echo"],)
"""These tests buy echo."""


def decoded(value: str) -> Any:
    return json.loads(base64.b64decode(value))


@each("method", ["GET", "HEAD"])
async def test_get_and_head_show_the_price(shop: httpx.AsyncClient, method: str) -> None:
    """Scanners probe with what they like; HEAD has no body."""
    answer = await shop.request(method, PATH)
    assert answer.status_code == 402
    assert decoded(answer.headers["payment-required"])["x402Version"] == 2
    assert bool(answer.content) is (method == "GET")


@each("method", ["PUT", "DELETE", "PATCH"])
async def test_other_methods_are_405(shop: httpx.AsyncClient, method: str) -> None:
    """With the same Allow as the answer to OPTIONS, as a problem document."""
    answer = await shop.request(method, PATH)
    assert (await shop.options(PATH)).headers.get_list("allow") == ["POST, OPTIONS"]
    assert (answer.status_code, answer.headers["allow"], answer.json()["code"]) == (
        405,
        "POST, OPTIONS",
        "method_not_allowed",
    )


async def test_a_paid_call_is_answered_with_its_receipt(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer
) -> None:
    """200, the answer of the worker, and the settlement in PAYMENT-RESPONSE."""
    payment = payer.payment()
    answer = await shop.post(PATH, json={"message": "hi"}, headers=paid_with(payment))
    assert answer.status_code == 200
    assert answer.json() == {"ok": True, "service": "coinslot", "youSent": "hi"}
    receipt = decoded(answer.headers["payment-response"])
    assert receipt["success"] is True
    assert (receipt["payer"], receipt["amount"], receipt["network"]) == (payer.address, "1000", "eip155:8453")
    assert "x-payment-response" not in answer.headers
    assert "private" in answer.headers["cache-control"]


@each("value", ["", "x", "e30=", "bnVsbA==", "A" * 20_000, "=" * 8])
async def test_a_garbage_header_is_400_with_a_reason(shop: httpx.AsyncClient, value: str) -> None:
    """Never 5xx and never served. It says where the price is told."""
    answer = await shop.post(PATH, headers={"PAYMENT-SIGNATURE": value})
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["charged"]) == (400, "invalid_payment", False)
    assert problem["reason"].startswith("payment_")
    assert (answer.headers["link"], problem["instance"]) == (f'<{PATH}>; rel="payment"', PATH)
    assert (await shop.post(PATH)).status_code == 402


async def test_the_window_is_judged_before_the_body(
    shop: httpx.AsyncClient, payer: Payer, worker: dramatiq.Worker
) -> None:
    """A payment whose time is over is told so whatever the body is, and no byte of the body is waited for."""
    expired = encoded(payer.payment(validBefore="1000"))

    async def never() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    for body in (b"{}", b"no JSON", never()):
        async with asyncio.timeout(READ_TIMEOUT_S - 1):
            answer = await shop.post(PATH, content=body, headers={"PAYMENT-SIGNATURE": expired})
        reason = "invalid_exact_evm_payload_authorization_valid_before"
        assert (answer.status_code, answer.json()["error"]) == (402, reason)


async def test_no_copy_is_settled_once_another_was_too_late(
    shop: httpx.AsyncClient,
    payer: Payer,
    worker: dramatiq.Worker,
    facilitator: FacilitatorDouble,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One copy is in time, and its claim takes a while to reach the ledger. Meanwhile the next one is refused for good."""
    is_checked, may_claim = asyncio.Event(), asyncio.Event()
    look_up = Ledger.look_up

    async def slow(ledger: Ledger, claim: Claim, how: LookUp) -> Entry:
        is_checked.set()
        await may_claim.wait()
        return await look_up(ledger, claim, how)

    monkeypatch.setattr(Ledger, "look_up", slow)
    last_s = int(time.time()) + 2
    headers = payer.headers(validBefore=str(last_s + SETTLE_MARGIN_S))
    first = asyncio.create_task(shop.post(PATH, headers=headers))
    checked = asyncio.create_task(is_checked.wait())
    # On a slow machine the first one may be too late itself.
    await asyncio.wait((first, checked), return_when=asyncio.FIRST_COMPLETED)
    await asyncio.sleep(last_s + 1 - time.time())
    second = await shop.post(PATH, headers=headers)
    may_claim.set()
    refusals = [(answer.status_code, answer.json().get("error")) for answer in (await first, second)]
    assert refusals == [(402, "invalid_exact_evm_payload_authorization_valid_before")] * 2
    assert facilitator.settles == []
    checked.cancel()


@each(
    ("url", "status"),
    [
        ("http://shop.test" + PATH, 200),
        ("https://SHOP.test:8443" + PATH + "/?q#f", 200),
        ("http://also.shop.test" + PATH, 200),
        (PATH, 200),
        ("http://evil.test" + PATH, 402),
        ("http://shop.test.evil.test" + PATH, 402),
        ("http://shop.test@evil.test" + PATH, 402),
        ("//evil.test" + PATH, 402),
        ("http://[" + PATH, 402),
        ("urn:x" + PATH, 402),
        ("http://shop.test/v2" + PATH, 402),
        ("http://shop.test/v1/cdp/echo/v1/cdp/x" + PATH, 402),
        ("x" + PATH, 402),
        ("http://shop.test/" + PATH, 402),
        ("http://shop.test" + PATH + "//", 402),
        ("http://shop.test" + PATH + "/more", 402),
    ],
)
async def test_a_payment_for_another_address_is_refused(
    shop: httpx.AsyncClient, payer: Payer, worker: dramatiq.Worker, url: str, status: int
) -> None:
    """Its client means another service or another call: the whole path counts. COINSLOT_EXTRA_HOSTS has the names that this
    one has beside its base URL's."""
    answer = await shop.post(PATH, json={}, headers=payer.headers(resource=url))
    assert answer.status_code == status
    assert status == 200 or answer.json()["error"] == "resource_mismatch"


@each(
    ("body", "content_type", "status", "code"),
    [
        (b"{", "application/json", 400, "invalid_json"),
        (b'{"message":5}', "application/json", 400, "invalid_body"),
        (b'{"x":' + b"[" * 50_000, "application/json", 400, "invalid_json"),
        (b"message=hi", "application/x-www-form-urlencoded", 415, "unsupported_media_type"),
        (b" " * 100_000, "application/json", 413, "too_large"),
    ],
)
async def test_an_invalid_body_is_refused_and_not_charged(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, body: bytes, content_type: str, status: int, code: str
) -> None:
    """As a problem document that says so; the payment stays usable."""
    headers = {"PAYMENT-SIGNATURE": encoded(payer.payment()), "Content-Type": content_type}
    answer = await shop.post(PATH, content=body, headers=headers)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["code"], problem["charged"], problem["status"]) == (code, False, status)
    assert problem["requestId"] == answer.headers["x-request-id"]
    assert facilitator.settles == []


async def test_a_compressed_body_is_refused_and_not_charged(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any
) -> None:
    """With what is taken instead (RFC 9110, section 15.5.16), wherever a body is read. `identity` is no coding."""
    packed = gzip.compress(b" " * 100_000_000, 1)[:500]
    headers = {"PAYMENT-SIGNATURE": encoded(payer.payment()), "Content-Type": "application/json"}
    for coding in ("gzip", "GZIP", "br, gzip", "unknown"):
        for path in (PATH, "/mcp"):
            answer = await shop.post(path, content=packed, headers=headers | {"Content-Encoding": coding})
            assert (answer.status_code, answer.headers["accept-encoding"]) == (415, "identity")
            assert "Content-Encoding" in answer.json()["detail"]
    form = {"Content-Type": "application/x-www-form-urlencoded", "Content-Encoding": "gzip"}
    assert (await shop.post("/bazaar/echo", content=packed, headers=form)).headers["accept-encoding"] == "identity"
    plain = await shop.post(PATH, content=b"{", headers=headers | {"Content-Encoding": "identity"})
    assert (plain.status_code, plain.json()["code"]) == (400, "invalid_json")
    assert facilitator.settles == []


async def test_a_body_that_cannot_be_read_does_not_make_a_charged_payment_uncharged(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer
) -> None:
    """What was told once as charged is told as charged again, with its receipt, whatever comes with it."""
    headers = {"PAYMENT-SIGNATURE": encoded(payer.payment()), "Content-Type": "application/json"}
    first = await shop.post(PATH, content=b'{"message":"a"}', headers=headers)
    assert first.status_code == 200
    for body, content_type, status in ((b"a", "text/plain", 415), (b" " * 100_000, "application/json", 413)):
        answer = await shop.post(PATH, content=body, headers={**headers, "Content-Type": content_type})
        assert (answer.status_code, answer.json()["charged"]) == (status, True)
        assert answer.headers["payment-response"] == first.headers["payment-response"]


async def test_an_expired_payment_still_fetches_its_answer(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window is for settling, not for collecting what is paid."""
    headers = payer.headers()
    first = await shop.post(PATH, json={}, headers=headers)
    real = time.time
    monkeypatch.setattr("api.pipeline.time.time", lambda: real() + 3600)
    assert (await shop.post(PATH, json={}, headers=headers)).content == first.content


def _facilitators(paid_calls: Any) -> list[Any]:
    return [rail.facilitator for call in paid_calls.values() for _, rail in call._gate._priced]


async def test_no_worker_is_503_before_charging(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, request: pytest.FixtureRequest
) -> None:
    """What nobody could answer is not sold; the same payment is good as soon as a worker is there."""
    headers = payer.headers()
    answer = await shop.post(PATH, headers=headers)
    problem = answer.json()
    assert (answer.status_code, problem["charged"], problem["retryWithSamePayment"]) == (503, False, True)
    assert facilitator.settles == []
    request.getfixturevalue("worker")
    await asyncio.sleep(2 * FRESH_S)
    answer = await shop.post(PATH, headers=headers)
    assert answer.status_code == 200, answer.text


async def test_a_late_answer_is_collected_later(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, facilitator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paid and late: 504 with the receipt, and the same payment gives the answer of the one run."""
    go_on = threading.Event()
    runs: list[bytes] = []

    def slow(endpoint: Any, body: bytes, context: Any) -> Any:
        runs.append(body)
        assert go_on.wait(20)
        return Ok(b'{"ok":true}')

    monkeypatch.setattr("workers.actors.execute", slow)
    headers = payer.headers()
    answer = await shop.post(PATH, headers=headers)
    problem = answer.json()
    assert (answer.status_code, problem["charged"], problem["retryWithSamePayment"]) == (504, True, True)
    assert decoded(answer.headers["payment-response"])["success"] is True
    go_on.set()
    answer = await shop.post(PATH, headers=headers)
    assert (answer.status_code, answer.json(), len(facilitator.settles), len(runs)) == (200, {"ok": True}, 1, 1)


async def test_request_ids_are_kept_or_made(shop: httpx.AsyncClient) -> None:
    """A short plain id comes back; anything else is replaced."""
    assert (await shop.post(PATH, headers={"X-Request-Id": "abc-1"})).headers["x-request-id"] == "abc-1"
    for bad in ("", "a b", "x" * 65, "<script>"):
        assert (await shop.post(PATH, headers={"X-Request-Id": bad})).headers["x-request-id"] != bad


@each("method", ["GET", "HEAD", "POST", "PUT"])
async def test_a_browser_and_an_agent_get_the_same_answer(shop: httpx.AsyncClient, method: str) -> None:
    """The headers for browsers are always there, whether the request has an Origin or not."""
    same = {"X-Request-Id": "same"}
    agent = await shop.request(method, PATH, headers=same)
    browser = await shop.request(method, PATH, headers={**same, "Origin": "https://agent.example"})
    assert (agent.status_code, agent.content, agent.headers) == (browser.status_code, browser.content, browser.headers)


async def test_a_closed_upstream_refuses_before_charging_until_it_opens(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, facilitator: Any, clean_redis: str
) -> None:
    """503 with Retry-After and nothing settled, for as long as a worker says so; then the same payment is served."""
    headers = payer.headers()
    with redis.Redis.from_url(clean_redis) as client:
        client.set(closed_key(Pool.MICRO), 1, px=60_000)
        await asyncio.sleep(0.4)  # what is known of a pool may be a quarter of a second old
        answer = await shop.post(PATH, headers=headers)
        assert (answer.status_code, answer.json()["code"], answer.json()["charged"]) == (503, "upstream_closed", False)
        assert (answer.headers["retry-after"], facilitator.settles) == ("30", [])
        client.delete(closed_key(Pool.MICRO))
    await asyncio.sleep(0.4)
    assert (await shop.post(PATH, headers=headers)).status_code == 200


async def test_a_full_pool_still_gives_stored_answers_and_drives_nothing(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, facilitator: Any, payer: Payer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answered payment is redelivered; one whose settlement is unknown has to wait."""
    answered, unknown = (payer.headers() for _ in range(2))
    assert (await shop.post(PATH, headers=answered)).status_code == 200
    facilitator.script, facilitator.evidence = ["error500"], "unknown"
    assert (await shop.post(PATH, headers=unknown)).status_code == 503
    monkeypatch.setitem(POOLS, Pool.MICRO, replace(POOLS[Pool.MICRO], room=0))
    assert (await shop.post(PATH, headers=answered)).status_code == 200
    assert (await shop.post(PATH, headers=unknown)).json()["code"] == "pool_full"
    assert len(facilitator.settles) == 2


async def test_what_is_public_on_the_chain_does_not_fetch_an_answer(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, facilitator: Any, payer: Payer
) -> None:
    """Payer and nonce of a paid call with a made-up wallet signature: the answer stays with the payer."""
    payment = payer.payment()
    assert (await shop.post(PATH, json={}, headers=paid_with(payment))).status_code == 200
    for size in (64, 66, 96, 500):
        payment["payload"]["signature"] = "0x" + "00" * size
        answer = await shop.post(PATH, json={}, headers=paid_with(payment))
        assert answer.status_code == 402
        assert answer.json()["error"] == "payment_already_used"


async def test_a_contract_wallet_pays_and_fetches_its_answer_with_its_own_signature(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, facilitator: Any, payer: Payer
) -> None:
    """Judged by the facilitator; another signature over the same nonce does not get the answer."""
    facilitator.accepts_wallet = True
    payment = payer.payment()
    payment["payload"]["signature"] = "0x" + "ab" * 96
    headers = paid_with(payment)
    first = await shop.post(PATH, json={}, headers=headers)
    assert first.status_code == 200
    facilitator.accepts_wallet = False
    assert (await shop.post(PATH, json={}, headers=headers)).content == first.content
    payment["payload"]["signature"] = "0x" + "cd" * 96
    assert (await shop.post(PATH, json={}, headers=paid_with(payment))).status_code == 402


@pytest.mark.parametrize(("clock_s", "status"), [(0, 503), (61, 503), (95, 402)])
async def test_an_unused_payment_is_refused_only_by_the_chains_clock(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, facilitator: Any, payer: Payer, clock_s: int, status: int
) -> None:
    """A block with the transfer may still arrive: unknown until the chain itself is well past the window."""
    facilitator.script, facilitator.evidence, facilitator.clock_s = ["error500"], "unused", clock_s
    answer = await shop.post(PATH, headers=payer.headers())
    assert answer.status_code == status


async def test_a_lost_reply_is_found_in_the_ledger(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job was done and stored; only its reply went missing."""
    monkeypatch.setattr("api.replies.ReplyReader._deliver", lambda self, raw: None)
    answer = await shop.post(PATH, json={"message": "a"}, headers=payer.headers())
    assert (answer.status_code, answer.json()["youSent"]) == (200, "a")


async def test_copies_of_a_call_that_was_abandoned_are_told_so(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, paid_calls: Any, clean_redis: str
) -> None:
    """Given a facilitator that cannot be reached, then no copy waits for a driver that has given up, and the payment is as good
    as new."""
    for rail_facilitator in _facilitators(paid_calls):
        rail_facilitator.url = "http://127.0.0.1:1"
    headers = payer.headers()
    answers = await asyncio.gather(*(shop.post(PATH, headers=headers) for _ in range(5)))
    assert {(answer.status_code, answer.json()["charged"]) for answer in answers} == {(503, False)}
    given_up = {"facilitator_unreachable", "settling_given_up"}
    assert {answer.json()["reason"] for answer in answers} <= given_up
    assert redis.Redis.from_url(clean_redis).keys(in_every_bucket("payment:*")) == []


async def test_a_failure_that_is_not_known_here_is_still_truthful(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer worker's code becomes internal_error, with the receipt."""
    failed = Failed(code="from_the_future", detail="?", retryable=True)
    monkeypatch.setattr("workers.actors.execute", lambda *_: failed)
    answer = await shop.post(PATH, headers=payer.headers())
    assert (answer.status_code, answer.json()["code"], answer.json()["charged"]) == (500, "internal_error", True)
    assert decoded(answer.headers["payment-response"])["success"] is True


@each("path", ["/healthz", "/openapi.json", "/bazaar.json", "/discovery/resources", "/.well-known/x402"])
async def test_free_paths_answer_head_and_say_what_is_allowed(shop: httpx.AsyncClient, path: str) -> None:
    """Monitors probe with HEAD; a wrong method is 405 with Allow, as a problem document."""
    head = await shop.head(path)
    assert (head.status_code, head.content) == (200, b"")
    wrong = await shop.post(path)
    assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")
    assert wrong.headers.get_list("allow") == (await shop.options(path)).headers.get_list("allow")
    assert "GET" in wrong.headers["allow"]
