"""xrpl-wallet-watch as a payer sees it: paid in RLUSD alone, a baseline of its own, and then what happened since."""

import dataclasses
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import dramatiq
import httpx
import msgspec
import pytest
import pytest_socket
from litestar import Litestar
from xrpl.wallet import Wallet

from api.app import create_app
from compose.sandbox.xrpl_ledger import Ledger
from compose.sandbox.xrpl_node import XrplServer, provision, provision_watched
from jobs.xrpl_wallet_watch.endpoint import ENDPOINT
from shared.queue.streams import GROUP, stream_key
from shared.settings.rails import XrplRailSettings
from shared.settings.service import Settings
from shared.x402.networks import XRPL_RLUSD
from shared.x402.wire import Offer
from tests import xrpl_signing as signing
from tests.api.paying import paid_with
from workers.main import create_broker

pytestmark = pytest.mark.anyio

RLUSD = XRPL_RLUSD["xrpl:0"]
SUPPORTED = {"kinds": [{"x402Version": 2, "scheme": "exact", "network": "xrpl:0", "extra": {"ledger": 100}}]}
MEASURED = {"ledgerIndex", "activity"}
PAYER, OTHER, PAY_TO = (Wallet.from_entropy(f"{number:032x}") for number in (21, 22, 23))


@pytest.fixture
def node() -> Iterator[XrplServer]:
    """A ledger that closes when it is told to."""
    pytest_socket.enable_socket()
    ledger = Ledger()
    provision(ledger, payer=PAYER.address, pay_to=PAY_TO.address)
    provision_watched(ledger)
    ledger.close()
    node = XrplServer(ledger, close_every_s=0)
    threading.Thread(target=node.serve, daemon=True).start()
    yield node
    node.stop()


@pytest.fixture
def settings(settings: Settings, facilitator: Any, node: XrplServer) -> Settings:
    """The rail of RLUSD, settled by the double, beside that of USDC on Base."""
    facilitator.says = json.dumps({"kinds": [*json.loads(facilitator.says)["kinds"], *SUPPORTED["kinds"]]}).encode()
    xrpl = XrplRailSettings(pay_to=PAY_TO.address, facilitator_url=facilitator.url, read_urls=(node.url,))
    return dataclasses.replace(settings, xrpl=xrpl)


@pytest.fixture
def app(settings: Settings) -> Litestar:
    """It sells nothing else."""
    return create_app(settings, (ENDPOINT,))


@pytest.fixture
def worker(settings: Settings, node: XrplServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[dramatiq.Worker]:
    """A worker of the chain pool."""
    monkeypatch.setenv("COINSLOT_LEDGER_URL", settings.ledger_url)
    monkeypatch.setenv("COINSLOT_QUEUE_URL", settings.queue_url)
    monkeypatch.setenv("COINSLOT_KEY_FILE", str(settings.key_file))
    monkeypatch.setenv("COINSLOT_XRPL_READ_URLS", node.url)
    monkeypatch.setattr("workers.main.give_way", lambda _: None)  # all later tests of this process would be nice, too
    broker = create_broker((ENDPOINT,))
    queue = ENDPOINT.pool.value
    worker = dramatiq.Worker(broker, queues={queue}, worker_threads=2, worker_timeout=100)
    worker.start()
    while not broker.client.exists(stream_key(queue)) or not broker.client.xinfo_consumers(stream_key(queue), GROUP):
        time.sleep(0.01)
    yield worker
    worker.stop()
    broker.close()


class Buyer:
    """Pays with a wallet, each call with a transaction of its own."""

    def __init__(self, shop: httpx.AsyncClient, wallet: Wallet) -> None:
        self._shop, self._wallet = shop, wallet
        self._sequence = 7

    async def call(self, body: Any) -> httpx.Response:
        """Ask for the challenge, pay it, and repeat the call."""
        challenge = await self._shop.post(ENDPOINT.path, json=body)
        assert challenge.status_code == 402
        [offer] = challenge.json()["accepts"]
        wanted = msgspec.convert(offer, Offer)
        self._sequence += 1
        payload = signing.t54_payload(self._wallet, wanted, Sequence=self._sequence)
        payment = {"x402Version": 2, "accepted": offer, "payload": payload}
        return await self._shop.post(ENDPOINT.path, json=body, headers=paid_with(payment))


def pay(node: XrplServer) -> None:
    """The payer sends a drop to the recipient, in a ledger of its own."""
    sequence = node.ledger.open.accounts[PAYER.address].sequence
    fields = {"TransactionType": "Payment", "Account": PAYER.address, "Destination": PAY_TO.address}
    blob = signing.blob(PAYER, {**fields, "Amount": "1", "Fee": "10", "Sequence": sequence})
    assert node.ledger.submit(blob)[0] == "tesSUCCESS"
    node.ledger.close()


async def test_the_challenge_is_of_its_own_flavour(shop: httpx.AsyncClient) -> None:
    """One offer, in RLUSD on the XRP Ledger, in WWW-Authenticate as well."""
    challenge = await shop.post(ENDPOINT.path, json=ENDPOINT.example.request)
    assert challenge.status_code == 402
    [offer] = challenge.json()["accepts"]
    assert (offer["network"], offer["asset"], offer["amount"]) == ("xrpl:0", RLUSD.currency, "0.001")
    assert offer["extra"]["issuer"] == RLUSD.issuer
    assert challenge.headers["www-authenticate"].startswith("X402 ")
    assert "payment-required" in challenge.headers


async def test_the_documented_example_is_what_a_paid_call_gives(
    shop: httpx.AsyncClient, worker: dramatiq.Worker
) -> None:
    """But for the number of the ledger."""
    answer = await Buyer(shop, PAYER).call(ENDPOINT.example.request)
    assert answer.status_code == 200, answer.text
    told, documented = answer.json(), dict(ENDPOINT.example.response)
    assert {name: value for name, value in told.items() if name not in MEASURED} == {
        name: value for name, value in documented.items() if name not in MEASURED
    }


async def test_the_second_call_tells_what_happened_since_the_first(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, node: XrplServer
) -> None:
    """To the payer who made the baseline; another payer has none yet, and an X-address is the same wallet."""
    buyer, other = Buyer(shop, PAYER), Buyer(shop, OTHER)
    first = (await buyer.call({"address": PAYER.address})).json()
    assert first["baseline"]["created"] is True
    pay(node)
    second = (await buyer.call({"address": PAYER.get_xaddress(is_test=False)})).json()
    assert (second["baseline"]["previousLedgerIndex"], second["deltas"]["xrp"]) == (first["ledgerIndex"], "-0.000011")
    assert (second["activity"]["count"], second["activity"]["complete"]) == (1, True)
    assert second["newDestinations"][0]["address"] == PAY_TO.address
    stranger = (await other.call({"address": PAYER.address})).json()
    assert (stranger["baseline"]["created"], stranger["activity"]["count"]) == (True, 0)


@pytest.mark.parametrize("body", [{"address": "r" * 34}, {"address": PAY_TO.address, "allowedDestinations": ["x"]}])
async def test_a_wrong_address_is_refused_before_it_is_charged(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, facilitator: Any, body: Any
) -> None:
    """With a code and the field."""
    refused = await Buyer(shop, PAYER).call(body)
    problem = refused.json()
    assert (refused.status_code, problem["charged"], facilitator.settles) == (400, False, [])
    assert problem["field"] == list(body)[-1]
    assert "invalid_address" in refused.text
