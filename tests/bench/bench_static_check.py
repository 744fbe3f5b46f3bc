"""What the offline check of a payment costs on one core, on every rail: `python -m tests.bench.bench_static_check`."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

import msgspec
from coincurve import PrivateKey
from solders.keypair import Keypair
from stellar_sdk import Keypair as StellarKeypair
from xrpl.wallet import Wallet

from api.payment.headers import decode_payment, encode_header
from shared.money import Price
from shared.x402 import evm, solana, stellar, xrpl
from shared.x402.networks import EVM_USDC, SOLANA_USDC, STELLAR_USDC
from tests import signing, solana_signing, stellar_signing, xrpl_signing

ROUNDS, CALLS = 9, 500
PRICE = Price.of("0.001")

Check = Callable[[], object]


def checks() -> Iterator[tuple[str, float, list[Check]]]:
    """What is measured, the bar in microseconds, and a check for each of many payers."""
    (offer,) = evm.offers(EVM_USDC["eip155:8453"], PRICE, "0x" + "11" * 20)
    payloads = [signing.payload(PrivateKey(), offer) for _ in range(CALLS)]
    yield "EVM: shape, recipient, amount, signature", 100, _each(evm.check, offer, payloads)

    (named,) = solana.offers(SOLANA_USDC["solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"], PRICE, str(Keypair().pubkey()))
    extra = {**named.extra, "feePayer": str(Keypair().pubkey()), "memo": "Q29pbnNsb3QgdGFrZXMgY29pbnMu"}
    named = msgspec.structs.replace(named, extra=extra)
    payloads = [solana_signing.Draft(named, Keypair()).payload() for _ in range(CALLS)]
    yield "Solana: layout, terms, memo, signature", 150, _each(solana.check, named, payloads)

    (offer,) = stellar.offers(STELLAR_USDC["stellar:pubnet"], PRICE, StellarKeypair.random().public_key)
    for kind, credentials in (("legacy credentials", stellar_signing.LEGACY), ("CAP-71's", stellar_signing.V2)):
        payload = stellar_signing.payload(StellarKeypair.random(), offer, expiration=1_000, credentials=credentials)
        yield f"Stellar, {kind}: XDR, transfer, signature", 500, _each(stellar.check, offer, [payload] * CALLS)

    offer = xrpl_signing.offer(Wallet.create().address)
    for curve, algorithm in (("ed25519", xrpl_signing.ED25519), ("secp256k1", xrpl_signing.SECP256K1)):
        payload = xrpl_signing.t54_payload(Wallet.create(algorithm), offer)
        yield f"XRPL, {curve}: form, amounts, invoice, signature", 800, _each(xrpl.check, offer, [payload] * CALLS)

    payment = {
        "x402Version": 2,
        "accepted": signing.wire(named),
        "payload": solana_signing.Draft(named, Keypair()).payload(),
    }
    header = encode_header(msgspec.json.encode(payment))
    yield "a header: base64, strict JSON, types", 100, [lambda: decode_payment(header)] * CALLS


def _each(check: Callable[..., object], offer: object, payloads: list[dict[str, object]]) -> list[Check]:
    return [lambda payload=payload: check(offer, payload) for payload in payloads]  # type: ignore[misc]


def main() -> None:
    """Print microseconds per check: the median of the rounds, their range, and the bar."""
    for name, bar, calls in checks():
        rounds = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            for call in calls:
                call()
            rounds.append((time.perf_counter() - started) / len(calls) * 1e6)
        median = statistics.median(rounds)
        verdict = "PASS" if median <= bar else "MISS"
        print(f"{name:50} {median:6.1f} us   ({min(rounds):.1f} to {max(rounds):.1f})   <= {bar:.0f}  {verdict}")


if __name__ == "__main__":
    main()
