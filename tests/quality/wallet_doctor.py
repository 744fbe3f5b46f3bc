"""wallet-doctor: whether a wallet can pay, by itself and by x402, and what it lacks."""

from collections.abc import Iterator
from typing import Any

from tests.jobs.wallet_doctor.test_endpoint import codes, examined
from tests.quality.scorer import Measure

_ETHER = 10**18
_DELEGATED = bytes.fromhex("ef0100" + "ab" * 20)
# The wallet; whether it can pay itself, and by x402; a recommendation that it gets.
_WALLETS: list[tuple[dict[str, Any], bool, bool, str]] = [
    ({}, True, True, "ready"),
    ({"wei": 0}, False, True, "add_gas"),
    ({"atomic": 0}, False, False, "add_usdc"),
    ({"atomic": 9_999}, False, False, "top_up_usdc"),
    ({"blacklisted": 1}, False, False, "usdc_blacklisted"),
    ({"paused": 1}, False, False, "usdc_paused"),
    ({"wei": 10**12}, False, True, "add_gas"),
    ({"chain": "ethereum", "wei": _ETHER // 2000}, False, True, "add_gas"),
    ({"gas_price": 10**12, "wei": _ETHER // 10}, False, True, "add_gas"),
    ({"code": _DELEGATED}, True, True, "delegated_account"),
]
_WALLETS_SET_ASIDE: list[tuple[dict[str, Any], bool, bool, str]] = [
    ({"chain": "ethereum"}, True, True, "ready"),
    ({"chain": "ethereum", "atomic": 10_000}, True, True, "ready"),
    ({"chain": "ethereum", "blacklisted": 1, "wei": 0}, False, False, "usdc_blacklisted"),
    ({"wei": 0, "atomic": 1}, False, False, "top_up_usdc"),
    ({"wei": 20_000_000_000_000}, True, True, "ready"),
    ({"code": b"\x60\x80"}, True, True, "contract_wallet"),
    ({"nonce": 0, "wei": 0, "atomic": 0}, False, False, "unused_wallet"),
]


def measures(held_out: bool) -> Iterator[Measure]:
    """The three answers about each wallet."""
    wallets = _WALLETS_SET_ASIDE if held_out else _WALLETS
    answers = [(examined(**state), *wanted) for state, *wanted in wallets]
    yield Measure("ready", len(answers), sum(answer["ready"] is ready for answer, ready, _, _ in answers))
    yield Measure(
        "ready for x402", len(answers), sum(answer.get("readyForX402") is paid for answer, _, paid, _ in answers)
    )
    yield Measure("recommended", len(answers), sum(code in codes(answer) for answer, _, _, code in answers))
