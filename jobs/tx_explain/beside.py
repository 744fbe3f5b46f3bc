"""Reads what no log says: ether that contracts sent to the sender, and which of those that gave tokens are accounts."""

from collections.abc import Sequence

from jobs.engines.evm.address import ZERO
from jobs.engines.evm.code import delegate_of
from jobs.engines.evm.known_tokens import WRAPPED_ETHER
from jobs.engines.evm.reader import Reader
from jobs.engines.evm.transactions import DEPOSIT, Receipt, Transaction
from jobs.ports.chains import Balance, Code, Nonce, Unavailable
from jobs.tx_explain.events import Transfer
from jobs.tx_explain.flows import Flows
from shared.outcome import UpstreamFailed

ETHER_UNKNOWN = "ether_received_unknown"
_MAX_GIVERS = 5


def beside(
    reader: Reader,
    sent: Transaction,
    receipt: Receipt,
    moved: Sequence[Transfer],
    flows: Flows,
    fee: int | None,
    *,
    is_withdrawal: bool,
) -> tuple[int | None, tuple[str, ...]]:
    """Wei that the sender got, None when it was not read; and accounts with a key that only gave tokens.

    Args:
        is_withdrawal: whether the called function gives something back, by its name.
    """
    givers = _givers(sent, moved)
    got = (
        _ether_got(reader, sent, receipt, fee)
        if fee is not None and _may_get_ether(reader, sent, moved, flows, is_withdrawal=is_withdrawal)
        else None
    )
    if not givers:
        return got, ()
    try:
        codes = reader.read_past(receipt.block, *map(Code, givers))
    except UpstreamFailed:
        return got, ()
    return got, tuple(giver for giver, code in zip(givers, codes, strict=True) if _is_account(code))


def _is_account(code: object) -> bool:
    """Whether somebody has its key: an account has no code, or has delegated (EIP-7702)."""
    return isinstance(code, bytes) and (not code or delegate_of(code) is not None)


def _may_get_ether(
    reader: Reader, sent: Transaction, moved: Sequence[Transfer], flows: Flows, *, is_withdrawal: bool
) -> bool:
    """Whether WETH was unwrapped, or tokens went to a contract and none came back.

    Tokens that went to their own contract count when the called function is one that gives something for them.
    """
    wrapped = WRAPPED_ETHER[reader.chain]
    if sent.type == DEPOSIT or sent.to == wrapped or len(sent.data) < 4:
        return False
    unwrapped = any(each.token == wrapped and each.to == ZERO for each in moved)
    is_other = is_withdrawal or sent.to not in {flow.asset[0] for flow in flows.given}
    return unwrapped or (bool(flows.given) and not flows.got and is_other)


def _ether_got(reader: Reader, sent: Transaction, receipt: Receipt, fee: int) -> int | None:
    """The change of the sender's balance in the block, without what it paid, when it sent no other transaction there."""
    account = Balance(sent.sender), Nonce(sent.sender)
    try:
        (after, nonce), (before, nonce_before) = (reader.read_past(receipt.block - back, *account) for back in (0, 1))
    except UpstreamFailed:
        after = nonce = before = nonce_before = Unavailable()
    numbers = [each for each in (after, nonce, before, nonce_before) if isinstance(each, int)]
    if len(numbers) == 4 and numbers[1] - numbers[3] == 1:
        got = numbers[0] - numbers[2] + sent.value + fee
        if got >= 0:
            return got
    reader.warn(ETHER_UNKNOWN)
    return None


def _givers(sent: Transaction, moved: Sequence[Transfer]) -> list[str]:
    """Those whose tokens moved in a transaction of somebody else. What also got tokens is a pool."""
    got = {each.to for each in moved}
    gave = dict.fromkeys(each.sender for each in moved if each.amount)
    return [each for each in gave if each not in got and each not in (sent.sender, sent.to, ZERO)][:_MAX_GIVERS]
