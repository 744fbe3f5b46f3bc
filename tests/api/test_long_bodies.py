"""Long bodies make room for each other, and for everybody else."""

import asyncio

import pytest

from api import long_bodies
from api.errors import Problem
from api.long_bodies import HELD_BYTES, LONG_BYTES, OWNER_SHARE, ArrivingBody, LongBodies
from tests.each import each

SHARE = HELD_BYTES // OWNER_SHARE


@pytest.mark.anyio
async def test_long_ones_pass_at_so_many_bytes_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first at once, each other when the ones before it have had their time, in their order."""
    monkeypatch.setattr(long_bodies, "BYTES_PER_S", 1_000_000)
    bodies, passed = LongBodies(), []
    began = asyncio.get_running_loop().time()

    async def send(number: int, size: int) -> None:
        await bodies.wait(size)
        passed.append((number, asyncio.get_running_loop().time() - began))

    await asyncio.gather(send(0, 100_000), send(1, 50_000), send(2, 200_000))

    assert [number for number, _ in passed] == [0, 1, 2]
    for (_, at), due in zip(passed, (0.0, 0.1, 0.15), strict=True):
        assert due <= at + 0.001


def arrive(bodies: LongBodies, size: int, payer: str, client: tuple[str, int] | None = None) -> ArrivingBody:
    """A body of which so many bytes have arrived, and which is not over."""
    body = bodies.arriving(payer, client)
    body.__enter__()
    body.add(size)
    return body


def is_refused(bodies: LongBodies, size: int, payer: str, client: tuple[str, int] | None = None) -> bool:
    with bodies.arriving(payer, client) as body:
        try:
            body.add(size)
        except Problem as refused:
            return (refused.code, refused.charged) == ("pool_full", False)
    return False


def test_only_what_has_arrived_counts() -> None:
    """Any number of callers may announce long bodies."""
    bodies = LongBodies()
    announced = [arrive(bodies, LONG_BYTES, "another") for _ in range(1_000)]
    assert not is_refused(bodies, SHARE, "payer")
    announced[0].add(1)
    assert is_refused(bodies, SHARE - LONG_BYTES, "another")
    assert not is_refused(bodies, SHARE - LONG_BYTES - 1, "another")


@each(
    ("clients", "is_shared"),
    [
        (("93.184.216.34", "93.184.216.34"), True),
        (("2606:2800:220:1::1", "2606:2800:220:1::1"), True),
        (("93.184.216.34", "93.184.216.35"), False),
        (("127.0.0.1", "127.0.0.1"), False),  # a proxy
        (("10.0.0.7", "10.0.0.7"), False),
    ],
)
def test_no_address_holds_more_than_its_share(clients: tuple[str, str], is_shared: bool) -> None:
    """With a payer of its own for each body."""
    bodies = LongBodies()
    held = arrive(bodies, SHARE, "one", (clients[0], 1))
    assert is_refused(bodies, LONG_BYTES + 1, "another", (clients[1], 2)) == is_shared
    held.__exit__(None, None, None)
    assert not is_refused(bodies, SHARE, "another", (clients[1], 2))


def test_all_payers_together_hold_so_much() -> None:
    """What is held is never more than what passes within LONGEST_WAIT_S. Then there is room again."""
    bodies = LongBodies()
    held = [arrive(bodies, SHARE, str(number)) for number in range(OWNER_SHARE)]
    assert is_refused(bodies, LONG_BYTES + 1, "next")
    assert not is_refused(bodies, LONG_BYTES, "next")
    held[0].__exit__(None, None, None)
    assert not is_refused(bodies, SHARE, "next")
