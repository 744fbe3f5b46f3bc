"""Any facilitator: whatever it answers, a payment is settled, refused or undecided, and never taken for more than it is."""

import asyncio
import json
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
from aiohttp import web

from api.payment import facilitator as module
from api.payment.circuit import Circuit
from api.payment.facilitator import Facilitator
from api.payment.unsettled import Declined, Failing, NoEvidence, NotSent, Undecided, Unsettled
from compose.sandbox.upstreams.authority import self_signed
from shared.x402.wire import Evidence, Offer, Payment, Settlement
from tests.each import each

pytestmark = pytest.mark.anyio

PAYER = "0x" + "aa" * 20
TRANSACTION = "0x" + "ab" * 32
YES = {"success": True, "transaction": TRANSACTION, "network": "eip155:8453"}
NO = {"success": False, "transaction": "", "network": "eip155:8453", "errorReason": "insufficient_funds"}


def client(url: str, **options: Any) -> Facilitator:
    """One failure opens its circuit, so that every failure shows."""
    return Facilitator(
        url, settle_timeout_s=options.pop("settle_timeout_s", 2.0), circuit=Circuit(failures=1), **options
    )


@pytest.mark.parametrize(
    "said",
    [
        YES,
        {**YES, "payer": PAYER.upper().replace("X", "x"), "amount": "1000", "extra": {"a": 1}, "extensions": {}},
        {**YES, "network": "base", "payer": None, "amount": ""},
        {
            **YES,
            "transaction": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4t",
        },
    ],
    ids=range(4),
)
async def test_a_success_is_told_in_our_own_words(
    stranger: Any, started: Any, offer: Offer, payment: Payment, said: dict[str, Any]
) -> None:
    """With the offer's network and amount and the payer that we know, whatever else the facilitator says."""
    stranger.says(said)
    async with started(client(stranger.url)) as facilitator:
        settlement = await facilitator.settle(payment, offer, payer=PAYER)
    assert settlement == Settlement(
        success=True, transaction=said["transaction"], network="eip155:8453", payer=PAYER, amount="1000"
    )


@pytest.mark.parametrize(("said", "is_his"), [("Payer", True), ("FeePayer", True), ("payer", False), ("Other", False)])
async def test_on_solana_either_account_is_called_the_payer(
    stranger: Any, started: Any, offer: Offer, payment: Payment, said: str, *, is_his: bool
) -> None:
    """The scheme's text names the fee payer, the SDKs the one who pays; letters of another case are another account."""
    solana = msgspec.structs.replace(offer, network="solana:5eykt", extra={"feePayer": "FeePayer"})
    stranger.says({**YES, "network": "solana:5eykt", "payer": said})
    async with started(client(stranger.url)) as facilitator:
        if is_his:
            assert (await facilitator.settle(payment, solana, payer="Payer")).payer == "Payer"
        else:
            with pytest.raises(Failing):
                await facilitator.settle(payment, solana, payer="Payer")


@each("status", [200, 400, 402, 404, 422])
@each(
    ("said", "reason"),
    [
        (NO, "insufficient_funds"),
        ({**NO, "transaction": None, "network": None, "payer": "x" * 1000}, "insufficient_funds"),
        (
            {"success": False, "errorReason": "invalid_exact_evm_payload_signature"},
            "invalid_exact_evm_payload_signature",
        ),
        ({**NO, "errorReason": "transaction_simulation_failed"}, None),
        ({**NO, "errorReason": "invalid_exact_stellar_payload_unexpected_pending_signatures"}, None),
    ],
)
async def test_a_refusal_is_one_on_every_status(
    stranger: Any, started: Any, offer: Offer, payment: Payment, status: int, said: dict[str, Any], reason: str | None
) -> None:
    """It refuses the payment, so the facilitator does not fail; none of its own wording gets into the receipt."""
    stranger.says(said, status)
    async with started(client(stranger.url)) as facilitator:
        with pytest.raises(Declined) as declined:
            await facilitator.settle(payment, offer, payer=PAYER)
        assert not facilitator.circuit.is_open
    expected = reason or said["errorReason"]
    assert declined.value.reason == expected
    assert declined.value.settlement == Settlement(
        success=False, transaction="", network="eip155:8453", payer=PAYER, error_reason=expected
    )


OPEN = [
    (200, {**NO, "errorReason": "settlement_pending"}),
    (500, {**NO, "errorReason": "settlement_pending", "transaction": TRANSACTION}),
    (200, {**NO, "errorReason": "settlement_status_unknown"}),
    (200, {**NO, "errorReason": "duplicate_settlement"}),
    (200, {**NO, "errorReason": "invalid_exact_evm_nonce_already_used"}),
    (200, {**NO, "errorReason": "unexpected_settle_error"}),
    (200, {**NO, "errorReason": "Internal server error"}),
    (200, {**NO, "errorReason": "Transaction receipt timed out"}),
    (200, {**NO, "errorReason": "Not enough money\r\nSet-Cookie: a"}),
    (200, {**NO, "errorReason": "insufficient_funds" * 6}),
    (200, {**NO, "errorReason": "confirmation_timeout"}),
    (200, {**NO, "errorReason": "rpc_error"}),
    (503, {**NO, "errorReason": "service_unavailable"}),
    (200, {**NO, "errorReason": "settle_exact_stellar_transaction_failed"}),
    (200, {**NO, "errorReason": "transaction_failed", "transaction": TRANSACTION}),
    (200, {**NO, "errorReason": None}),
    (200, {"success": False}),
    (500, NO),
    (400, b"Bad Request"),
    (409, b"{}"),
    (422, {"error": "unknown variant"}),
]


@each(("status", "said"), OPEN)
async def test_what_is_not_decided_stays_so(
    stranger: Any, started: Any, offer: Offer, payment: Payment, status: int, said: Any
) -> None:
    """It may have been paid. The facilitator works all the same: any payer could make it answer like this."""
    stranger.says(said, status)
    async with started(client(stranger.url)) as facilitator:
        with pytest.raises(Undecided) as undecided:
            await facilitator.settle(payment, offer, payer=PAYER)
        assert type(undecided.value) is Undecided
        assert not facilitator.circuit.is_open


SENSELESS = [
    (200, b""),
    (200, b"<html>"),
    (200, b"\xff{"),
    (200, b'{"success": true, "transaction": "0xab"'),
    (200, b"[]"),
    (200, {**YES, "success": "true"}),
    (200, {**YES, "success": 1}),
    (200, {**YES, "transaction": 5}),
    (200, b'{"extra":' + b"[" * 30_000),
    (404, b"not found"),
    (502, b"<html>"),
    (503, b""),
    (500, {"detail": "Internal Server Error"}),
    (500, {**NO, "errorReason": "unexpected_settle_error"}),
    (503, {"success": False}),
    (401, {**NO, "errorReason": "unauthorized"}),
    (429, {**NO, "errorReason": "rate_limited"}),
    (302, NO),
    # A success that is none, or not of this payment.
    (500, YES),
    (302, YES),
    (404, YES),
    (200, {**YES, "transaction": ""}),
    (200, {**YES, "transaction": None}),
    (200, {**YES, "transaction": "0xab\r\nx: y"}),
    (200, {**YES, "transaction": "a" * 129}),
    (200, {**YES, "network": "eip155:1"}),
    (200, {**YES, "network": ""}),
    (200, {**YES, "payer": "0x" + "bb" * 20}),
    (200, {**YES, "amount": "999"}),
    (200, json.dumps(YES).encode() + b" " * 70_000),
]


@each(("status", "said"), SENSELESS)
async def test_what_makes_no_sense_is_undecided_and_a_failure_of_the_facilitator(
    stranger: Any, started: Any, offer: Offer, payment: Payment, status: int, said: Any
) -> None:
    """Never a success, and never a refusal that would be answered with 402."""
    stranger.says(said, status)
    async with started(client(stranger.url)) as facilitator:
        with pytest.raises(Failing):
            await facilitator.settle(payment, offer, payer=PAYER)
        assert facilitator.circuit.is_open


async def test_a_strangers_words_are_not_logged(stranger: Any, started: Any, offer: Offer, payment: Payment) -> None:
    """What is undecided is logged with its reason."""
    stranger.says({**NO, "errorReason": "already\r\nERROR all is lost"})
    async with started(client(stranger.url)) as facilitator:
        with pytest.raises(Undecided, match="not in the specification's words"):
            await facilitator.settle(payment, offer, payer=PAYER)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_is_followed(
    stranger: Any, started: Any, offer: Offer, payment: Payment, status: int
) -> None:
    """Neither with a payment nor with a question; and a cookie is not kept."""
    stranger.says(b"", status)
    stranger.headers = {"Location": stranger.url + "/canary", "Set-Cookie": "a=b"}
    # By name, because clients keep no cookies of addresses.
    async with started(client(stranger.url.replace("127.0.0.1", "localhost"))) as facilitator:
        calls = (
            facilitator.settle(payment, offer, payer=PAYER),
            facilitator.verify(payment),
            facilitator.evidence("eip155:8453:a:b:c"),
            facilitator.supported(),
        )
        for call in calls:
            with pytest.raises(Undecided):
                await call
    assert len(stranger.seen) == 4
    assert "/canary" not in stranger.asked
    assert not any("Cookie" in headers for _, _, headers, _ in stranger.seen)


async def test_headers_and_a_path_go_with_every_call(
    stranger: Any, started: Any, offer: Offer, payment: Payment
) -> None:
    """A base address with a path, with or without a slash, and an API key that nothing shows."""
    secret = {"authorization": "Bearer canary-1", "x-api-key": "canary-2"}
    for url in (stranger.url + "/x402/v2", stranger.url + "/x402/v2/"):
        facilitator = client(url, headers=secret)
        assert "canary" not in repr(facilitator)
        async with started(facilitator):
            stranger.says(YES)
            await facilitator.settle(payment, offer, payer=PAYER)
            stranger.says({"isValid": True})
            await facilitator.verify(payment)
            stranger.says({"status": "unused", "network": "eip155:8453"})
            await facilitator.evidence("eip155:8453:0xa:0xb:0xc")
            stranger.says({"kinds": []})
            await facilitator.supported()
    assert [path.replace("%3A", ":") for path in stranger.asked] == 2 * [
        "/x402/v2/settle",
        "/x402/v2/verify",
        "/x402/v2/settlements/eip155:8453:0xa:0xb:0xc",
        "/x402/v2/supported",
    ]
    for _, _, headers, body in stranger.seen:
        assert secret.items() <= {name.lower(): value for name, value in headers.items()}.items()
        assert "canary" not in body.decode()


async def test_the_same_settlement_may_be_asked_for_again(
    stranger: Any, started: Any, offer: Offer, payment: Payment
) -> None:
    """Word for word: nothing is remembered of the first time."""
    stranger.says(NO)
    async with started(client(stranger.url)) as facilitator:
        with pytest.raises(Declined):
            await facilitator.settle(payment, offer, payer=PAYER)
        stranger.says(YES)
        assert (await facilitator.settle(payment, offer, payer=PAYER)).success
    (_, _, _, first), (_, _, _, second) = stranger.seen
    assert first == second
    sent = json.loads(first)
    assert (sent["x402Version"], sent["paymentRequirements"]["amount"]) == (2, "1000")
    assert sent["paymentPayload"]["accepted"] == sent["paymentRequirements"]


async def test_a_closed_port_is_not_sent(started: Any, offer: Offer, payment: Payment) -> None:
    """Nothing can have been charged, and the facilitator fails."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        async with started(client(f"http://127.0.0.1:{unused.getsockname()[1]}")) as facilitator:
            with pytest.raises(NotSent):
                await facilitator.settle(payment, offer, payer=PAYER)
            assert facilitator.circuit.is_open


async def test_a_facilitator_that_comes_back_with_another_address_is_found(
    stranger: Any, started: Any, offer: Offer, payment: Payment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a container does that was restarted. No later call goes where nobody answered."""
    url = urlsplit(stranger.url)
    addresses = iter(["127.0.0.9", url.hostname])
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(addresses), url.port))],
    )
    stranger.says(YES)
    async with started(client(f"http://facilitator.test:{url.port}")) as facilitator:
        with pytest.raises(NotSent):
            await facilitator.settle(payment, offer, payer=PAYER)
        assert await facilitator.settle(payment, offer, payer=PAYER)


async def test_a_connection_that_is_not_accepted_is_not_waited_for(
    started: Any, offer: Offer, payment: Payment
) -> None:
    """A full queue of connections, as behind a firewall that drops: not sent, after half of the time limit at most."""
    with socket.socket() as full, socket.socket() as one, socket.socket() as two:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for waiting in (one, two):
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        began = time.monotonic()
        async with started(client(f"http://127.0.0.1:{full.getsockname()[1]}", settle_timeout_s=4.0)) as facilitator:
            with pytest.raises(NotSent):
                await facilitator.settle(payment, offer, payer=PAYER)
        assert time.monotonic() - began < 3.8


async def test_tls_is_verified_before_anything_is_sent(
    serving: Any, stranger: Any, started: Any, offer: Offer, payment: Payment
) -> None:
    """A certificate of nobody's authority."""
    url = await serving(stranger.answer, self_signed("127.0.0.1").server_context())
    stranger.says(YES)
    async with started(client(url)) as facilitator:
        with pytest.raises(NotSent):
            await facilitator.settle(payment, offer, payer=PAYER)
    assert stranger.seen == []


async def test_an_endless_answer_is_not_read(serving: Any, started: Any, offer: Offer, payment: Payment) -> None:
    """No more than what an answer may have."""
    written = 0

    async def endless(request: web.Request) -> web.StreamResponse:
        nonlocal written
        response = web.StreamResponse()
        await response.prepare(request)
        while written < 1 << 26:
            await response.write(b" " * 65_536)
            written += 65_536
        return response

    async with started(client(await serving(endless))) as facilitator:
        with pytest.raises(Failing, match="too long"):
            await facilitator.settle(payment, offer, payer=PAYER)
    assert written < 1 << 25


async def test_an_answer_that_drips_is_not_waited_for(
    serving: Any, started: Any, offer: Offer, payment: Payment
) -> None:
    """One time limit is for all of it."""

    async def drips(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(400):
            await response.write(b" ")
            await asyncio.sleep(0.05)
        return response

    began = time.monotonic()
    async with started(client(await serving(drips), settle_timeout_s=1.0)) as facilitator:
        with pytest.raises(Failing):
            await facilitator.settle(payment, offer, payer=PAYER)
        assert facilitator.circuit.is_open
    assert time.monotonic() - began < 10


async def test_slow_settlements_do_not_take_all_there_is(
    stranger: Any, started: Any, offer: Offer, payment: Payment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many at a time; one more waits a little and is then not sent, which is no failure of the facilitator. A place that
    becomes free in time is taken."""
    monkeypatch.setattr(module, "SETTLES_AT_ONCE", 2)
    stranger.says(YES)
    stranger.go_on.clear()
    async with started(client(stranger.url, settle_timeout_s=8.0)) as facilitator:
        slow = [asyncio.create_task(facilitator.settle(payment, offer, payer=PAYER)) for _ in range(2)]
        await stranger.saw(2)
        began = time.monotonic()
        with pytest.raises(NotSent):
            await facilitator.settle(payment, offer, payer=PAYER)
        assert 0.9 < time.monotonic() - began < 7
        assert (len(stranger.seen), facilitator.circuit.is_open) == (2, False)
        waits = asyncio.create_task(facilitator.settle(payment, offer, payer=PAYER))
        await asyncio.sleep(0.05)
        stranger.go_on.set()
        assert all(settlement.success for settlement in await asyncio.gather(waits, *slow))
    assert len(stranger.seen) == 3


@pytest.mark.parametrize("status", [403, 404, 405, 410, 501])
async def test_a_facilitator_without_evidence_says_so(stranger: Any, started: Any, status: int) -> None:
    """Only ours looks up what became of a payment."""
    stranger.says(b"<html>", status)
    async with started(client(stranger.url)) as facilitator:
        with pytest.raises(NoEvidence):
            await facilitator.evidence("eip155:8453:a:b:c")


@pytest.mark.parametrize(
    ("status", "said"),
    [(200, b"<html>"), (200, {"status": 5}), (503, {"status": "unknown", "network": "x"}), (429, b""), (500, b"")],
)
async def test_evidence_that_is_none_decides_nothing(stranger: Any, started: Any, status: int, said: Any) -> None:
    """It may have some in a while; and whether settling works is another question."""
    stranger.says(said, status)
    async with started(client(stranger.url)) as facilitator:
        with pytest.raises(Unsettled) as undecided:
            await facilitator.evidence("eip155:8453:a:b:c")
        assert not isinstance(undecided.value, NoEvidence)
        assert not facilitator.circuit.is_open


async def test_evidence_is_read(stranger: Any, started: Any) -> None:
    """As our facilitator gives it."""
    stranger.says({"status": "unused", "network": "eip155:8453", "asOf": 5})
    async with started(client(stranger.url)) as facilitator:
        assert await facilitator.evidence("x") == Evidence(status="unused", network="eip155:8453", as_of=5)


@pytest.mark.parametrize("status", [200, 400, 500])
async def test_a_verdict_is_read_on_every_status(
    stranger: Any, started: Any, offer: Offer, payment: Payment, status: int
) -> None:
    """That a payment is invalid, and why."""
    stranger.says({"isValid": False, "invalidReason": "insufficient_funds"}, status)
    async with started(client(stranger.url)) as facilitator:
        verification = await facilitator.verify(payment)
    assert (verification.is_valid, verification.invalid_reason) == (False, "insufficient_funds")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (200, b"<html>"),
        (200, {}),
        (200, {"isValid": "true"}),
        (500, {"isValid": True}),
        (302, {"isValid": True}),
        (429, {"isValid": False, "invalidReason": "rate_limited"}),
        (500, {"isValid": False}),
        (200, {"isValid": False, "invalidReason": "unexpected_verify_error"}),
    ],
    ids=range(8),
)
async def test_no_verdict_is_none_and_a_strangers_contract_takes_no_rail_down(
    stranger: Any, started: Any, offer: Offer, payment: Payment, status: int, said: Any
) -> None:
    """What a made-up wallet brings the facilitator to say does not count against it."""
    stranger.says(said, status)
    async with started(client(stranger.url)) as facilitator:
        with pytest.raises(Undecided):
            await facilitator.verify(payment)
        assert not facilitator.circuit.is_open


async def test_what_was_given_up_is_not_sent_later(started: Any, offer: Offer, payment: Payment) -> None:
    """Given a caller that has given up, then its connection is reset behind what has arrived: the kernel drops the rest, and
    does not send it when a broken network is back."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with started(client(url, settle_timeout_s=0.5)) as facilitator:
            with pytest.raises(Failing):
                await facilitator.settle(payment, offer, payer=PAYER)
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.recv(1 << 20).startswith(b"POST /settle")
            with pytest.raises(ConnectionResetError):
                accepted.recv(1 << 20)
