"""Tokens that anybody made do not keep a transaction from being explained."""

from collections.abc import Sequence
from typing import Any

import pytest

from jobs.ports.chains import Call, Chain, ChainCall, ChainRead
from shared.outcome import UpstreamFailed
from tests.jobs.engines.evm.fake_chains import FakeChains
from tests.jobs.tx_explain.receipts import ALICE, BOB, UNKNOWN_TOKEN, explained, moved, put, usual_chains


class LongWinded(FakeChains):
    """Symbols of a megabyte: a batch with one of them is more than is read of a node."""

    reason = "bad_content"

    def read(self, chain: Chain, calls: Sequence[ChainCall], **how: Any) -> ChainRead:
        """As the port says."""
        if any(isinstance(call, Call) and call.to == UNKNOWN_TOKEN for call in calls):
            raise UpstreamFailed("too large", reason=self.reason)
        return super().read(chain, calls, **how)


@pytest.fixture
def chains() -> LongWinded:
    """With a transfer of the token."""
    found = LongWinded()
    found.base = usual_chains().base
    put(found.base, logs=[moved(UNKNOWN_TOKEN, ALICE, BOB, 7)])
    return found


def test_symbols_that_cannot_be_read_are_left_out(chains: LongWinded) -> None:
    """The transfer is in the answer, and a warning says that something is missing."""
    answer = explained(chains)

    (transfer,) = answer["transfers"]
    assert (transfer["amount"], transfer["symbol"], transfer["decimals"]) == ("7", None, None)
    assert answer["status"] == "success"
    assert answer["timestamp"] is not None
    assert answer["warnings"] == ["symbols_unreadable"]


def test_a_node_that_fails_otherwise_is_a_failure(chains: LongWinded) -> None:
    """Failures that a token cannot cause are failures of the node."""
    chains.reason = "timeout"
    with pytest.raises(UpstreamFailed):
        explained(chains)
