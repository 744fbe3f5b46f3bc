"""Everything that is known about a transaction, and how its tokens and amounts are written."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Literal

from jobs.engines.evm.address import ZERO, short
from jobs.engines.evm.known_contracts import known_contract
from jobs.engines.evm.known_tokens import known_tokens
from jobs.engines.evm.quantity import ether
from jobs.engines.evm.reverts import Revert
from jobs.engines.evm.text import quoted
from jobs.engines.evm.tokens import Token
from jobs.engines.evm.transactions import Receipt, Transaction
from jobs.ports.chains import Chain
from jobs.tx_explain.events import Approval, Standard, Transfer
from jobs.tx_explain.flows import Flows
from jobs.tx_explain.method import Method

_HUGE = Decimal(10) ** 15
_EXACT = Context(prec=400, rounding=ROUND_HALF_EVEN)

Status = Literal["success", "reverted", "pending"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """A transaction that exists.

    Attributes:
        has_code: whether a contract stands at `to`; an address that has code by EIP-7702 counts as one.
        flows: of the sender, tokens alone.
        tokens: those that were asked, by address.
        ether_got: wei that contracts sent to the sender, by its balance before and after; None when that was not read, or its
            other transactions of the block hide it.
        givers: accounts with a key, other than the sender, whose tokens moved and that got none.
        fee: wei that the sender paid in all; None while it is pending, or unknown.
    """

    chain: Chain
    status: Status
    transaction: Transaction
    receipt: Receipt | None
    has_code: bool
    method: Method | None
    transfers: tuple[Transfer, ...]
    approvals: tuple[Approval, ...]
    flows: Flows
    tokens: Mapping[str, Token]
    fee: int | None
    ether_got: int | None
    givers: tuple[str, ...]
    revert: Revert | None

    def token(self, address: str) -> Token:
        """What is known of a token, which may be nothing."""
        return self.tokens.get(address) or Token(address, None, None)

    def party(self, address: str) -> str:
        """An account or a contract in a sentence, with its name when it has one: ``Permit2 (0x0000…8BA3)``."""
        if address == ZERO:
            return "the zero address"
        known = known_contract(self.chain, address)
        return f"{known.name} ({short(address)})" if known else short(address)

    def label(self, address: str) -> str:
        """A token in a sentence. Only a canonical one is called by its symbol; any other is quoted, with its address."""
        known = known_tokens(self.chain).get(address)
        if known is not None:
            return known.symbol
        symbol = self.token(address).symbol
        return f"{quoted(symbol)} ({short(address)})" if symbol else f"the token {short(address)}"

    def quantity(self, standard: Standard, address: str, amount: int, token_id: int | None) -> str:
        """An amount of a token in a sentence: ``25 USDC``, ``#7 of "Cats" (0x…)``."""
        label = self.label(address)
        if token_id is not None:
            number = f"#{token_id}" if token_id < 10**12 else f"#{str(token_id)[:6]}…"
            return f"{number} of {label}" if standard == "erc721" or amount == 1 else f"{amount} × {number} of {label}"
        formatted = self.token(address).formatted(amount)
        return f"{rounded(str(amount))} units of {label}" if formatted is None else f"{rounded(formatted)} {label}"


def rounded(amount: str) -> str:
    """An amount for a sentence: six significant digits, but at least two decimals, and whole numbers below 10^15 in full."""
    exact = Decimal(amount)
    if exact >= _HUGE:
        return f"about {exact:.2e}".replace("e+", " × 10^")
    decimals = max(2, 5 - exact.adjusted())
    return (
        f"{exact.quantize(Decimal(1).scaleb(-decimals), context=_EXACT):f}".rstrip("0").rstrip(".")
        if exact % 1
        else amount
    )


def rounded_ether(wei: int) -> str:
    """An amount of wei for a sentence, in ether."""
    return rounded(ether(wei))


def rounded_fee(wei: int) -> str:
    """A fee in ether, with four significant digits: ``0.00001234``."""
    shown = Decimal(ether(wei)).normalize(Context(prec=4, rounding=ROUND_HALF_EVEN))
    return f"{shown:f}"
