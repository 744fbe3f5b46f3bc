"""Signed payments on every rail, as tests/chaos/caller.py sends them, and what the chains say of them."""

import asyncio
import itertools
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec
from coincurve import PrivateKey

from coinslot import challenge, payment, sandbox_file, wallet_source
from coinslot.evm_signer import EvmSigner
from coinslot.exchange import Reply
from coinslot.signer import Signer
from coinslot.wallet import Wallet
from jobs.catalogue import CATALOGUE
from shared.networks import network_of
from shared.nodes.json_rpc import JsonRpc
from shared.x402 import evm_channel
from shared.x402.evm_channel_ids import CONTRACT
from shared.x402.networks import Rail
from shared.x402.verifiers import VERIFIERS
from shared.x402.wire import Evidence, Offer
from tests.channel_signing import Payer
from tests.chaos.caller import Purchase
from tests.chaos.history import Transfer
from tests.clients.ledgers import LEDGERS
from tests.facilitator.bench import TRANSFER_TOPIC

RAILS = (Rail.BASE, Rail.SOLANA, Rail.STELLAR, Rail.XRPL_USDC, Rail.XRPL_RLUSD)
EXAMPLES = {endpoint.name: json.dumps(endpoint.example.request).encode() for endpoint in CATALOGUE}
ENDPOINTS = (
    *("echo", "json-repair", "echo", "faker", "jwt-verify", "echo", "dns", "ssl-info", "echo", "chain/chain-id"),
    *("webhook-sig-verify", "echo", "tx-explain"),
)
"""What is bought in turn: of each pool, with and without secrets."""
WATCHES = "xrpl-wallet-watch"
"""It remembers what its payer's last call saw."""
FAILS = json.dumps({"url": "https://nowhere.example.com:8443/news.rss", "limit": 1}).encode()
VALID_S = 60


class Shop:
    """The wallets of a sandbox, and the shop that they buy in.

    Args:
        sandbox: content of its sandbox.json.
    """

    def __init__(self, base_url: str, sandbox: dict[str, Any]) -> None:
        self.base_url = base_url
        self._sandbox = sandbox
        wallets = msgspec.convert(sandbox, sandbox_file.Sandbox)
        self._signers: dict[Rail, Signer] = {rail: wallet_source.sandbox_signer(wallets, rail) for rail in RAILS}
        self._turns = itertools.cycle(ENDPOINTS)
        self.offers: dict[str, Offer] = {}
        """By payment."""

    def purchase(self, rail: Rail, endpoint: str = "", body: bytes = b"", signer: Signer | None = None) -> Purchase:
        """Ask for a price and sign a payment of it."""
        signer = signer or self._signers[rail]
        endpoint = endpoint or next(self._turns)
        quote = self._quote(endpoint)
        offer = _offer_of(quote, signer)
        payload = signer.sign(offer, now=int(time.time()))
        extensions = quote.document.get("extensions", {})
        header = payment.encode(offer, payload, resource=quote.document["resource"], extensions=extensions)
        body = body or (b"" if endpoint == "echo" else EXAMPLES[endpoint])
        return self._bought(offer, payload, header, endpoint, body)

    def poor_purchase(self) -> Purchase:
        """One of somebody who has no money."""
        return self.purchase(Rail.BASE, "echo", signer=EvmSigner(PrivateKey().secret, network="eip155:8453"))

    def channel(self) -> "Channel":
        """A channel of the sandbox's wallet on Base."""
        accepts = self._quote("echo").challenge.accepts
        offer = next(one for one in accepts if one.scheme == evm_channel.SCHEME)
        key = PrivateKey(bytes.fromhex(self._sandbox["evm"]["payerKey"].removeprefix("0x")))
        return Channel(self, Payer(offer, key))

    def voucher(self, offer: Offer, payload: dict[str, Any]) -> Purchase:
        """A call of echo that a channel pays."""
        resource = self._quote("echo").document["resource"]
        return self._bought(
            offer, payload, payment.encode(offer, payload, resource=resource, extensions={}), "echo", b""
        )

    def held(self) -> dict[Rail, Decimal]:
        """What the recipient has on each rail, in the unit of the offers."""
        held = {}
        for rail in RAILS:
            network = network_of(rail)
            held[rail] = LEDGERS[network.package].held(self._sandbox[network.name], self.offer(rail).asset)
        return held

    def offer(self, rail: Rail) -> Offer:
        """That of echo."""
        return _offer_of(self._quote("echo"), self._signers[rail])

    def claimed(self) -> int:
        """What channels have paid the recipient, in atomic units."""
        evm = self._sandbox["evm"]
        topics = [TRANSFER_TOPIC, *("0x" + name[2:].lower().rjust(64, "0") for name in (CONTRACT, evm["payTo"]))]
        wanted = {"address": evm["usdc"], "fromBlock": "0x0", "toBlock": "latest", "topics": topics}
        logs: Any = JsonRpc(evm["rpcUrl"])("eth_getLogs", wanted)
        return sum(int(one["data"], 16) for one in logs)

    async def transfers(self, facilitator_url: str, receipts: Mapping[str, str]) -> list[Transfer]:
        """The payments that a chain shows as made: by the facilitator's evidence, or, where that does not look so far back, by
        the transaction that a receipt names."""
        exact = {name: offer for name, offer in self.offers.items() if offer.scheme == "exact"}
        found = await asyncio.gather(
            *(asyncio.to_thread(self._transfer, name, facilitator_url, receipts.get(name, "")) for name in exact)
        )
        return [transfer for transfer in found if transfer is not None]

    def _transfer(self, name: str, facilitator_url: str, receipt: str) -> Transfer | None:
        offer, evidence = self.offers[name], _evidence(facilitator_url, name)
        transaction = evidence.transaction
        if evidence.status == "unknown" and receipt:
            network = next(
                network_of(rail) for rail, signer in self._signers.items() if signer.network == offer.network
            )
            is_final = LEDGERS[network.package].is_final(self._sandbox[network.name], receipt)
            transaction = receipt if is_final else ""
        if not transaction or evidence.status not in ("settled", "unknown"):
            return None
        return Transfer(
            payment=name,
            transaction=transaction,
            network=offer.network,
            asset=offer.asset,
            amount=offer.amount,
            at=0.0,
        )

    def _quote(self, endpoint: str) -> challenge.Quote:
        request = urllib.request.Request(f"{self.base_url}/v1/cdp/{endpoint}", data=b"", method="POST")
        try:
            urllib.request.urlopen(request, timeout=30)
        except urllib.error.HTTPError as error:
            with error:
                headers = {name.lower(): value for name, value in error.headers.items()}
                return challenge.read(Reply(error.code, headers, error.read()))
        raise AssertionError(f"{endpoint} is free")

    def _bought(self, offer: Offer, payload: dict[str, Any], header: str, endpoint: str, body: bytes) -> Purchase:
        authorization = VERIFIERS[offer.scheme, offer.network.partition(":")[0]].check(offer, payload)
        self.offers[authorization.payment_id] = offer
        valid_before = int(time.time()) + VALID_S
        return Purchase(header, authorization.payment_id, valid_before, endpoint=endpoint, body=body)


class Channel:
    """A deposit, and vouchers out of it. Calls are made one after the other."""

    def __init__(self, shop: Shop, payer: Payer) -> None:
        self._shop = shop
        self.payer = payer
        self.price = int(payer.offer.amount)
        self.signed = 0

    def purchase(self) -> Purchase:
        """The next call; the first one with a deposit for all."""
        self.signed += self.price
        if self.signed == self.price:
            return self._shop.voucher(self.payer.offer, self.payer.deposit(1000 * self.price, self.signed))
        return self._shop.voucher(self.payer.offer, self.payer.voucher(self.signed))


def _evidence(facilitator_url: str, name: str) -> Evidence:
    try:
        with urllib.request.urlopen(f"{facilitator_url}/settlements/{name}", timeout=30) as answer:
            return msgspec.json.decode(answer.read(), type=Evidence)
    except urllib.error.HTTPError as error:
        with error:
            return msgspec.json.decode(error.read(), type=Evidence)


def _offer_of(quote: challenge.Quote, signer: Signer) -> Offer:
    """The offer that a signer pays."""
    return Wallet((signer,)).choose(quote.challenge.accepts, max_price=None).offer
