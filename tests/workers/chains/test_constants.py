"""What is kept for an hour, and what never is."""

from jobs.ports.chains import Balance, Call, Code, Reverted
from tests.each import each
from workers.adapters.chains import MAX_AGE_S, Constants

SYMBOL = Call(to="0x" + "70" * 20, data=b"\1", is_constant=True)
CODE = Code("0x" + "70" * 20, is_constant=True)


def test_answers_are_kept_for_an_hour() -> None:
    """And not longer."""
    now = [0.0]
    constants = Constants(lambda: now[0])
    constants.put(SYMBOL, b"USDC")
    now[0] = MAX_AGE_S - 1

    assert constants.get(SYMBOL) == b"USDC"
    assert constants.get(Call(to=SYMBOL.to, data=b"\2", is_constant=True)) is None
    now[0] += 1
    assert constants.get(SYMBOL) is None


@each(
    ("call", "answer"),
    [
        (SYMBOL, b""),
        (SYMBOL, Reverted(b"")),
        (SYMBOL, bytes(40_000)),  # some more like it, and there is no room for anybody else's
        (CODE, b""),
        (CODE, b"\xef\x01\x00" + b"\x70" * 20),
        (Call(to=SYMBOL.to, data=SYMBOL.data), b"USDC"),
        (Code(CODE.address), b"\x60"),
        (Balance(CODE.address), 7),
    ],
)
def test_what_may_change_is_not_kept(call: Call | Code | Balance, answer: object) -> None:
    """Nothing empty, no revert, no delegation, and nothing that does not say that it is constant."""
    constants = Constants()
    constants.put(call, answer)

    assert constants.get(call) is None
