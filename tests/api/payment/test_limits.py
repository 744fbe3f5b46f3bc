"""The settings of rates, what a quota says, and how many calls a payer has at a time."""

import pytest

from api.payment.limits import IN_FLIGHT, NO_LIMIT, Limit, Limits, Quota
from shared.endpoint import Pool
from shared.settings.service import InvalidSetting
from tests.each import each


def test_every_pool_has_a_rate() -> None:
    """Ten a second for calculations, two for what goes out, one every three seconds for a browser."""
    limits = Limits()
    assert all(limits.of(pool).interval_ms for pool in Pool)
    assert (limits.of(Pool.FAST), limits.of(Pool.NET), limits.of(Pool.RENDER)) == (
        Limit(100, 20),
        Limit(500, 10),
        Limit(3000, 3),
    )


def test_rates_are_changed_by_pool() -> None:
    """The others stay."""
    limits = Limits(" fast=2.5/7, render=100/1 ")
    assert limits.of(Pool.FAST) == Limit(400, 7)
    assert limits.of(Pool.RENDER) == Limit(10, 1)
    assert limits.of(Pool.MICRO) == Limits().of(Pool.MICRO)
    assert {Limits("off").of(pool) for pool in Pool} == {NO_LIMIT}


@each("text", ["fast", "fast=10", "fast=0/1", "fast=1/0", "slow=1/1", "fast=-1/1", "fast=1e3/1", "OFF"])
def test_a_wrong_rate_is_told(text: str) -> None:
    """With what it should look like."""
    with pytest.raises(InvalidSetting, match="COINSLOT_RATE_LIMITS"):
        Limits(text)


def test_a_quota_in_headers() -> None:
    """Structured fields of the draft: quota and window in seconds, what remains and when all is back."""
    assert Quota(Limit(100, 20), 17, 300).headers() == (
        (b"ratelimit-policy", b'"payer";q=20;w=2'),
        (b"ratelimit", b'"payer";r=17;t=1'),
    )


def test_a_payer_has_so_many_calls_at_a_time() -> None:
    """Copies of one call are one; other payers are not touched; a call that is answered makes room."""
    limits = Limits()
    held = [limits.held("payer", f"payment-{number}") for number in range(IN_FLIGHT)]
    assert [call.__enter__() for call in held] == [True] * len(held)
    with limits.held("payer", "one more") as is_allowed:
        assert not is_allowed
    with limits.held("payer", "payment-0") as is_allowed:
        assert is_allowed
    with limits.held("another", "one more") as is_allowed:
        assert is_allowed
    held[0].__exit__(None, None, None)
    with limits.held("payer", "one more") as is_allowed:
        assert is_allowed
    for call in held[1:]:
        call.__exit__(None, None, None)
    assert not limits._in_flight
