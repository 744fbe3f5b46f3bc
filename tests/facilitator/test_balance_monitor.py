"""The one balance monitor of all rails, without a node."""

import logging

import pytest

from facilitator.balance import BalanceMonitor, Unit
from facilitator.settling import CannotSend

pytestmark = pytest.mark.anyio


class Account:
    """What the node would say."""

    balance = 0
    is_silent = False

    async def read(self) -> int:
        if self.is_silent:
            raise TimeoutError
        return self.balance


@pytest.fixture
def account() -> Account:
    return Account()


@pytest.fixture
def monitor(account: Account) -> BalanceMonitor:
    return BalanceMonitor(
        "the account A",
        Unit("XLM", 3),
        shortage=": not enough",
        read=account.read,
        needed=lambda: 10,
        low=2_000,
        read_every_s=3_600,
        read_soon_s=0,
    )


async def test_the_log_has_one_line_for_each_mark_that_is_crossed(
    account: Account, monitor: BalanceMonitor, caplog: pytest.LogCaptureFixture
) -> None:
    """An error when it is empty, a warning when it is low, and a warning when it rises."""
    for account.balance in (5_000, 1_500, 1_400, 9, 8, 1_000, 2_000):
        await monitor.read()
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.WARNING, "the account A is down to 1.500 XLM"),
        (logging.ERROR, "nothing is settled: the account A has 0.009 XLM: not enough"),
        (logging.WARNING, "the account A has 1.000 XLM again"),
        (logging.WARNING, "the account A has 2.000 XLM again"),
    ]


async def test_it_is_read_again_soon_only_while_something_is_wrong(account: Account, monitor: BalanceMonitor) -> None:
    """An empty account, a silent node and a doubt shorten the interval."""
    assert monitor.is_due
    await monitor.read()
    assert (monitor.is_due, monitor.unavailable_reason) == (True, "the account A has 0.000 XLM: not enough")
    account.balance = 10
    await monitor.read()
    assert (monitor.is_due, monitor.unavailable_reason) == (False, "")
    monitor.read_soon()
    assert monitor.is_due
    await monitor.read()
    account.is_silent = True
    with pytest.raises(TimeoutError):
        await monitor.read()
    assert (monitor.is_due, monitor.balance) == (True, "0.010 XLM")


async def test_what_is_required_must_be_there(account: Account, monitor: BalanceMonitor) -> None:
    """Else nothing can be sent, and the balance is read again soon."""
    account.balance = 10
    await monitor.read()
    monitor.require(10)
    with pytest.raises(CannotSend, match="the account A has no XLM left for another transaction"):
        monitor.require(11)
    assert monitor.is_due


def test_a_negative_amount_is_shown_as_zero() -> None:
    """Stellar's spendable balance can be below the reserve of an account."""
    assert Unit("XLM", 7).text(-5) == "0.0000000 XLM"
