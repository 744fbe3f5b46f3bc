"""Contracts of a few opcodes, by chance: each answers every question in its own way, well or badly."""

import random
from collections.abc import Mapping
from typing import Literal, NamedTuple

from eth_abi import encode

from shared.x402.evm import keccak256

RETURN, REVERT = b"\xf3", b"\xfd"
CAUSES = ("returned", "revert", "out_of_gas", "invalid_opcode", "halted")
Cause = Literal["returned", "revert", "out_of_gas", "invalid_opcode", "halted"]
PANICS = (0x00, 0x01, 0x11, 0x12, 0x21, 0x22, 0x31, 0x32, 0x41, 0x51)
EXTREMES = (0, 1, 2, 6, 18, 255, 256, 2**96 - 1, 2**96, 2**160 - 1, 2**160, 2**255 - 1, 2**255, 2**256 - 1)
TEXTS = (
    "USDC",
    "",
    "Scene Token",
    "US\u202eDC",
    "  two  spaces ",
    "\u0405CN",
    "e\u0301\u0301x",
    "\x00hidden\x1b[31m",
    "S" * 80,
)


class Ending(NamedTuple):
    """How a call of a contract ends.

    Attributes:
        code: that does so, wherever it stands, with at most one item on the stack.
        cause: what stopped it.
        data: that was returned; None when only the chain knows it.
    """

    code: bytes
    cause: Cause
    data: bytes | None = b""


def push(number: int | bytes) -> bytes:
    """PUSH0 to PUSH32."""
    value = number if isinstance(number, bytes) else number.to_bytes((number.bit_length() + 7) // 8, "big")
    return bytes([0x5F + len(value)]) + value


def selector(signature: str) -> bytes:
    """Of a function or an error."""
    return keccak256(signature.encode())[:4]


def ending(data: bytes, opcode: bytes = RETURN, zeros: int = 0) -> Ending:
    """That data, and zeros behind it."""
    words = (data[at : at + 32].ljust(32, b"\0") for at in range(0, len(data), 32))
    written = b"".join(push(word) + push(32 * at) + b"\x52" for at, word in enumerate(words))
    code = written + push(len(data) + zeros) + push(0) + opcode
    return Ending(code, "returned" if opcode == RETURN else "revert", data + bytes(zeros))


def word(number: int) -> bytes:
    """32 bytes."""
    return number.to_bytes(32, "big")


def dispatching(answers: Mapping[bytes, Ending], otherwise: Ending) -> bytes:
    """A contract that answers each selector in its own way."""
    head = bytes.fromhex("5f3560e01c")
    start = len(head) + 11 * len(answers) + len(otherwise.code)
    tests, bodies = b"", b""
    for asked, answer in answers.items():
        tests += b"\x80\x63" + asked + b"\x14\x61" + (start + len(bodies)).to_bytes(2, "big") + b"\x57"
        bodies += b"\x5b" + answer.code
    return head + tests + otherwise.code + bodies


def logging(topics: list[bytes], data: bytes) -> bytes:
    """Emits one event."""
    words = (data[at : at + 32].ljust(32, b"\0") for at in range(0, len(data), 32))
    written = b"".join(push(each) + push(32 * at) + b"\x52" for at, each in enumerate(words))
    return written + b"".join(map(push, reversed(topics))) + push(len(data)) + push(0) + bytes([0xA0 + len(topics)])


def number(source: random.Random) -> int:
    """Small, large, or one of those where something changes."""
    return source.choice(
        [source.choice(EXTREMES), source.getrandbits(source.choice([1, 8, 64, 128, 160, 256])), source.randrange(10**9)]
    )


def text(source: random.Random) -> bytes:
    """A name, as UTF-8, or no text at all."""
    letters = "".join(chr(source.randrange(32, 127)) for _ in range(source.randrange(1, 40)))
    return source.choice([source.choice(TEXTS).encode(), letters.encode(), source.randbytes(source.randrange(1, 40))])


def text_answer(source: random.Random) -> Ending:
    """Of ``symbol()``: a string, 32 bytes, lies about a string, or whatever."""
    found = text(source)
    match source.randrange(6):
        case 0:
            return ending(found[:32].ljust(32, b"\0"))
        case 1:
            return ending(word(number(source)) + word(number(source)) + found)
        case 2:
            return any_ending(source)
        case _:
            return ending(encode(["bytes"], [found]), zeros=source.choice([0, 0, 32, 500]))


def word_answer(source: random.Random, largest: int = 2**256 - 1) -> Ending:
    """Of ``balanceOf`` and its like: mostly a number."""
    if source.random() < 0.3:
        return any_ending(source)
    answer = min(number(source), largest) if source.random() < 0.8 else number(source)
    return ending(word(answer), zeros=source.choice([0, 0, 0, 1, 64]))


def any_ending(source: random.Random) -> Ending:
    """One of each kind."""
    return source.choice((_returned, _returned, _reverted, _reverted, _stopped))(source)


def environment(source: random.Random) -> Ending:
    """Returns what it was called with: only the chain knows what that is."""
    looked = b"".join(
        push(source.choice([0, 4])) + b"\x35" + push(32 * at) + b"\x52"
        if opcode == 0x35
        else bytes([opcode]) + push(32 * at) + b"\x52"
        for at, opcode in enumerate(
            source.sample([0x30, 0x32, 0x33, 0x34, 0x35, 0x36, 0x3A, 0x42, 0x43, 0x46, 0x47], 5)
        )
    )
    return Ending(looked + push(160) + push(0) + RETURN, "returned", None)


def working(source: random.Random) -> Ending:
    """Writes, hashes and loops, so that its gas depends on what was there."""
    parts = b""
    for _ in range(source.randrange(1, 5)):
        slot, value = source.randrange(4), source.choice([0, 0, 1, source.getrandbits(200)])
        parts += source.choice(
            [
                push(value) + push(slot) + b"\x55",
                push(32 * source.randrange(1, 200)) + push(0) + b"\x20\x50",
                logging([source.randbytes(32)], source.randbytes(source.randrange(100))),
                # A call of itself with all gas but a 64th, and no memory: it answers for this address alone.
                push(slot) + b"\x54" + push(slot + 1) + b"\x55",
            ]
        )
    return Ending(parts + ending(word(1)).code, "returned", word(1))


def needing_gas(source: random.Random) -> Ending:
    """Reverts with less gas than it asks for, which an estimate has to find out."""
    wanted = source.randrange(30_000, 900_000)
    # GAS < wanted jumps nowhere: invalid. PC makes the place of the destination known.
    enough = ending(word(7)).code
    code = push(wanted) + b"\x5a\x11" + push(8) + b"\x58\x01\x57" + b"\x5f\x5f\xfd" + b"\x5b" + enough
    return Ending(code, "returned", None)


def _returned(source: random.Random) -> Ending:
    size = source.choice([0, 1, 4, 31, 32, 33, 64, 95, 96, source.randrange(1_500)])
    return ending(source.randbytes(size), zeros=source.choice([0] * 8 + [5_000, 140_000]))


def _reverted(source: random.Random) -> Ending:
    address = "0x" + source.randbytes(20).hex()
    custom = encode(["address", "uint256", "uint256"], [address, number(source), number(source)])
    data = source.choice(
        [
            selector("Error(string)") + encode(["bytes"], [text(source)]),
            selector("Panic(uint256)") + word(source.choice(PANICS)),
            selector("ERC20InsufficientBalance(address,uint256,uint256)") + custom,
            selector("ERC721NonexistentToken(uint256)") + word(number(source)),
            selector("Error(string)") + source.randbytes(40),
            source.randbytes(4) + source.randbytes(source.randrange(100)),
            source.randbytes(source.randrange(4)),
            b"",
        ]
    )
    return ending(data, REVERT)


def _stopped(source: random.Random) -> Ending:
    return source.choice(
        [
            Ending(b"\xfe", "invalid_opcode"),
            Ending(b"\x0c", "invalid_opcode"),
            Ending(b"\x50\x50\x50", "halted"),  # an empty stack
            Ending(b"\x5f\x56", "halted"),  # a jump to nowhere
            Ending(push(2**40) + b"\x51", "out_of_gas"),  # a terabyte of memory
            Ending(bytes.fromhex("5b6003580356"), "out_of_gas"),  # a loop without end
        ]
    )
