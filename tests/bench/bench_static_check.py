"""What the offline check of a payment costs on one core: `python -m tests.bench.bench_static_check`."""

from __future__ import annotations

import statistics
import time

import msgspec
from coincurve import PrivateKey

from api.payment.headers import decode_payment, encode_header
from shared.money import Price
from shared.x402 import evm
from shared.x402.networks import EVM_USDC
from tests import signing

ROUNDS, CALLS = 9, 2_000


def main() -> None:
    """Print microseconds per call: the median of the rounds, and their range."""
    offer = evm.offers(EVM_USDC["eip155:8453"], Price.of("0.001"), "0x" + "11" * 20)[0]
    payload = signing.payload(PrivateKey(), offer)
    header = encode_header(msgspec.json.encode({"x402Version": 2, "accepted": signing.wire(offer), "payload": payload}))
    for name, call in (
        ("EVM: shape, recipient, amount, signature", lambda: evm.check(offer, payload)),
        ("header: base64, strict JSON, types", lambda: decode_payment(header)),
    ):
        rounds = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            for _ in range(CALLS):
                call()
            rounds.append((time.perf_counter() - started) / CALLS * 1e6)
        print(f"{name:45} {statistics.median(rounds):6.1f} us   ({min(rounds):.1f} to {max(rounds):.1f})")


if __name__ == "__main__":
    main()
