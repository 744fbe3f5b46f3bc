"""Contracts and questions about them, by chance."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from compose.sandbox import fixtures
from tests.workers.differential import bytecode
from tests.workers.differential.bytecode import Ending, dispatching, selector

# How often each endpoint is asked.
_WEIGHTS = {
    "chain/call": 15,
    "chain/erc20-balance": 9,
    "chain/allowance": 5,
    "chain/nft-owner": 6,
    "chain/erc1155-balance": 4,
    "chain/estimate-gas": 9,
    "chain/storage": 4,
    "chain/chain-id": 1,
}


class Case(NamedTuple):
    """A contract and a question about it.

    Attributes:
        code: at `address`; b"" for an account.
        ending: of the one call that the question is about; None when there are several.
        slots: of its storage.
    """

    name: str
    address: str
    body: dict[str, Any]
    code: bytes
    ending: Ending | None
    slots: dict[int, int]


def cases(count: int, seed: int) -> list[Case]:
    """The same in every run."""
    source = random.Random(seed)
    names = source.choices(list(_WEIGHTS), list(_WEIGHTS.values()), k=count)
    return [MAKERS[name](source) for name in names]


def address(source: random.Random) -> str:
    """One that nobody has."""
    return "0x" + source.randbytes(20).hex()


def spelled(source: random.Random, number: int) -> str:
    """Decimal or hex."""
    return source.choice([str(number), hex(number), f"0x{number:064X}"])


def code_of(source: random.Random, answers: dict[bytes, Ending]) -> bytes:
    """A contract that answers these; sometimes there is none."""
    return b"" if source.random() < 0.06 else dispatching(answers, bytecode.any_ending(source))


def token(source: random.Random, name: str, signature: str, **more: Any) -> Case:
    """A token by chance, and the one question."""
    asked = bytecode.word_answer(source, 2**160 - 1 if signature == "ownerOf(uint256)" else 2**256 - 1)
    answers = {
        selector(signature): asked,
        selector("decimals()"): bytecode.word_answer(source, 40),
        selector("symbol()"): bytecode.text_answer(source),
        selector("name()"): bytecode.text_answer(source),
        selector("totalSupply()"): bytecode.word_answer(source),
        selector("supportsInterface(bytes4)"): bytecode.word_answer(source, 1),
    }
    where = address(source)
    body = {"chain": "base", "token": where, **more}
    return Case(name, where, body, code_of(source, answers), asked, {})


def make_erc20(source: random.Random) -> Case:
    """chain/erc20-balance."""
    return token(source, "chain/erc20-balance", "balanceOf(address)", address=address(source))


def make_allowance(source: random.Random) -> Case:
    """chain/allowance."""
    more = {"owner": address(source), "spender": address(source)}
    return token(source, "chain/allowance", "allowance(address,address)", **more)


def make_nft(source: random.Random) -> Case:
    """chain/nft-owner."""
    token_id = spelled(source, bytecode.number(source))
    return token(source, "chain/nft-owner", "ownerOf(uint256)", tokenId=token_id)


def make_erc1155(source: random.Random) -> Case:
    """chain/erc1155-balance."""
    more = {"address": address(source), "tokenId": spelled(source, bytecode.number(source))}
    return token(source, "chain/erc1155-balance", "balanceOf(address,uint256)", **more)


def sending(source: random.Random) -> dict[str, Any]:
    """From somebody who has ether, or not; with a value, or not."""
    sender = source.choice([None, None, fixtures.HOLDER, fixtures.EMPTY, fixtures.DELEGATED])
    value = source.choice([0, 0, 0, 1, 10**15, 10**30])
    body: dict[str, Any] = {"chain": "base", "value": spelled(source, value)}
    return body if sender is None else body | {"from": sender}


def make_call(source: random.Random) -> Case:
    """chain/call."""
    where = address(source)
    found = source.choice((bytecode.any_ending, bytecode.any_ending, bytecode.environment, bytecode.working))(source)
    data = source.randbytes(source.choice([0, 4, 4, 36, 68, 200]))
    code = b"" if source.random() < 0.1 else found.code
    return Case("chain/call", where, sending(source) | {"to": where, "data": "0x" + data.hex()}, code, found, {})


def make_estimate(source: random.Random) -> Case:
    """chain/estimate-gas: a call, a payment, or a creation."""
    where = address(source)
    makers = (bytecode.working, bytecode.working, bytecode.needing_gas, bytecode.any_ending)
    found = source.choice(makers)(source)
    body = sending(source)
    slots = {slot: source.getrandbits(64) for slot in range(source.randrange(4))}
    if source.random() < 0.2:
        made = bytecode.ending(source.choice([b"", b"\x60", b"\xef\x00"]) + source.randbytes(source.randrange(60)))
        code = source.choice([made, found]).code
        return Case("chain/estimate-gas", where, body | {"data": "0x" + code.hex()}, b"", None, slots)
    data = source.randbytes(source.choice([0, 4, 68, 500]))
    code = b"" if source.random() < 0.2 else found.code
    return Case("chain/estimate-gas", where, body | {"to": where, "data": "0x" + data.hex()}, code, found, slots)


def make_storage(source: random.Random) -> Case:
    """chain/storage."""
    where = address(source)
    slot = source.choice([0, 1, 2**256 - 1, source.getrandbits(256)])
    slots = {slot: bytecode.number(source)} if source.random() < 0.8 else {}
    code = source.choice([b"", bytecode.any_ending(source).code])
    return Case(
        "chain/storage", where, {"chain": "base", "address": where, "slot": spelled(source, slot)}, code, None, slots
    )


def make_chain_id(source: random.Random) -> Case:
    """chain/chain-id."""
    return Case("chain/chain-id", address(source), {"chain": "base"}, b"", None, {})


MAKERS: dict[str, Callable[[random.Random], Case]] = {
    "chain/call": make_call,
    "chain/erc20-balance": make_erc20,
    "chain/allowance": make_allowance,
    "chain/nft-owner": make_nft,
    "chain/erc1155-balance": make_erc1155,
    "chain/estimate-gas": make_estimate,
    "chain/storage": make_storage,
    "chain/chain-id": make_chain_id,
}
