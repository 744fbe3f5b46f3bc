"""chain/call: the reason of a revert, in texts that are not filled up to whole words, cut off, or not UTF-8."""

from collections.abc import Iterator

import eth_abi

from jobs.chain.call import ENDPOINT
from jobs.engines.evm.selectors import selector
from jobs.ports.chains import Reverted
from tests.jobs.engines.evm.fake_chains import CONTRACT, FakeChains, answered
from tests.quality.scorer import Measure

_TO = "0x5555555555555555555555555555555555555555"


def _error(raw: bytes, *, size: int | None = None) -> bytes:
    """`Error(string)` with these bytes at its end; `size`: of the text, as it says."""
    return (
        selector("Error(string)")
        + eth_abi.encode(["uint256", "uint256"], [32, len(raw) if size is None else size])
        + raw
    )


# What a contract returns when it reverts, and the reason.
_REVERTS = [
    (_error(b"paused!"), "paused!"),
    (_error(b"TOO_LITTLE_OUT"), "TOO_LITTLE_OUT"),
    (_error(b"x"), "x"),
    (_error(b"ERC20: transfer amount exceeds balance"), "ERC20: transfer amount exceeds balance"),
    (_error(b"cut off here", size=60), "cut off here"),
    (_error(b"caf\xe9", size=4), "caf\ufffd"),
    (_error(b"padded".ljust(32, b"\0"), size=6), "padded"),
    (selector("Panic(uint256)") + (0x11).to_bytes(32, "big"), "Panic(0x11): arithmetic overflow or underflow"),
]
_REVERTS_SET_ASIDE = [
    (_error("zu spät".encode()), "zu spät"),
    (_error(b"STF"), "STF"),
    (_error(b"UniswapV2: K" + bytes(3), size=12), "UniswapV2: K"),
    (_error(b"Dai/insufficient-bal", size=24), "Dai/insufficient-bal"),
]


def measures(held_out: bool) -> Iterator[Measure]:
    """Each is the answer of a call."""
    reverts = _REVERTS_SET_ASIDE if held_out else _REVERTS
    given = [_reason(data) == reason for data, reason in reverts]
    yield Measure("reason of a revert", len(given), sum(given))


def _reason(data: bytes) -> str | None:
    chains = FakeChains()
    chains.base.code[_TO] = CONTRACT
    chains.base.calls[_TO, b"\x01\x02\x03\x04"] = Reverted(data)
    answer = answered(ENDPOINT, chains, {"chain": "base", "to": _TO, "data": "0x01020304"})
    reason: str | None = answer["revert"]["reason"]
    return reason
