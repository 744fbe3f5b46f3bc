"""What the offline check of a Stellar payment costs on one core: `python -m tests.bench.bench_static_check_stellar`."""

from __future__ import annotations

import statistics
import time

from stellar_sdk import Keypair

from shared.money import Price
from shared.x402 import stellar
from shared.x402.networks import STELLAR_USDC
from tests import stellar_signing as signing

ROUNDS, CALLS = 9, 500


def main() -> None:
    """Print microseconds per call: the median of the rounds, and their range."""
    offer = stellar.offers(STELLAR_USDC["stellar:pubnet"], Price.of("0.001"), Keypair.random().public_key)[0]
    for name, kind in (("legacy credentials", signing.LEGACY), ("credentials of CAP-71", signing.V2)):
        payload = signing.payload(Keypair.random(), offer, expiration=1_000, credentials=kind)
        rounds = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            for _ in range(CALLS):
                stellar.check(offer, payload)
            rounds.append((time.perf_counter() - started) / CALLS * 1e6)
        what = f"Stellar, {name}: XDR, transfer, signature"
        print(f"{what:60} {statistics.median(rounds):6.1f} us   ({min(rounds):.1f} to {max(rounds):.1f})")


if __name__ == "__main__":
    main()
