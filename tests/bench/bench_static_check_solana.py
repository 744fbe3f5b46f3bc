"""What the offline check of a Solana payment costs on one core: `python -m tests.bench.bench_static_check_solana`."""

from __future__ import annotations

import statistics
import time

import msgspec
from solders.keypair import Keypair

from shared.money import Price
from shared.x402 import solana
from shared.x402.networks import SOLANA_USDC
from tests.solana_signing import Draft

ROUNDS, PAYMENTS = 9, 500
BAR_US = 150.0


def main() -> None:
    """Print microseconds per call, each of another payer: the median of the rounds, and their range."""
    token = SOLANA_USDC["solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"]
    (offer,) = solana.offers(token, Price.of("0.001"), str(Keypair().pubkey()))
    extra = {**offer.extra, "feePayer": str(Keypair().pubkey()), "memo": "Q29pbnNsb3QgdGFrZXMgY29pbnMu"}
    offer = msgspec.structs.replace(offer, extra=extra)
    payloads = [Draft(offer, Keypair()).payload() for _ in range(PAYMENTS)]
    rounds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for payload in payloads:
            solana.check(offer, payload)
        rounds.append((time.perf_counter() - started) / PAYMENTS * 1e6)
    name = f"Solana: layout, terms, memo, signature (bar {BAR_US:.0f})"
    print(f"{name:50} {statistics.median(rounds):6.1f} us   ({min(rounds):.1f} to {max(rounds):.1f})")


if __name__ == "__main__":
    main()
