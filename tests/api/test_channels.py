"""Calls that a channel pays, through the whole API and a worker; the chain and its claimer are a table here."""

import asyncio
import base64
import dataclasses
import json
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import redis
from litestar import Litestar
from lxml import html

from api.app import RELOAD, create_app
from api.payment.channel_watch import ChannelWatch, channel_rail
from api.payment.rails import configured_rails
from api.redis_client import Redis, RedisLost
from facilitator.claimer.ledger import ChainState, ClaimerLedger
from jobs.catalogue import BY_NAME
from shared.ledger.channels import READS, ReadRequest
from shared.ledger.keys import PRICE_LISTS, bucket_of_payer
from shared.servers.ledger_connections import LedgerConnections
from shared.settings.service import Settings
from shared.x402.evm_channel_ids import PREFIX, ChannelConfig
from shared.x402.wire import Offer
from tests.api.conftest import PAY_TO, FacilitatorDouble, opened
from tests.channel_signing import Payer

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("worker")]

SOLD = [BY_NAME[name] for name in ("echo", "jwt-verify", "chain/storage")]
ECHO, STORAGE, SECRET = (BY_NAME[name].path for name in ("echo", "chain/storage", "jwt-verify"))
SUPPORTED = json.dumps(
    {"kinds": [{"x402Version": 2, "scheme": one, "network": "eip155:8453"} for one in ("exact", "batch-settlement")]}
)
DEPOSIT = 200_000


class Chain:
    """What the chain shows, and the claimer that reads it into the ledger."""

    def __init__(self, redis_url: str) -> None:
        self.connection = LedgerConnections([redis_url])
        self.ledger = ClaimerLedger(self.connection, "test")
        self.balances: dict[str, int] = {}
        self.block = 1

    def watch(self, *, age_s: float = 0.0, **changes: Any) -> None:
        """As the claimer does at each look."""
        fields = {
            "network": "eip155:8453",
            "authorizer": "0x" + 40 * "a",
            "withdraw_delay": 900,
            "min_deposit": 10_000,
            "watched_at": int((time.time() - age_s) * 1000),
        }
        self.ledger.watched({**fields, **changes})

    def state(self, channel: str, *, claimed: int = 0, leaving: int = 0) -> ChainState:
        self.block += 1
        return ChainState(self.block, self.balances.get(channel, 0), claimed, leaving, 0, 0)

    async def serve(self) -> None:
        """Read channels for the API."""
        while True:
            found = self.connection.call("LPOP", READS)
            if found is None:
                await asyncio.sleep(0.005)
                continue
            request = ReadRequest(*msgspec.json.decode(found))
            config = msgspec.json.decode(request.config, type=ChannelConfig)
            state = self.state(request.channel)
            if state.balance:
                self.ledger.sync(request.channel, request.network, request.payer, config, state)
            self.ledger.was_read(request)


@pytest.fixture
def prices_file(tmp_path: Path) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text("")
    return path


@pytest.fixture
def settings(settings: Settings, facilitator: FacilitatorDouble, prices_file: Path) -> Settings:
    facilitator.says = SUPPORTED.encode()
    own = dataclasses.replace(settings.evm, channels="on")
    return dataclasses.replace(settings, evm=own, rate_limits="off", prices_file=str(prices_file))


@pytest.fixture
async def chain(clean_redis: str) -> AsyncIterator[Chain]:
    chain = Chain(clean_redis)
    chain.watch()
    serving = asyncio.create_task(chain.serve())
    yield chain
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving
    chain.connection.close()


@pytest.fixture
async def shop(chain: Chain, app: Litestar) -> AsyncIterator[httpx.AsyncClient]:
    async with opened(app) as client:
        while channel_offer((await client.post(ECHO)).json()) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        yield client


def channel_offer(challenge: dict[str, Any]) -> dict[str, Any] | None:
    found = [one for one in challenge["accepts"] if one["scheme"] == "batch-settlement"]
    return found[0] if found else None


async def test_pages_say_what_a_channel_is_and_its_least_deposit(shop: httpx.AsyncClient) -> None:
    """As the last offer, where the call is sold by channels."""
    page = html.fromstring((await shop.get("/bazaar/echo", headers={"accept": "text/html"})).text)
    *exact, channel = page.cssselect(".offers > li")
    assert not [offer for offer in exact if offer.cssselect("p")]
    assert channel.cssselect("h3")[0].text == "0.001 USDC on Base, from a channel"
    assert "batch-settlement: one deposit of at least 0.01 USDC" in channel.cssselect("p")[0].text_content()
    text = (await shop.get("/bazaar/echo", headers={"accept": "text/markdown"})).text
    assert "from a channel (`batch-settlement`): one deposit of at least 0.01 USDC" in text
    secret = (await shop.get("/bazaar/jwt-verify", headers={"accept": "text/html"})).text
    assert "from a channel" not in secret


@dataclasses.dataclass
class Buyer:
    """A payer with a channel at the shop."""

    http: httpx.AsyncClient
    chain: Chain
    offers: dict[str, dict[str, Any]]
    payer: Payer

    @classmethod
    async def at(cls, http: httpx.AsyncClient, chain: Chain) -> "Buyer":
        offers = {}
        for path in (ECHO, STORAGE):
            offers[path] = channel_offer((await http.post(path)).json()) or {}
        return cls(http, chain, offers, Payer(msgspec.convert(offers[ECHO], Offer)))

    async def send(
        self, payload: dict[str, Any], body: Any = None, *, path: str = ECHO, method: str = "POST"
    ) -> httpx.Response:
        payment = {"x402Version": 2, "accepted": self.offers[path], "payload": payload}
        header = base64.b64encode(json.dumps(payment).encode()).decode()
        sent = {"message": "hi"} if body is None else body
        content = json.dumps(sent).encode() if method == "POST" else b""
        return await self.http.request(
            method, path, content=content, headers={"payment-signature": header, "content-type": "application/json"}
        )

    async def open(self, body: Any = None) -> httpx.Response:
        self.chain.balances[f"0x{self.payer.channel.hex()}"] = DEPOSIT
        return await self.send(self.payer.deposit(DEPOSIT, 1_000), body)


@pytest.fixture
async def buyer(shop: httpx.AsyncClient, chain: Chain) -> Buyer:
    return await Buyer.at(shop, chain)


def receipt(answer: httpx.Response) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(base64.b64decode(answer.headers["payment-response"]))
    return content


def refusal(answer: httpx.Response) -> str:
    assert answer.status_code == 402
    error: str = answer.json()["error"]
    return error.removeprefix(PREFIX)


def state(answer: httpx.Response) -> dict[str, Any]:
    """The `extra` of a corrective 402."""
    offer = channel_offer(answer.json())
    assert offer is not None
    extra: dict[str, Any] = offer["extra"]
    return extra


async def test_the_offer_comes_last_and_only_where_nothing_is_secret(shop: httpx.AsyncClient, buyer: Buyer) -> None:
    """A client that knows both schemes takes `exact`, which comes first and is upfront, too."""
    offers = (await shop.post(ECHO)).json()["accepts"]
    assert [one["scheme"] for one in offers] == ["exact", "batch-settlement"]
    assert {one["extra"]["paymentFlow"] for one in offers} == {"upfront"}
    assert offers[1]["extra"]["minDeposit"] == "10000"
    assert [one["scheme"] for one in (await shop.post(SECRET)).json()["accepts"]] == ["exact"]


async def test_a_deposit_opens_the_channel_and_vouchers_pay(buyer: Buyer, facilitator: FacilitatorDouble) -> None:
    """One settlement for the first call, none for those after it; and the receipts add up."""
    opened = await buyer.open()
    assert opened.status_code == 200, opened.text
    first = receipt(opened)
    assert (first["amount"], first["extra"]["chargedAmount"]) == (str(DEPOSIT), "1000")
    assert first["transaction"].startswith("0x")
    for calls in range(2, 6):
        answer = await buyer.send(buyer.payer.voucher(calls * 1_000), {"message": str(calls)})
        assert answer.json()["youSent"] == str(calls)
        told = receipt(answer)
        assert (told["transaction"], told["amount"], told["extra"]["chargedAmount"]) == ("", "", "1000")
        assert told["extra"]["channelState"]["chargedCumulativeAmount"] == str(calls * 1_000)
    assert len(facilitator.settles) == 1


async def test_a_repeated_request_gets_the_stored_answer(buyer: Buyer, facilitator: FacilitatorDouble) -> None:
    """The same bytes and the same receipt, for a deposit and for a voucher, and nothing is charged again."""
    buyer.chain.balances[f"0x{buyer.payer.channel.hex()}"] = DEPOSIT
    for payload in (buyer.payer.deposit(DEPOSIT, 1_000), buyer.payer.voucher(2_000)):
        answers = [await buyer.send(payload) for _ in range(3)]
        assert {one.status_code for one in answers} == {200}
        assert len({(one.content, one.headers["payment-response"]) for one in answers}) == 1
    assert len(facilitator.settles) == 1
    assert refusal(await buyer.send(buyer.payer.voucher(2_000), {"message": "another"})) == "cumulative_amount_mismatch"


async def test_one_voucher_pays_one_of_many_requests(buyer: Buyer) -> None:
    await buyer.open()
    answers = await asyncio.gather(*(buyer.send(buyer.payer.voucher(2_000), {"message": str(n)}) for n in range(20)))
    assert sorted(one.status_code for one in answers) == [200] + [402] * 19
    told = receipt(await buyer.send(buyer.payer.voucher(3_000)))
    assert told["extra"]["channelState"]["chargedCumulativeAmount"] == "3000"


async def test_calls_in_flight_do_not_wait_for_each_other(buyer: Buyer) -> None:
    """A buyer who counts by himself signs one voucher after the other, and all are answered, in whatever order they come."""
    await buyer.open()
    amounts = [(2 + n) * 1_000 for n in range(32)]
    for wave in range(0, 32, 8):  # as many as a payer may have in flight
        vouchers = [buyer.payer.voucher(amount) for amount in reversed(amounts[wave : wave + 8])]
        answers = await asyncio.gather(*(buyer.send(one, {"message": str(n)}) for n, one in enumerate(vouchers)))
        assert [one.status_code for one in answers] == [200] * 8
    row = buyer.chain.connection.call("EVAL", _CHARGED, 0, f"0x{buyer.payer.channel.hex()}", bucket=0)
    assert int(row) == 33_000


_CHARGED = """
for bucket = 0, 63 do
  local charged = redis.call('HGET', string.format('coinslot:{%02x}:channel:', bucket) .. ARGV[1], 'charged')
  if charged then return charged end
end
"""


async def test_a_failed_call_is_free(buyer: Buyer) -> None:
    """Its voucher pays the next call."""
    await buyer.open()
    failed = await buyer.send(
        buyer.payer.voucher(6_000), {"chain": "base", "address": "0x" + 40 * "1", "slot": "0x0"}, path=STORAGE
    )
    assert failed.status_code >= 500, failed.text
    assert failed.json()["charged"] is False
    assert "payment-response" not in failed.headers
    told = receipt(await buyer.send(buyer.payer.voucher(2_000)))
    assert told["extra"]["channelState"]["chargedCumulativeAmount"] == "2000"


async def test_the_corrective_402_helps_its_payer_and_nobody_else(buyer: Buyer) -> None:
    """It has the payer's own signature, from which a client that lost its state continues. Who cannot sign learns nothing."""
    await buyer.open()
    for calls in (2, 3):
        await buyer.send(buyer.payer.voucher(calls * 1_000))
    stale = await buyer.send(buyer.payer.voucher(1_000), {"message": "new"})
    assert refusal(stale) == "cumulative_amount_mismatch"
    extra = state(stale)
    assert extra["channelState"]["chargedCumulativeAmount"] == "3000"
    signed = buyer.payer.voucher(3_000)["voucher"]["signature"]
    assert extra["voucherState"] == {"signedMaxClaimable": "3000", "signature": signed}
    assert sum(len(name) + len(value) + 4 for name, value in stale.headers.raw) < 8 * 1024
    forged = buyer.payer.voucher(1_000)
    forged["voucher"]["signature"] = buyer.payer.voucher(9_000)["voucher"]["signature"]
    refused = await buyer.send(forged)
    assert refusal(refused) == "voucher_signature"
    assert "channelState" not in state(refused)


async def test_nothing_goes_beyond_the_balance(buyer: Buyer) -> None:
    await buyer.open()
    beyond = await buyer.send(buyer.payer.voucher(DEPOSIT + 1))
    assert refusal(beyond) == "cumulative_exceeds_balance"
    config, name = buyer.payer.config, f"0x{buyer.payer.channel.hex()}"
    leaving = buyer.chain.state(name, leaving=DEPOSIT - 1_500)
    buyer.chain.ledger.sync(name, "eip155:8453", config.payer, config, leaving)
    assert refusal(await buyer.send(buyer.payer.voucher(2_000))) == "cumulative_exceeds_balance"


async def test_a_channel_that_nobody_opened_pays_nothing(buyer: Buyer) -> None:
    """The chain is asked once. One that the chain knows is taken, from what was claimed: then the ledger was lost."""
    assert refusal(await buyer.send(buyer.payer.voucher(1_000))) == "channel_not_found"
    config, name = buyer.payer.config, f"0x{buyer.payer.channel.hex()}"
    buyer.chain.balances[name] = DEPOSIT
    buyer.chain.ledger.sync(name, "eip155:8453", config.payer, config, buyer.chain.state(name, claimed=5_000))
    old = await buyer.send(buyer.payer.voucher(5_000))
    assert refusal(old) == "cumulative_amount_mismatch"
    assert state(old)["channelState"]["totalClaimed"] == "5000"
    assert "voucherState" not in state(old)
    assert (await buyer.send(buyer.payer.voucher(6_000))).status_code == 200


async def test_a_voucher_is_not_refused_for_good_before_the_terms_are_known(
    buyer: Buyer, paid_calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a process that has just started beside the one whose offer is paid, then the same voucher pays when both know it.
    A call that is answered already is answered by either."""
    await buyer.open()
    answered, voucher = buyer.payer.voucher(2_000), buyer.payer.voucher(3_000)
    first = await buyer.send(answered)
    health = paid_calls[ECHO]._gate._priced[-1][1].health
    with monkeypatch.context() as patched:
        health.heed({})
        patched.setattr(health, "heed", lambda terms: None)
        refused = await buyer.send(voucher)
        assert (refused.status_code, refused.json()["reason"], refused.json()["charged"]) == (503, "rail_down", False)
        assert (await buyer.send(answered)).content == first.content
    while (answer := await buyer.send(voucher)).status_code == 503:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert answer.status_code == 200


async def test_no_voucher_is_taken_while_nobody_watches_the_chain(buyer: Buyer, shop: httpx.AsyncClient) -> None:
    """The payer could have withdrawn everything. `exact` is sold on."""
    await buyer.open()
    buyer.chain.watch(age_s=120)
    while channel_offer((await shop.post(ECHO)).json()) is not None:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    refused = await buyer.send(buyer.payer.voucher(2_000))
    assert (refused.status_code, refused.json()["reason"], refused.json()["charged"]) == (503, "rail_down", False)
    buyer.chain.watch()
    while (answer := await buyer.send(buyer.payer.voucher(2_000))).status_code == 503:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert answer.status_code == 200


async def test_no_voucher_is_taken_of_a_bucket_that_nobody_looks_at(buyer: Buyer, shop: httpx.AsyncClient) -> None:
    """The claimer does not reach the payer's server of the ledger. Channels stay offered, and payers of other buckets buy."""
    await buyer.open()
    bucket = bucket_of_payer("eip155:8453", buyer.payer.config.payer.lower())
    now_ms = int(time.time() * 1000)
    for others, age_s in ((bucket, 30), (bucket % 63 + 1, 120)):
        buyer.chain.watch(behind=msgspec.json.encode({others: (1, now_ms - age_s * 1000)}))
        await asyncio.sleep(1.5)
        assert (await buyer.send(buyer.payer.voucher(2_000 if others == bucket else 3_000))).status_code == 200
    buyer.chain.watch(behind=msgspec.json.encode({bucket: (1, now_ms - 120_000)}))
    await asyncio.sleep(1.5)
    refused = await buyer.send(buyer.payer.voucher(4_000))
    assert (refused.status_code, refused.json()["reason"], refused.json()["charged"]) == (503, "rail_down", False)
    assert channel_offer((await shop.post(ECHO)).json()) is not None
    buyer.chain.watch(behind=b"{}")
    while (answer := await buyer.send(buyer.payer.voucher(4_000))).status_code == 503:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert answer.status_code == 200


async def test_a_ledger_that_does_not_say_who_watches_is_not_believed_for_long(
    settings: Settings, chain: Chain, clean_redis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another server of the ledger could take vouchers, while the one with the claimer's word is away."""
    rail = channel_rail(settings, configured_rails(settings))
    assert rail is not None
    redis, nobody = Redis(clean_redis), Redis("redis://127.0.0.1:1/0")
    watch = ChannelWatch(redis, rail, settings)
    chain.watch(age_s=57)
    await watch.run_once()
    assert not rail.health.is_held
    monkeypatch.setattr(watch, "_redis", nobody)
    while not rail.health.is_held:
        with suppress(RedisLost):
            await watch.run_once()
        await asyncio.sleep(0.05)
    redis.close()
    nobody.close()


async def test_a_facilitator_that_is_away_stops_deposits_alone(buyer: Buyer, facilitator: FacilitatorDouble) -> None:
    await buyer.open()
    facilitator.says_status = 500
    facilitator.script = ["error500"] * 20
    assert (await buyer.send(buyer.payer.voucher(2_000))).status_code == 200
    other = Payer(buyer.payer.offer)
    assert (await buyer.send(other.deposit(DEPOSIT, 1_000))).status_code == 503


async def test_a_channel_that_cannot_be_read_is_asked_for_again(
    buyer: Buyer, facilitator: FacilitatorDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claimer is gone for a moment: the deposit is made, its call is not charged. The same request continues."""
    buyer.chain.balances[f"0x{buyer.payer.channel.hex()}"] = DEPOSIT
    payload = buyer.payer.deposit(DEPOSIT, 1_000)
    with monkeypatch.context() as patched:
        patched.setattr("api.payment.channel_ledger.READ_TIMEOUT_S", 0.0)
        refused = await buyer.send(payload)
    assert (refused.status_code, refused.json()["reason"], refused.json()["charged"]) == (503, "channel_unread", False)
    assert receipt(refused)["amount"] == str(DEPOSIT)
    assert (await buyer.send(payload)).status_code == 200
    assert len(facilitator.settles) == 1


async def test_a_refused_deposit_opens_nothing(buyer: Buyer, facilitator: FacilitatorDouble) -> None:
    facilitator.script = ["refuse"]
    payload = buyer.payer.deposit(DEPOSIT, 1_000)
    refused = await buyer.send(payload)
    assert refusal(refused) == "insufficient_funds"
    assert not receipt(refused)["success"]
    assert refusal(await buyer.send(buyer.payer.voucher(1_000))) == "channel_not_found"


async def test_a_deposit_whose_answer_was_lost_is_made_once(buyer: Buyer, facilitator: FacilitatorDouble) -> None:
    """The facilitator's answer is lost after the money moved: the same request finds the deposit, and its call is answered."""
    facilitator.script = ["reset+paid"]
    buyer.chain.balances[f"0x{buyer.payer.channel.hex()}"] = DEPOSIT
    payload = buyer.payer.deposit(DEPOSIT, 1_000)
    answers = [await buyer.send(payload)]
    while answers[-1].status_code == 503:
        assert answers[-1].json()["charged"] == "unknown"
        await asyncio.sleep(0.1)
        answers.append(await buyer.send(payload))
    assert answers[-1].status_code == 200, answers[-1].text
    assert len(facilitator.paid) == 1
    assert receipt(answers[-1])["extra"]["chargedAmount"] == "1000"


async def test_a_deposit_beside_a_stale_voucher_is_not_lost(buyer: Buyer, facilitator: FacilitatorDouble) -> None:
    """A client that lost its state deposits again. The 402 names the deposit and the start of the next voucher."""
    await buyer.open()
    await buyer.send(buyer.payer.voucher(2_000))
    buyer.chain.balances[f"0x{buyer.payer.channel.hex()}"] = 2 * DEPOSIT
    stale = await buyer.send(buyer.payer.deposit(DEPOSIT, 1_000), {"message": "new"})
    assert refusal(stale) == "cumulative_amount_mismatch"
    assert (receipt(stale)["success"], receipt(stale)["amount"]) == (True, str(DEPOSIT))
    assert state(stale)["channelState"]["balance"] == str(2 * DEPOSIT)
    assert (await buyer.send(buyer.payer.voucher(2 * DEPOSIT))).status_code == 200


async def test_a_deposit_that_is_too_small_is_made_and_pays_nothing(
    buyer: Buyer, facilitator: FacilitatorDouble
) -> None:
    """The voucher beside it goes beyond the balance: a definite refusal, now and when it is repeated."""
    buyer.chain.balances[f"0x{buyer.payer.channel.hex()}"] = DEPOSIT
    payload = buyer.payer.deposit(DEPOSIT, DEPOSIT + 1)
    for _ in range(2):
        refused = await buyer.send(payload)
        assert refusal(refused) == "cumulative_exceeds_balance"
        assert receipt(refused)["amount"] == str(DEPOSIT)
    assert len(facilitator.settles) == 1
    assert (await buyer.send(buyer.payer.voucher(1_000))).status_code == 200


async def test_vouchers_at_a_former_price(
    buyer: Buyer, app: Litestar, prices_file: Path, shop: httpx.AsyncClient, clean_redis: str
) -> None:
    """They are taken for their time, and those that were taken before are known after it, too. A new one is to be of the price
    of now."""

    async def sell(text: str) -> None:
        prices_file.write_text(text)  # noqa: ASYNC240  # a line
        await app.state[RELOAD]()

    await buyer.open()
    first = await buyer.send(buyer.payer.voucher(2_000))
    await sell('echo = "0.003"')
    assert (await buyer.send(buyer.payer.voucher(3_000))).status_code == 200
    with redis.Redis.from_url(clean_redis) as client:
        client.zremrangebyrank(PRICE_LISTS, 0, 0)
    again = await buyer.send(buyer.payer.voucher(2_000))
    assert (again.content, again.headers["payment-response"]) == (first.content, first.headers["payment-response"])
    late = await buyer.send(buyer.payer.voucher(4_000))
    assert refusal(late) == "no_matching_offer"
    buyer.offers[ECHO] = channel_offer(late.json()) or {}
    short = await buyer.send(buyer.payer.voucher(4_000))
    assert (refusal(short), state(short)["channelState"]["chargedCumulativeAmount"]) == (
        "cumulative_amount_mismatch",
        "3000",
    )
    assert (await buyer.send(buyer.payer.voucher(6_000))).status_code == 200
    # The rest of a channel is paid back where nothing is sold any more, too: this refusal says from where on.
    await sell("echo = false")
    assert (await shop.post(ECHO)).status_code == 404
    corrected = await buyer.send(buyer.payer.refund(1_000))
    assert (refusal(corrected), state(corrected)["channelState"]["chargedCumulativeAmount"]) == (
        "cumulative_amount_mismatch",
        "6000",
    )


async def test_a_deposit_that_names_another_price_pays_nothing(buyer: Buyer, facilitator: FacilitatorDouble) -> None:
    """Given a deposit whose call failed, and so was free, when it comes again as if the call cost an atomic unit, then it is
    refused, with the receipt of the deposit."""
    buyer.chain.balances[f"0x{buyer.payer.channel.hex()}"] = DEPOSIT
    body = {"chain": "base", "address": "0x" + 40 * "1", "slot": "0x0"}
    deposit = buyer.payer.deposit(DEPOSIT, 5_000)
    failed = await buyer.send(deposit, body, path=STORAGE)
    assert (failed.status_code // 100, failed.json()["charged"]) == (5, False)
    buyer.offers[STORAGE]["amount"] = "1"
    refused = await buyer.send(deposit, body, path=STORAGE)
    assert refusal(refused) == "no_matching_offer"
    assert receipt(refused)["amount"] == str(DEPOSIT)


async def test_a_refund_is_wished_by_get_and_post_and_ends_once(buyer: Buyer) -> None:
    """Whoever lost the answer gets it again. A partial one, one in the middle of calls, and one too soon are refused."""
    await buyer.open()
    assert refusal(await buyer.send(buyer.payer.refund(1_000), method="GET")) == "refund_too_soon"
    for calls in range(2, 12):
        assert (await buyer.send(buyer.payer.voucher(calls * 1_000))).status_code == 200
    assert refusal(await buyer.send(buyer.payer.refund(11_000, 5), method="GET")) == "refund_amount_invalid"
    assert refusal(await buyer.send(buyer.payer.refund(9_000), method="GET")) == "cumulative_amount_mismatch"
    asked = [asyncio.create_task(buyer.send(buyer.payer.refund(11_000), method=one)) for one in ("GET", "POST")]
    while not (wished := buyer.chain.ledger.refunds()):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert refusal(await buyer.send(buyer.payer.voucher(12_000))) == "channel_busy"
    (channel,) = wished
    told = {"success": True, "transaction": "0x5e", "network": "eip155:8453", "amount": str(DEPOSIT - 11_000)}
    buyer.chain.balances[channel.id] = 11_000
    now = buyer.chain.state(channel.id, claimed=11_000)
    buyer.chain.ledger.sync(channel.id, channel.network, channel.payer, channel.config, now)
    buyer.chain.ledger.refunded(channel, json.dumps(told).encode(), is_done=True)
    answers = [*await asyncio.gather(*asked), await buyer.send(buyer.payer.refund(11_000), method="GET")]
    assert [(one.status_code, receipt(one)["transaction"]) for one in answers] == [(200, "0x5e")] * 3


async def test_get_pays_no_call(buyer: Buyer) -> None:
    await buyer.open()
    assert (await buyer.send(buyer.payer.voucher(2_000), method="GET")).status_code == 405


async def test_off_means_that_nothing_changes(settings: Settings) -> None:
    """Without the setting the challenges are the same, byte for byte, whatever the claimer wrote."""
    off = dataclasses.replace(settings, evm=dataclasses.replace(settings.evm, channels="off"))
    bodies = []
    for one in (off, settings):
        app = create_app(one, SOLD)
        transport = httpx.ASGITransport(app)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://shop.test") as client:
            bodies.append((await client.post(ECHO)).content)
    assert bodies[0] == bodies[1]
    assert PAY_TO.encode() in bodies[0]
