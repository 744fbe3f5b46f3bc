"""Finds the card networks that issue a number, by its first digits (the issuer identification number) and its length.

Sources: the table of the Wikipedia article "Payment card number" (July 2024), which collects the networks' own documents, and
the ranges of braintree/credit-card-type. Every network must satisfy the Luhn check, also the few that do not require it.
"""

from typing import NamedTuple

_13_TO_19 = frozenset(range(13, 20))
_16_TO_19 = frozenset(range(16, 20))
_16_19 = frozenset((16, 19))
"""For ranges where ISO allows up to 19 digits. Ids of 17 and 18 digits are very common; cards of this length are very rare."""
_14_16_19 = _16_19 | {14}
_16_18_19 = _16_19 | {18}


class Range(NamedTuple):
    """Numbers of one network whose first digits are between two prefixes of equal length."""

    first: str
    last: str
    lengths: frozenset[int]
    network: str


def _range(first: int, last: int, lengths: frozenset[int] | int, network: str) -> Range:
    return Range(str(first), str(last), frozenset((lengths,)) if isinstance(lengths, int) else lengths, network)


RANGES: tuple[Range, ...] = (
    _range(1, 1, 15, "UATP"),
    _range(1800, 1800, 15, "JCB"),
    _range(1946, 1946, 16, "GPN"),
    _range(2014, 2014, 15, "Diners enRoute"),
    _range(2149, 2149, 15, "Diners enRoute"),
    _range(2131, 2131, 15, "JCB"),
    _range(2200, 2204, _16_19, "Mir"),
    _range(2205, 2205, 16, "BORICA"),
    _range(2221, 2720, 16, "Mastercard"),
    _range(300, 305, _14_16_19, "Diners"),
    _range(3095, 3095, _14_16_19, "Diners"),
    _range(31, 31, 19, "China T-Union"),
    _range(34, 34, 15, "American Express"),
    _range(3528, 3589, _16_19, "JCB"),
    _range(36, 36, _14_16_19, "Diners"),
    _range(37, 37, 15, "American Express"),
    _range(38, 39, _14_16_19, "Diners"),
    _range(4, 4, frozenset((13, 16, 19)), "Visa"),
    _range(50, 50, _16_19, "Maestro, Verve, Elo, RuPay, Dankort"),
    _range(51, 55, 16, "Mastercard"),
    _range(56, 58, _16_19, "Maestro, GPN, Bankcard, Switch, UzCard"),
    *(_range(prefix, prefix, _13_TO_19, "Maestro") for prefix in (5018, 5020, 5038, 5893)),
    _range(60, 60, _16_19, "Discover, RuPay, UkrCard, Hipercard"),
    _range(62, 62, _16_TO_19, "UnionPay"),
    *(_range(prefix, prefix, _13_TO_19, "Maestro") for prefix in (6304, 6706, 6709, 6771)),
    _range(633110, 633110, _16_TO_19, "Switch"),
    *(_range(prefix, prefix, _16_18_19, "Switch, Solo") for prefix in (6333, 6334, 6767)),
    _range(636, 636, _16_19, "InterPayment, Elo"),
    _range(637, 639, 16, "InstaPayment, Hiper"),
    _range(644, 649, _16_19, "Discover"),
    _range(65, 65, _16_19, "Discover, Troy, RuPay, Verve, Elo"),
    _range(67, 67, _16_19, "Maestro"),
    _range(6759, 6759, _13_TO_19, "Maestro"),
    _range(6761, 6763, _13_TO_19, "Maestro"),
    *(_range(prefix, prefix, _16_TO_19, "Maestro") for prefix in (676770, 676774)),
    _range(81, 82, _16_19, "RuPay, UnionPay"),
    _range(8600, 8600, 16, "UzCard"),
    _range(9704, 9704, _16_19, "Napas"),
    _range(9792, 9792, 16, "Troy"),
    _range(9860, 9860, 16, "Humo"),
)

_BY_FIRST_DIGIT = {digit: [item for item in RANGES if item.first[0] <= digit <= item.last[0]] for digit in "0123456789"}


def network(number: str) -> str | None:
    """The networks that may have issued a number of 13 to 19 digits, or None. Only the first six digits are checked."""
    for item in _BY_FIRST_DIGIT[number[0]]:
        if len(number) in item.lengths and item.first <= number[: len(item.first)] <= item.last:
            return item.network
    return None
