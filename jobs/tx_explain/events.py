"""Finds transfers and approvals in the logs of a receipt, by their topics and data.

ERC-20 and ERC-721 share topics: `Transfer` and `Approval` have an amount in the data, or an id as a fourth topic. Tokens from
before the standards index nothing: all three values are in the data. WETH9 mints and burns with `Deposit` and `Withdrawal`.
Permit2 keeps approvals of its own, for all tokens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from jobs.engines.evm import abi
from jobs.engines.evm.address import PERMIT2, ZERO, of_word
from jobs.engines.evm.selectors import (
    APPROVAL_FOR_ALL_TOPIC,
    APPROVAL_TOPIC,
    DEPOSIT_TOPIC,
    PERMIT2_APPROVAL_TOPIC,
    PERMIT2_LOCKDOWN_TOPIC,
    PERMIT2_PERMIT_TOPIC,
    TRANSFER_BATCH_TOPIC,
    TRANSFER_SINGLE_TOPIC,
    TRANSFER_TOPIC,
    WITHDRAWAL_TOPIC,
)
from jobs.engines.evm.transactions import Log

Standard = Literal["erc20", "erc721", "erc1155"]
_LAST_TIME = 253_402_300_799
"""The end of the year 9999: a later expiry means that there is none."""
_BATCH = abi.parse_arguments("(uint256[],uint256[])")


@dataclass(frozen=True, slots=True)
class Transfer:
    """Tokens that moved. Addresses in lower case; the zero address makes and takes tokens.

    Attributes:
        amount: in the token's smallest unit; 1 for ERC-721.
        token_id: None for ERC-20.
        is_indexed: False for a token from before the standards, which may be of either.
    """

    standard: Standard
    token: str
    sender: str
    to: str
    amount: int
    token_id: int | None
    index: int
    is_indexed: bool = True


@dataclass(frozen=True, slots=True)
class Approval:
    """A right that was given, or taken back.

    Attributes:
        standard: None for ApprovalForAll, which ERC-721 and ERC-1155 share.
        amount: of ERC-20; None for NFTs.
        token_id: of ERC-721; None when it is for all.
        is_granted: False when it was taken back.
        expires: seconds since 1970, 0 for the end of the block; None where the right has no end.
        through: the contract that keeps the right, when it is not the token.
    """

    standard: Standard | None
    token: str
    owner: str
    spender: str
    amount: int | None
    token_id: int | None
    is_granted: bool
    index: int
    expires: int | None = None
    through: str | None = None


def transfers(logs: Sequence[Log], wrapped_ether: str) -> list[Transfer]:
    """The transfers, in the order of the logs. A log with the topic and another shape is none."""
    return [found for log in logs for found in _transfers(log, wrapped_ether)]


def approvals(logs: Sequence[Log]) -> list[Approval]:
    """The approvals, in the order of the logs."""
    return [found for log in logs if (found := _approval(log)) is not None]


def _transfers(log: Log, wrapped_ether: str) -> Iterator[Transfer]:
    topic = log.topics[0] if log.topics else ""
    if topic == TRANSFER_TOPIC:
        parts = _three(log)
        if parts:
            sender, to, number, standard = parts
            amount, token_id = (1, number) if standard == "erc721" else (number, None)
            yield Transfer(standard, log.address, sender, to, amount, token_id, log.index, len(log.topics) > 1)
    elif topic in (TRANSFER_SINGLE_TOPIC, TRANSFER_BATCH_TOPIC) and len(log.topics) == 4:
        giver, taker = _address(log.topics[2]), _address(log.topics[3])
        if giver and taker:
            for token_id, amount in _many(log):
                yield Transfer("erc1155", log.address, giver, taker, amount, token_id, log.index)
    elif log.address == wrapped_ether and topic in (DEPOSIT_TOPIC, WITHDRAWAL_TOPIC):
        account = _address(log.topics[1]) if len(log.topics) == 2 and len(log.data) == 32 else None
        if account:
            amount = int.from_bytes(log.data, "big")
            sender, to = (ZERO, account) if topic == DEPOSIT_TOPIC else (account, ZERO)
            yield Transfer("erc20", log.address, sender, to, amount, None, log.index)


def _approval(log: Log) -> Approval | None:
    topic = log.topics[0] if log.topics else ""
    if topic == APPROVAL_TOPIC and (parts := _three(log)):
        owner, spender, number, standard = parts
        if standard == "erc721":
            return Approval(standard, log.address, owner, spender, None, number, spender != ZERO, log.index)
        return Approval(standard, log.address, owner, spender, number, None, number > 0, log.index)
    if topic == APPROVAL_FOR_ALL_TOPIC and len(log.topics) == 3 and len(log.data) == 32:
        given_by, given_to = _address(log.topics[1]), _address(log.topics[2])
        if given_by and given_to:
            return Approval(None, log.address, given_by, given_to, None, None, any(log.data), log.index)
    if log.address == PERMIT2 and topic in (PERMIT2_APPROVAL_TOPIC, PERMIT2_PERMIT_TOPIC):
        return _permit2(log)
    if log.address == PERMIT2 and topic == PERMIT2_LOCKDOWN_TOPIC:
        return _lockdown(log)
    return None


def _permit2(log: Log) -> Approval | None:
    """A right to take ERC-20 tokens through Permit2, which the owner has approved for the token."""
    if len(log.topics) != 4 or len(log.data) not in (64, 96):
        return None
    owner, token, spender = (_address(topic) for topic in log.topics[1:])
    if not (owner and token and spender):
        return None
    amount, expires = int.from_bytes(log.data[:32], "big"), int.from_bytes(log.data[32:64], "big")
    end = None if expires > _LAST_TIME else expires
    return Approval("erc20", token, owner, spender, amount, None, amount > 0, log.index, end, PERMIT2)


def _lockdown(log: Log) -> Approval | None:
    """The end of a right that Permit2 keeps."""
    if len(log.topics) != 2 or len(log.data) != 64:
        return None
    owner, token, spender = _address(log.topics[1]), of_word(log.data[:32]), of_word(log.data[32:])
    if not (owner and token and spender):
        return None
    return Approval("erc20", token, owner, spender, 0, None, False, log.index, None, PERMIT2)


def _three(log: Log) -> tuple[str, str, int, Standard] | None:
    """Two addresses and a number, wherever they are."""
    words = [bytes.fromhex(topic[2:]) for topic in log.topics[1:]]
    words += [log.data[at : at + 32] for at in range(0, len(log.data), 32)]
    if len(log.topics) not in (1, 3, 4) or len(words) != 3 or len(log.data) % 32:
        return None
    first, second = of_word(words[0]), of_word(words[1])
    if first is None or second is None:
        return None
    return first, second, int.from_bytes(words[2], "big"), "erc721" if len(log.topics) == 4 else "erc20"


def _many(log: Log) -> Iterator[tuple[int, int]]:
    """Ids and amounts of ERC-1155."""
    if log.topics[0] == TRANSFER_SINGLE_TOPIC:
        if len(log.data) == 64:
            yield int.from_bytes(log.data[:32], "big"), int.from_bytes(log.data[32:], "big")
        return
    try:
        ids, amounts = abi.decode(_BATCH, log.data)
    except abi.Undecodable:
        return
    if isinstance(ids, tuple) and isinstance(amounts, tuple) and len(ids) == len(amounts):
        for token_id, amount in zip(ids, amounts, strict=True):
            if isinstance(token_id, int) and isinstance(amount, int):
                yield token_id, amount


def _address(topic: str) -> str | None:
    return of_word(bytes.fromhex(topic[2:]))
