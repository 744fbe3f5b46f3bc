"""Attacks on the settlement: time, the chain, and a facilitator that lies, leads astray or does not end (P15 to P21).

P16's front-runner is caught by our facilitator (tests/facilitator/test_evm_rail.py); what the API does about him with a
facilitator that knows no evidence is in test_limits.py.
"""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dramatiq
import httpx
import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from api.payment.transitions import RECORD_TTL_S
from jobs.catalogue import BY_NAME
from shared.settings.service import Settings
from shared.x402.evm import LATEST_EXPIRY_S

PATH = "/v1/cdp/echo"
AsHeader = Callable[[Any], str]

pytestmark = pytest.mark.anyio


SOLD = (BY_NAME["echo"],)
"""These tests buy echo."""


BEFORE = "invalid_exact_evm_payload_authorization_valid_before"
AFTER = "invalid_exact_evm_payload_authorization_valid_after"
UNREADABLE = ["-1", "1e10", "", " 2000000000", "1_900_000_000", str(2**256), "２０００００００００"]


def windows(now: int) -> dict[str, tuple[dict[str, str], str]]:
    """What is not valid now, and why."""
    return {
        "expired long ago": ({"validBefore": "1"}, BEFORE),
        "expired at once": ({"validBefore": "0"}, BEFORE),
        "expired a moment ago": ({"validBefore": str(now - 1)}, BEFORE),
        "too short to settle": ({"validBefore": str(now + 3)}, BEFORE),
        "valid too long": ({"validBefore": str(now + LATEST_EXPIRY_S + 120)}, BEFORE),
        "valid for ever": ({"validBefore": str(2**256 - 1)}, BEFORE),
        "valid beyond 64 bits": ({"validBefore": str(2**64 + now + 60)}, BEFORE),
        "not valid yet": ({"validAfter": str(now + 120)}, AFTER),
        "never valid": ({"validAfter": str(2**256 - 1)}, AFTER),
        "turned around": ({"validAfter": str(now + 200), "validBefore": str(now + 100)}, AFTER),
    }


async def test_p15_outside_its_window_nothing_is_settled(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Any, exchanges: Any, ledger: Any, as_header: AsHeader
) -> None:
    """Payments that were, will be or would for ever be good: old ones to be replayed, eternal ones to outlive our memory."""
    for name, (fields, reason) in windows(int(time.time())).items():
        answer = await shop.post(PATH, json={}, headers={"PAYMENT-SIGNATURE": as_header(payer.payment(**fields))})
        assert (answer.status_code, answer.json()["error"]) == (402, reason), name
    for text in UNREADABLE:
        for field in ("validBefore", "validAfter"):
            payment = payer.payment()
            payment["payload"]["authorization"][field] = text
            answer = await shop.post(PATH, json={}, headers={"PAYMENT-SIGNATURE": as_header(payment)})
            assert (answer.status_code, answer.json()["error"]) == (402, "invalid_payload"), text
    assert (exchanges.made, ledger.keys()) == ([], [])


async def test_p17_a_payer_who_empties_the_wallet_after_the_check_gets_nothing(
    shop: httpx.AsyncClient,
    worker: dramatiq.Worker,
    payer: Any,
    facilitator: Any,
    exchanges: Any,
    runs: list[Any],
    as_header: AsHeader,
) -> None:
    """The payment is good when it is verified; before it is settled, the payer cancels it or moves the money away."""
    facilitator.accepts_wallet = True
    for reason in ("insufficient_funds", "invalid_exact_evm_transaction_simulation_failed"):
        payment = payer.payment()
        payment["payload"]["signature"] = "0x" + "ab" * 96
        facilitator.script, facilitator.reason = ["refuse"], reason
        headers = {"PAYMENT-SIGNATURE": as_header(payment)}
        answers = [await shop.post(PATH, json={}, headers=headers) for _ in range(3)]
        assert {(answer.status_code, answer.json()["error"]) for answer in answers} == {(402, reason)}
    assert (len(facilitator.settles), facilitator.paid, runs) == (2, set(), [])
    assert "/verify" in {path for path, _ in exchanges.made}


async def test_p18_what_was_used_cannot_be_used_again_when_its_record_is_gone(
    shop: httpx.AsyncClient,
    worker: dramatiq.Worker,
    payer: Any,
    facilitator: Any,
    ledger: Any,
    runs: list[Any],
    as_header: AsHeader,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Payments are kept until our record of them has expired, and presented once more."""
    payments = [payer.payment() for _ in range(3)]
    facilitator.script, facilitator.evidence = ["ok", "refuse", "error500"], "unknown"
    statuses = [
        (await shop.post(PATH, json={}, headers={"PAYMENT-SIGNATURE": as_header(payment)})).status_code
        for payment in payments
    ]
    assert statuses == [200, 402, 503]
    longest_s = LATEST_EXPIRY_S + 60
    assert all(ledger.lifetime_s(payment) > longest_s for payment in payments)
    settles = len(facilitator.settles)

    for payment in payments:
        ledger.forget(payment)
    real = time.time
    monkeypatch.setattr("api.pipeline.time.time", lambda: real() + RECORD_TTL_S)
    for payment in payments:
        answer = await shop.post(PATH, json={}, headers={"PAYMENT-SIGNATURE": as_header(payment)})
        assert (answer.status_code, answer.json()["error"]) == (402, BEFORE)
    assert (len(facilitator.settles), len(runs)) == (settles, 1)


REASONS = [
    "insufficient_funds",
    "invalid_exact_evm_insufficient_balance",
    "invalid_exact_evm_payload_authorization_valid_after",
    "invalid_exact_evm_payload_authorization_valid_before",
    "invalid_exact_evm_payload_authorization_value_mismatch",
    "invalid_exact_evm_payload_signature",
    "invalid_exact_evm_payload_recipient_mismatch",
    "invalid_exact_evm_token_name_mismatch",
    "invalid_exact_evm_eip3009_not_supported",
    "invalid_exact_evm_transaction_simulation_failed",
    "invalid_network",
    "invalid_payload",
    "invalid_payment_requirements",
    "invalid_scheme",
    "unsupported_scheme",
    "invalid_x402_version",
    "network_mismatch",
    "missing_eip712_domain",
    "asset_not_deployed_contract",
]
WORDS = ["<script>alert(1)</script>", "Not enough money", "a" * 101, "x\r\nSet-Cookie: a=b", "\u00e9", "UPPER"]


async def test_p19_success_false_is_a_refusal_whatever_the_status(
    shop: httpx.AsyncClient,
    worker: dramatiq.Worker,
    new_payer: Any,
    facilitator: Any,
    runs: list[Any],
    as_header: AsHeader,
) -> None:
    """The facilitator says HTTP 200 and `success: false`: whoever looks at the status alone serves for nothing."""
    for mode in ("refuse", "refuse400"):
        for reason in REASONS:
            facilitator.script, facilitator.reason = [mode], reason
            answer = await shop.post(PATH, json={}, headers={"PAYMENT-SIGNATURE": as_header(new_payer().payment())})
            assert (answer.status_code, answer.json()["error"]) == (402, reason)
            receipt = json.loads(base64.b64decode(answer.headers["payment-response"]))
            assert (receipt["success"], receipt["errorReason"]) == (False, reason)
            assert receipt.get("transaction", "") == ""
    assert (facilitator.paid, runs) == (set(), [])


async def test_p19_words_that_are_none_of_the_specification_go_nowhere(
    shop: httpx.AsyncClient,
    worker: dramatiq.Worker,
    new_payer: Any,
    facilitator: Any,
    runs: list[Any],
    as_header: AsHeader,
) -> None:
    """A facilitator's reason is markup, a header of its own or prose: it gets nowhere near our headers and bodies, nothing is
    served, and nothing is said to be refused that was not."""
    facilitator.evidence = "unknown"
    for reason in WORDS:
        facilitator.script, facilitator.reason = ["refuse"], reason
        answer = await shop.post(PATH, json={}, headers={"PAYMENT-SIGNATURE": as_header(new_payer().payment())})
        assert (answer.status_code, answer.json()["code"]) == (503, "settlement_unknown")
        said = [answer.text, *answer.headers.values()]
        said += [base64.b64decode(value).decode() for name, value in answer.headers.items() if "payment" in name]
        assert not [text for text in said if reason in text]
        assert "set-cookie" not in answer.headers
    assert (facilitator.paid, runs) == (set(), [])


UNDECIDED = [
    "pending",
    "error500",
    "garbage",
    "html",
    "empty_transaction",
    "other_network",
    "other_payer",
    "other_amount",
    "redirect",
    "huge",
    "reset",
    "refuse500",
    "refuse_with_transaction",
]


@pytest.mark.parametrize("broadcast", ["", "+paid"], ids=["before", "after"])
async def test_p20_nothing_is_served_and_nothing_refused_while_it_is_unknown(
    shop: httpx.AsyncClient,
    worker: dramatiq.Worker,
    new_payer: Any,
    facilitator: Any,
    runs: list[Any],
    as_header: AsHeader,
    broadcast: str,
) -> None:
    """The facilitator's answer is lost, broken or about something else, before or after the money moved: neither 402, on
    which clients pay again, nor an answer for what may not be paid. The same payment then ends well and is paid once."""
    for mode in UNDECIDED:
        payment = new_payer().payment()
        nonce = payment["payload"]["authorization"]["nonce"]
        headers = {"PAYMENT-SIGNATURE": as_header(payment)}
        facilitator.script, facilitator.evidence = [mode + broadcast], "unknown"
        before = len(runs), len(facilitator.paid)
        answer = await shop.post(PATH, json={"message": mode}, headers=headers)
        problem = answer.json()
        assert (answer.status_code, problem["code"], problem["charged"]) == (503, "settlement_unknown", "unknown"), mode
        assert (problem["retryWithSamePayment"], int(answer.headers["retry-after"]) > 0) == (True, True)
        assert "payment-response" not in answer.headers
        assert len(runs) == before[0]
        facilitator.evidence = None
        answer = await shop.post(PATH, json={"message": mode}, headers=headers)
        assert (answer.status_code, answer.json()["youSent"]) == (200, mode)
        assert (len(runs) - before[0], len(facilitator.paid) - before[1]) == (1, 1)
        assert nonce in facilitator.paid


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """A server that answers every request with `handler`."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    try:
        yield f"http{'s' if tls else ''}://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_p21_a_redirect_is_not_followed(
    settings: Settings, open_shop: Any, worker: dramatiq.Worker, payer: Any, runs: list[Any], as_header: AsHeader
) -> None:
    """The facilitator sends the payment on to somebody who then says that it is settled."""
    visitors: list[str] = []

    async def canary(request: web.Request) -> web.Response:
        visitors.append(request.path)
        return web.json_response({"success": True, "transaction": "0xabc", "network": "eip155:8453"})

    async with serving(canary) as elsewhere:
        for status in (301, 302, 303, 307, 308):

            async def redirect(request: web.Request, status: int = status) -> web.Response:
                return web.Response(status=status, headers={"Location": elsewhere + request.path})

            async with (
                serving(redirect) as url,
                open_shop(_settled_by(settings, url)) as shop,
            ):
                headers = {"PAYMENT-SIGNATURE": as_header(payer.payment())}
                answer = await shop.post(PATH, json={}, headers=headers)
                assert (answer.status_code, answer.json()["code"]) == (503, "settlement_unknown")
    assert (visitors, runs) == ([], [])


async def test_p21_an_answer_without_end_is_not_read(
    settings: Settings, open_shop: Any, worker: dramatiq.Worker, payer: Any, runs: list[Any], as_header: AsHeader
) -> None:
    """The facilitator answers a good settlement and then 64 MB of blanks, as fast as they are taken."""
    sent: list[int] = []

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        try:
            for _ in range(1_024):
                await response.write(b" " * 65_536)
                sent.append(65_536)
        except OSError:
            pass
        return response

    async with serving(endless) as url, open_shop(_settled_by(settings, url)) as shop:
        answer = await shop.post(PATH, json={}, headers={"PAYMENT-SIGNATURE": as_header(payer.payment())})
    assert (answer.status_code, answer.json()["code"]) == (503, "settlement_unknown")
    assert sum(sent) < 16_000_000  # what fits into the kernel's buffers, for both calls
    assert runs == []


def self_signed(folder: Path) -> ssl.SSLContext:
    """For 127.0.0.1, by nobody."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "tls.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.pem")
    return context


async def test_p21_a_facilitator_with_a_made_up_certificate_gets_no_payment(
    settings: Settings,
    open_shop: Any,
    worker: dramatiq.Worker,
    payer: Any,
    ledger: Any,
    runs: list[Any],
    as_header: AsHeader,
    tmp_path: Path,
) -> None:
    """Somebody on the way answers in the facilitator's place: the payment is not shown to him, and is as good as new."""
    seen: list[str] = []

    async def impostor(request: web.Request) -> web.Response:
        seen.append(await request.text())
        return web.json_response({"success": True, "transaction": "0xabc", "network": "eip155:8453"})

    # What the impostor's side says of the broken handshake is not the test's business.
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    async with (
        serving(impostor, self_signed(tmp_path)) as url,
        open_shop(_settled_by(settings, url)) as shop,
    ):
        answer = await shop.post(PATH, json={}, headers={"PAYMENT-SIGNATURE": as_header(payer.payment())})
    assert (answer.status_code, answer.json()["charged"]) == (503, False)
    assert (seen, runs, ledger.keys()) == ([], [], [])


def _settled_by(settings: Settings, url: str) -> Settings:
    return dataclasses.replace(settings, evm=dataclasses.replace(settings.evm, facilitator_url=url))
