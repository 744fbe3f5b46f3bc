"""What `coinslot-ops doctor` says of the chain on which calls are sold by channels."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from compose.sandbox.child import claim_port
from ops import channel_checks
from shared.ledger.channels import CLAIMABLE, channel_key
from shared.settings.rails import EvmRailSettings
from tests.facilitator.bench import Bench, an_address

SEPOLIA = "eip155:84532"


@pytest.fixture
def ledger(clean_redis: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(clean_redis) as client:
        yield client


def lacks(bench: Bench, ledger: redis.Redis, *, network: str = "eip155:8453", settler: str = "") -> list[str] | None:
    own = EvmRailSettings(rpc_url=bench.sandbox.rpc_url, network=network)
    return channel_checks.chain_lacks(own, settler, ledger)


def test_a_contract_that_is_not_on_the_chain_is_told(
    bench: Bench, ledger: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sandbox has all of them."""
    assert lacks(bench, ledger) == []
    nobody = an_address()
    monkeypatch.setattr(channel_checks, "COLLECTOR", nobody)
    assert lacks(bench, ledger) == [f"there is no contract at {nobody}"]


@pytest.mark.parametrize("code", ["0x", "0x00", "0x60006000fd"])
def test_a_token_that_gives_no_reason_of_usdcs_is_told(bench: Bench, ledger: redis.Redis, code: str) -> None:
    """No code, code that takes every call, and code that does not know the function."""
    token = channel_checks.EVM_USDC[SEPOLIA].address
    bench.rpc("anvil_setCode", token, code)
    assert lacks(bench, ledger, network=SEPOLIA) == [f"{token} has no receiveWithAuthorization: no deposit can be made"]
    bench.rpc("anvil_setCode", token, "0x")


def test_a_settler_that_cannot_pay_for_claims_is_told(bench: Bench, ledger: redis.Redis) -> None:
    """Nothing is owed, or gas costs nothing: then there is nothing to pay."""
    poor = an_address()
    assert lacks(bench, ledger, settler=poor) == []
    row = {"payer": poor, "network": "eip155:8453", "balance": 100_000, "charged": 5_000}
    ledger.hset(channel_key(7, "0x1"), mapping=row)
    ledger.zadd(CLAIMABLE[7], {"0x1": 1})
    (found,) = lacks(bench, ledger, settler=poor) or [""]
    assert found.startswith("to claim from 1 channels costs 0.0")
    bench.rpc("anvil_setBalance", poor, hex(10**18))
    assert lacks(bench, ledger, settler=poor) == []


def test_a_node_that_does_not_answer_says_nothing(ledger: redis.Redis) -> None:
    """What cannot be asked is not said to fail."""
    own = EvmRailSettings(rpc_url=f"http://127.0.0.1:{claim_port(0)}")
    assert channel_checks.chain_lacks(own, "", ledger) is None
