"""Attacks with a payment that was used: replays, races, other routes, bodies and spellings (P9 to P14, P38 in part, P39)."""

import asyncio
import itertools
import json
from typing import Any

import dramatiq
import httpx
import pytest

from jobs.catalogue import BY_NAME, CATALOGUE
from shared.pools import Pool
from shared.settings.service import Settings
from shared.x402.networks import Rail
from tests.api.paying import Payer, encoded

PATH = "/v1/cdp/echo"

pytestmark = pytest.mark.anyio

SOLD = [endpoint for endpoint in CATALOGUE if Rail.BASE in endpoint.rails and endpoint.pool is not Pool.RENDER]
"""The worker of these tests has no browser."""
BY_PRICE = {
    price: list(group)
    for price, group in itertools.groupby(sorted(SOLD, key=lambda one: one.price), key=lambda one: one.price)
}


def paid(header: str, **more: str) -> dict[str, str]:
    return {"PAYMENT-SIGNATURE": header, "Content-Type": "application/json", **more}


async def test_p09_a_payment_of_one_price_buys_nothing_of_another(
    shop: httpx.AsyncClient, payer: Payer, exchanges: Any, ledger: Any
) -> None:
    """The cheap call's payment is presented for the dear one and the other way round, as it is and dressed up as the dear
    one's."""
    for cheap, dear in itertools.permutations((group[0] for group in BY_PRICE.values()), 2):
        payment = payer.payment(price=str(cheap.price.value))
        dressed = {**payment, "accepted": payer.payment(price=str(dear.price.value))["accepted"]}
        flat = {"x402Version": 1, "scheme": "exact", "network": "base", "payload": payment["payload"]}
        mismatch = "invalid_exact_evm_payload_authorization_value_mismatch"
        for one, reason in ((payment, "no_matching_offer"), (dressed, mismatch), (flat, mismatch)):
            answer = await shop.post(dear.path, json=dear.example.request, headers=paid(encoded(one)))
            assert (answer.status_code, answer.json()["error"]) == (402, reason), (cheap.name, dear.name)
    assert (exchanges.made, ledger.keys()) == ([], [])


async def test_p09_a_payment_buys_one_of_the_calls_of_its_price(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, facilitator: Any, runs: list[Any]
) -> None:
    """One payment is presented to all endpoints of its price, first one after the other and then at once."""
    for group in BY_PRICE.values():
        first, *others = group
        # One body that all of them would read what they need from, so that nothing but the path tells them apart.
        body = {key: value for one in reversed(group) for key, value in one.example.request.items()}
        header = encoded(payer.payment(price=str(first.price.value)))
        before = len(runs)
        answer = await shop.post(first.path, json=body, headers=paid(header))
        assert answer.status_code == (502 if first.reads else 200), first.name  # there is no node here
        for other in others:
            refused = await shop.post(other.path, json=body, headers=paid(header))
            assert (refused.status_code, refused.json()["error"]) == (402, "payment_already_used"), other.name
        assert runs[before:] == [(first.name, answer.request.content)]
    assert len(facilitator.settles) == len(BY_PRICE)

    siblings = [BY_NAME[name] for name in ("json-repair", "faker", "jwt-verify", "regex-test")]
    header = encoded(payer.payment(price="0.005"))
    before = len(runs)
    calls = [shop.post(one.path, json=one.example.request, headers=paid(header)) for one in siblings]
    statuses = sorted([answer.status_code for answer in await asyncio.gather(*calls)])
    assert (statuses[0], set(statuses[1:]) <= {402, 503}, len(runs) - before) == (200, True, 1)
    assert len(facilitator.settles) == len(BY_PRICE) + 1


async def test_p09_a_payment_that_names_another_call_is_told_so(
    shop: httpx.AsyncClient, payer: Payer, exchanges: Any, ledger: Any
) -> None:
    """A payment is lured to another endpoint of the same price; its own words name the one that it was meant for."""
    for meant, lured in itertools.permutations(BY_PRICE[BY_NAME["dns"].price], 2):
        price = str(meant.price.value)
        for url in (
            "http://shop.test" + meant.path,
            meant.path,
            meant.path + "?a=" + lured.path,
            "x" + meant.path + "#",
        ):
            header = encoded(payer.payment(price=price, resource=url))
            answer = await shop.post(lured.path, json=lured.example.request, headers=paid(header))
            assert (answer.status_code, answer.json()["error"]) == (402, "resource_mismatch"), url
    assert (exchanges.made, ledger.keys()) == ([], [])


async def test_p10_a_replay_is_answered_from_what_is_stored(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, facilitator: Any, ledger: Any, runs: list[Any]
) -> None:
    """A recorded request is sent again and again: one settlement, one execution, one answer."""
    payment = payer.payment()
    headers = paid(encoded(payment))
    answers = [await shop.post(PATH, content=b'{"message":"a"}', headers=headers) for _ in range(10)]
    assert {(one.status_code, one.content, one.headers["payment-response"]) for one in answers} == {
        (200, answers[0].content, answers[0].headers["payment-response"])
    }
    assert (len(facilitator.settles), len(runs), ledger.record(payment)["attempts"]) == (1, 1, "1")


async def test_p11_a_used_payment_buys_no_other_request(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, facilitator: Any, ledger: Any, runs: list[Any]
) -> None:
    """The recorded payment is put on other requests: another body, query, method or spelling of the payment itself."""
    payment = payer.payment()
    header = encoded(payment)
    first = await shop.post(PATH, content=b'{"message":"a"}', headers=paid(header))
    assert first.status_code == 200
    spellings = [
        header,
        encoded({**payment, "later": 1}),
        encoded({**payment, "payload": upper(payment["payload"])}),
        encoded({"x402Version": 1, "scheme": "exact", "network": "base", "payload": payment["payload"]}),
    ]
    for spelling, (query, body) in itertools.product(
        spellings,
        [
            ("", b'{"message":"b"}'),
            ("", b'{"message":"A"}'),
            ("", b'{"message":"a ","x":1}'),
            ("", b"{}"),
            ("", b""),
            ("", b"{"),
            ("?message=b", b'{"message":"a"}'),
            ("?", b'{"message":"b"}'),
            ("?a", b'{"message":"a"}'),
        ],
    ):
        answer = await shop.post(PATH + query, content=body, headers=paid(spelling))
        assert (answer.status_code, answer.json()["error"]) == (402, "payment_already_used"), (query, body)
    for spelling in spellings:
        assert (await shop.post(PATH, content=b'{"message":"a"}', headers=paid(spelling))).content == first.content
        assert (await shop.get(PATH, headers=paid(spelling))).status_code == 405
    assert (len(facilitator.settles), len(runs), len(ledger.keys())) == (1, 1, 1)


def upper(payload: Any) -> Any:
    """The same bytes in capital hex digits, and the recovery id as 0 or 1."""
    signature = bytes.fromhex(payload["signature"][2:])
    authorization = {
        **payload["authorization"],
        "from": "0x" + payload["authorization"]["from"][2:].upper(),
        "nonce": "0x" + payload["authorization"]["nonce"][2:].upper(),
    }
    return {
        "signature": "0x" + (signature[:64] + bytes([signature[64] - 27])).hex().upper(),
        "authorization": authorization,
    }


async def test_p12_a_race_of_copies_settles_and_runs_once(
    settings: Settings,
    open_shop: Any,
    worker: dramatiq.Worker,
    payer: Payer,
    facilitator: Any,
    ledger: Any,
    runs: list[Any],
) -> None:
    """The same request forty times at the same moment, over two API processes' worth of state, to win one race."""
    facilitator.delay_s = 0.1
    payment = payer.payment()
    async with open_shop(settings) as one, open_shop(settings) as two:
        calls = [shop.post(PATH, json={"message": "a"}, headers=paid(encoded(payment))) for shop in [one, two] * 20]
        answers = await asyncio.gather(*calls)
    assert len({(answer.status_code, answer.content, answer.headers["payment-response"]) for answer in answers}) == 1
    assert answers[0].status_code == 200
    assert (len(facilitator.settles), len(runs), ledger.record(payment)["attempts"]) == (1, 1, "1")


async def test_p13_a_race_of_different_requests_serves_one(
    settings: Settings, open_shop: Any, worker: dramatiq.Worker, payer: Payer, facilitator: Any, runs: list[Any]
) -> None:
    """One payment on thirty different requests at the same moment, over two API processes' worth of state. The others are not
    told to pay anew while the first may still fail."""
    facilitator.delay_s = 0.1
    header = encoded(payer.payment())
    bodies = [json.dumps({"message": str(number)}).encode() for number in range(30)]
    async with open_shop(settings) as one, open_shop(settings) as two:
        shops = itertools.cycle([one, two])
        calls = [next(shops).post(PATH, content=body, headers=paid(header)) for body in bodies]
        answers = await asyncio.gather(*calls)
        served = [answer for answer in answers if answer.status_code == 200]
        early = [answer.json() for answer in answers if answer.status_code == 503]
        late = [answer.json()["error"] for answer in answers if answer.status_code == 402]
        again = await one.post(PATH, json={"message": "more"}, headers=paid(header))
    assert (len(served), len(early) + len(late), set(late) <= {"payment_already_used"}) == (1, 29, True)
    assert {(said["reason"], said["charged"], said["retryWithSamePayment"]) for said in early} == {
        ("claimed_by_another", "unknown", True)
    }
    assert (again.status_code, again.json()["error"]) == (402, "payment_already_used")
    assert runs == [("echo", served[0].request.content)]
    assert len(facilitator.settles) == 1


SAME = [
    b'{"message":"a","x":[1,2.5,null,true]}',
    b' {\n"x" : [1, 2.5, null, true] , "message":"a"}\r\n',
    b'{"message":"\\u0061","x":[1,2.50,null,true]}',
]
OTHERS = [
    b'{"message":"a","x":[1.0,2.5,null,true]}',
    b'{"message":"a","x":[1,2.5,null,1]}',
    b'{"message":"a","x":[1,2.5,true,null]}',
    b'{"message":"a","x":[1,2.5,null]}',
    b'{"message":"a","x":[1,2.5,null,true],"y":null}',
    b'{"message":"a","X":[1,2.5,null,true]}',
    b'{"message":"\xc3\xa1","x":[1,2.5,null,true]}',
    b'{"message":"a\\u0000","x":[1,2.5,null,true]}',
    b'{"message":"a\\u0301","x":[1,2.5,null,true]}',
    b'{"message":"b","message":"a","x":[1,2.5,null,false]}',
    b'{"x":[1,2.5,null,true]}',
    b'["message","a"]',
    b'{"message":"a","x":[1,2.5,null,true]}{}',
    b'{"message":"a","x":[1,2.5,null,true]} x',
]


async def test_p14_a_payment_belongs_to_the_body_that_it_came_with(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, facilitator: Any, ledger: Any, runs: list[Any]
) -> None:
    """Somebody who can see and change requests swaps the body: what is worded differently is the same, whatever differs in
    value is not. An EIP-3009 signature cannot cover the body, so the first to present it wins; TLS keeps others from being
    the first."""
    payment = payer.payment()
    header = encoded(payment)
    first = await shop.post(PATH, content=SAME[0], headers=paid(header))
    assert first.status_code == 200
    for body in OTHERS:
        answer = await shop.post(PATH, content=body, headers=paid(header))
        assert (answer.status_code, answer.json()["error"]) == (402, "payment_already_used"), body
    for body in SAME:
        assert (await shop.post(PATH, content=body, headers=paid(header))).content == first.content
    assert (len(facilitator.settles), runs) == (1, [("echo", SAME[0])])
    record = ledger.record(payment)
    assert len(record["fingerprint"]) == 64
    assert not [value for value in record.values() if "message" in value]


SPELLINGS = [
    "/V1/CDP/ECHO",
    "/v1/cdp/Echo",
    "/v1/cdp/ECHO",
    "/v1/cdp/echo/",
    "/v1/cdp/echo//",
    "//v1/cdp/echo",
    "/v1//cdp/echo",
    "/v1/cdp//echo",
    "/v1/cdp/./echo",
    "/v1/cdp/../cdp/echo",
    "/v1/x/../cdp/echo",
    "/v1/cdp/%65cho",
    "/v1/cdp/%2565cho",
    "/v1/cdp%2Fecho",
    "/v1/cdp/echo%2F",
    "/v1/cdp/echo%00",
    "/v1/cdp/echo%20",
    "/v1/cdp/echo%0a",
    "/v1/cdp/echo;a=b",
    "/v1/cdp/echo.json",
    "/v1/cdp/\uff45cho",
    "/v1/cdp/ech\u043e",
    "/v1/cdp/e\u0301cho",
    "/v1/cdp/\u212aecho",
]


@pytest.mark.parametrize("origin", [None, "https://agent.example"])
async def test_p39_no_spelling_of_the_path_is_another_call(
    shop: httpx.AsyncClient,
    worker: dramatiq.Worker,
    payer: Payer,
    facilitator: Any,
    ledger: Any,
    runs: list[Any],
    origin: str | None,
) -> None:
    """The path is written differently, to use a payment twice or to avoid the gate: either there is nothing, or it is the
    same call with the same payment. A browser's Origin changes nothing."""
    more = {"Origin": origin} if origin else {}
    header = encoded(payer.payment())
    first = await shop.post(PATH, json={"message": "a"}, headers=paid(header, **more))
    assert first.status_code == 200
    for path in SPELLINGS:
        unpaid = await shop.post(path, json={"message": "a"}, headers=more)
        same = await shop.post(path, json={"message": "a"}, headers=paid(header, **more))
        other = await shop.post(path, json={"message": "b"}, headers=paid(header, **more))
        new = await shop.post(path, json={}, headers=paid("e30=", **more))
        statuses = unpaid.status_code, same.status_code, other.status_code, new.status_code
        assert statuses in ((404, 404, 404, 404), (402, 200, 402, 400)), path
        if same.status_code == 200:
            assert (same.content, other.json()["error"]) == (first.content, "payment_already_used")
    assert (len(facilitator.settles), len(runs), len(ledger.keys())) == (1, 1, 1)
