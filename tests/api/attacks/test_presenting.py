"""Attacks with the header: none, too much, two at once, another flavour, another version (P1 to P5).

Two readings of the table: a payment for another network is `no_matching_offer`, for that is what exact equality finds; and
JSON may be 64 levels deep, because clients echo our own discovery extensions. Headers that only a socket can send are in
tests/e2e/test_attacks.py.
"""

import base64
import itertools
import json
from typing import Any

import dramatiq
import httpx
import pytest

from jobs.catalogue import BY_NAME, CATALOGUE
from shared.x402.networks import Rail
from tests.api.paying import Payer, encoded

PATH = "/v1/cdp/echo"
SOLD = [endpoint for endpoint in CATALOGUE if Rail.BASE in endpoint.rails]

pytestmark = pytest.mark.anyio

BODIES = (
    b"",
    b"{}",
    b"{",
    b"null",
    b"\x00\xff" * 100,
    b"[" * 50_000,
    b'{"a":1,"a":2}',
    b'{"n":1e999}',
    b"9" * 5_000,
    json.dumps({"message": "x" * 1_000}).encode(),
    b"a" * 10_000_000,
)
TYPES = ("application/json", "text/plain", "multipart/form-data; boundary=x", "", "\t", "/")


async def test_p01_an_unpaid_call_costs_nothing_whatever_it_sends(
    shop: httpx.AsyncClient,
    facilitator: Any,
    exchanges: Any,
    ledger: Any,
    effects_of: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Somebody who does not pay sends garbage to every endpoint, to have it parsed, stored or passed on."""
    parsed: list[bytes] = []
    monkeypatch.setattr("api.admission.Admission.judged", lambda self, body: parsed.append(body))
    answers = []
    async with ledger.watched() as lines:
        for endpoint in SOLD:
            for body in BODIES if endpoint.name == "echo" else BODIES[:-1]:
                answers.append(await shop.post(endpoint.path, content=body))
            answers += [await shop.post(endpoint.path, content=b"{}", headers={"Content-Type": kind}) for kind in TYPES]
            answers.append(await shop.post(endpoint.path + "?payment=paid&x402=1", headers={"X-Paid": "true"}))
    assert {(answer.status_code, answer.json()["error"]) for answer in answers} == {(402, "payment_required")}
    assert len({(str(answer.url.path), answer.content) for answer in answers}) == len(SOLD)
    assert (effects_of(lines), parsed, exchanges.made, facilitator.settles) == ([], [], [], [])


def bombs() -> list[bytes]:
    def b64(content: str) -> bytes:
        return base64.b64encode(content.encode())

    return [
        b"!" * 16,
        b64("not json"),
        b64('{"x402Version":2,"accepted":{},"accepted":{},"payload":{}}'),
        b64('{"x402Version":2,"x402Version":1}'),
        b64('{"x402Version":2.0,"accepted":{},"payload":{}}'),
        b64('{"x402Version":2,"accepted":{},"payload":{"value":1e999}}'),
        b64('{"x402Version":2,"accepted":{},"payload":{"value":NaN}}'),
        b64('{"x402Version":2,"accepted":{},"payload":{"value":' + "9" * 5_000 + "}}"),
        b64('{"x402Version":2,"accepted":{},"payload":{"value":18446744073709551616}}'),
        b64('{"x402Version":-170141183460469231731687303715884105728,"accepted":{},"payload":{}}'),
        b64('{"x402Version":2,"accepted":{},"payload":' + '{"a":' * 2_000 + "1" + "}" * 2_001),
        b64("[" * 12_000),
        b64('{"x402Version":2,"accepted":{},"payload":{"\\ud800":1}}'),
        b64("\ufeff{}"),
        *(b"A" * (1024 * kilobytes) for kilobytes in (8, 16, 17, 64, 417, 512)),
        b"A" * 3,
        b"====",
    ]


@pytest.mark.parametrize("name", ["PAYMENT-SIGNATURE", "X-PAYMENT"])
async def test_p02_a_header_that_is_no_payment_is_refused_before_anything_is_looked_up(
    shop: httpx.AsyncClient, exchanges: Any, ledger: Any, effects_of: Any, name: str
) -> None:
    """A header is made to crash, fill or mislead what decodes it: too long, too deep, ambiguous JSON, huge numbers."""
    async with ledger.watched() as lines:
        answers = [await shop.post(PATH, content=b"{}", headers={name: value.decode()}) for value in bombs()]
    reasons = {(answer.status_code, answer.json()["error"]) for answer in answers}
    assert reasons == {(400, "invalid_payment"), (402, "invalid_x402_version")}
    assert (effects_of(lines), exchanges.made) == ([], [])


async def test_p03_two_payments_in_one_request_pay_nothing(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, facilitator: Any, ledger: Any, runs: list[Any]
) -> None:
    """Two good payments in one request, so that a proxy and we would each read another one; alone, either is good."""
    first, second = encoded(payer.payment()), encoded(payer.payment())
    name, older = "PAYMENT-SIGNATURE", "X-PAYMENT"
    ambiguous = [
        [(name, first), (name, second)],
        [(name, first), (name, first)],
        [(name.lower(), first), (name, second)],
        [(older, first), (older, first)],
        [(name, first), (older, second)],
        [(name, first), (older, "")],
        [(name, first), (name, first), (older, first)],
    ]
    for headers in ambiguous:
        answer = await shop.post(PATH, json={}, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (402, "ambiguous_payment")
    for joined in (f"{first}, {second}", f"{first},{first}", f"{first} {second}", f"{first}\t"):
        answer = await shop.post(PATH, json={}, headers={name: joined})
        assert (answer.status_code, answer.json()["reason"]) == (400, "payment_not_base64")
    assert (facilitator.settles, runs, ledger.keys()) == ([], [], [])
    for alone in (first, second):
        assert (await shop.post(PATH, json={}, headers={name: alone})).status_code == 200
    assert len(facilitator.settles) == 2


@pytest.mark.parametrize("name", ["echo", "prompt-injection-scan"])
async def test_p04_one_payment_is_not_good_once_for_each_flavour(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, facilitator: Any, runs: list[Any], name: str
) -> None:
    """One authorization is presented in both headers and both shapes, on a newer and an older endpoint, to be served four
    times."""
    endpoint = BY_NAME[name]
    payment = payer.payment(price=str(endpoint.price.value))
    shapes = (
        payment,
        {"x402Version": 1, "scheme": "exact", "network": "base", "payload": payment["payload"]},
        {"x402Version": 2, "scheme": "exact", "network": "eip155:8453", "payload": payment["payload"]},
    )
    headers = [{kind: encoded(shape)} for kind, shape in itertools.product(("PAYMENT-SIGNATURE", "X-PAYMENT"), shapes)]
    answers = [await shop.post(endpoint.path, json=endpoint.example.request, headers=one) for one in headers]
    assert {(answer.status_code, answer.content, answer.headers["payment-response"]) for answer in answers} == {
        (200, answers[0].content, answers[0].headers["payment-response"])
    }
    is_older = [name != "echo" or "X-PAYMENT" in one for one in headers]
    assert ["x-payment-response" in answer.headers for answer in answers] == is_older
    for one in headers:
        other = await shop.post(endpoint.path, json={**endpoint.example.request, "more": 1}, headers=one)
        assert (other.status_code, other.json()["error"]) == (402, "payment_already_used")
    assert (len(facilitator.settles), len(runs)) == (1, 1)


VERSIONS = [1, 3, 99, 0, -2, "2", 2.0, True, None, [2], {"v": 2}, 2**64]
NETWORKS = [
    "base",
    "Base",
    "eip155:08453",
    "EIP155:8453",
    "eip155:8453 ",
    "eip155:84532",
    "8453",
    "eip155:8453\u200b",
    "",
]
FLAT_NETWORKS = ["Base", " base", "base-sepolia", "ethereum", "eip155:08453", "EIP155:8453", "eip155:1", "8453", ""]


async def test_p05_another_version_or_network_is_never_taken_for_ours(
    shop: httpx.AsyncClient, payer: Payer, exchanges: Any, ledger: Any
) -> None:
    """The version or the network is written in a way that a lenient reader would take for ours, to be settled elsewhere."""
    payment = payer.payment()
    flat = {"x402Version": 1, "scheme": "exact", "network": "base", "payload": payment["payload"]}
    absent = {key: value for key, value in payment.items() if key != "x402Version"}
    presented = [("invalid_x402_version", {**payment, "x402Version": version}) for version in VERSIONS]
    presented += [("invalid_x402_version", {**flat, "x402Version": version}) for version in VERSIONS if version != 1]
    presented += [("invalid_x402_version", absent)]
    presented += [
        ("no_matching_offer", {**payment, "accepted": {**payment["accepted"], "network": one}}) for one in NETWORKS
    ]
    presented += [("no_matching_offer", {**flat, "network": one}) for one in FLAT_NETWORKS]
    for (reason, one), name in itertools.product(presented, ("PAYMENT-SIGNATURE", "X-PAYMENT")):
        answer = await shop.post(PATH, json={}, headers={name: encoded(one)})
        assert (answer.status_code, answer.json()["error"]) == (402, reason), one
    assert (exchanges.made, ledger.keys()) == ([], [])
