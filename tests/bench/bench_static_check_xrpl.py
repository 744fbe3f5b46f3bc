"""What the offline check of an XRPL payment costs on one core: `python -m tests.bench.bench_static_check_xrpl`."""

from __future__ import annotations

import statistics
import time

from xrpl.wallet import Wallet

from shared.x402 import xrpl
from tests import xrpl_signing as signing

ROUNDS, CALLS = 9, 1_000


def main() -> None:
    """Print microseconds per call: the median of the rounds, and their range."""
    offer = signing.offer(Wallet.create().address)
    for name, algorithm in (("ed25519", signing.ED25519), ("secp256k1", signing.SECP256K1)):
        payload = signing.t54_payload(Wallet.create(algorithm), offer)
        rounds = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            for _ in range(CALLS):
                xrpl.check(offer, payload)
            rounds.append((time.perf_counter() - started) / CALLS * 1e6)
        label = f"XRPL, {name}: form, amounts, invoice, signature"
        print(f"{label:55} {statistics.median(rounds):6.1f} us   ({min(rounds):.1f} to {max(rounds):.1f})")


if __name__ == "__main__":
    main()
