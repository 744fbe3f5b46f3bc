"""Whatever is in a transaction and its logs: an answer, and sums that agree with the logs."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jobs.engines.evm.address import checksummed
from jobs.engines.evm.selectors import selector, topic
from jobs.ports.chains import Reverted
from tests.jobs.engines.evm.fake_chains import CONTRACT
from tests.jobs.tx_explain.receipts import (
    ALICE,
    APPROVAL,
    BOB,
    CAROL,
    CATS,
    NOBODY,
    ROUTER,
    TRANSFER,
    UNKNOWN_TOKEN,
    USDC,
    WETH,
    explained,
    log,
    number,
    padded,
    put,
    usual_chains,
)

PEOPLE = st.sampled_from([ALICE, ALICE, BOB, CAROL, NOBODY, ROUTER])
TOKENS = st.sampled_from([USDC, WETH, UNKNOWN_TOKEN, CATS])
AMOUNTS = st.sampled_from([0, 1, 25_000_000, 10**18, 2**96 - 1, 2**256 - 1])
EVENTS = st.sampled_from(
    [
        TRANSFER,
        APPROVAL,
        "ApprovalForAll(address,address,bool)",
        "Deposit(address,uint256)",
        "Withdrawal(address,uint256)",
        "TransferSingle(address,address,address,uint256,uint256)",
        "TransferBatch(address,address,address,uint256[],uint256[])",
    ]
)
HEADS = st.sampled_from(
    ["transfer(address,uint256)", "approve(address,uint256)", "execute(bytes,bytes[])", "nothing()"]
)


@st.composite
def logs(draw: st.DrawFn) -> dict[str, Any]:
    """Mostly events as they should be, some garbled."""
    token, people, amount = draw(TOKENS), draw(st.lists(PEOPLE, max_size=3)), draw(AMOUNTS)
    data = draw(st.sampled_from([number(amount), "0x", number(7) + number(amount)[2:], "0xff"]))
    return log(token, draw(EVENTS), *map(padded, people), data=data)


@given(
    st.lists(logs(), max_size=6),
    st.sampled_from([USDC, CATS, ROUTER, BOB, ALICE, None]),
    st.sampled_from([0, 10**17]),
    st.builds(lambda head, rest: "0x" + (selector(head) + rest).hex(), HEADS, st.binary(max_size=100)) | st.just("0x"),
    st.sampled_from(["0x1", "0x0", None]),
    st.booleans(),
    st.sampled_from(["0x0", "0x2", "0x3", "0x4", "0x7e"]),
)
def test_there_is_always_an_answer(
    events: list[dict[str, Any]], to: str | None, value: int, data: str, status: str | None, mined: bool, kind: str
) -> None:
    """One sentence at least, nothing invisible in it, and no failure."""
    chains = usual_chains()
    put(chains.base, to=to, value=value, data=data, logs=events, status=status, mined=mined, sent={"type": kind})
    answer = explained(chains)
    assert answer["narrative"].endswith(".")
    assert answer["narrative"].isprintable()
    codes = [signal["code"] for signal in answer["signals"]]
    assert len(codes) == len(set(codes))


@given(st.lists(st.tuples(TOKENS, PEOPLE, PEOPLE, AMOUNTS), max_size=8))
def test_transfers_are_those_of_the_logs(moves: list[tuple[str, str, str, int]]) -> None:
    """Each ERC-20 log, once, in its order."""
    chains = usual_chains()
    chains.base.calls[ROUTER, b""] = Reverted(b"")
    chains.base.code[ROUTER] = CONTRACT
    events = [
        log(token, TRANSFER, padded(sender), padded(to), data=number(amount)) for token, sender, to, amount in moves
    ]
    put(chains.base, to=ROUTER, data="0x12345678", logs=events)
    answer = explained(chains)
    shown = [(each["token"], each["from"], each["to"], each["amount"]) for each in answer["transfers"]]
    assert shown == [(*map(checksummed, addresses), str(amount)) for *addresses, amount in moves]
    assert Counter(event["topics"][0] for event in events)[topic(TRANSFER)] == answer["transferCount"]
