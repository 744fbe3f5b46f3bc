"""faker.finance: money and its identifiers. Every number that has a check digit has the right one; none is anyone's."""

import string

from jobs.faker import bban, checks, company, locales, location
from jobs.faker.lists import LISTS
from jobs.faker.source import Source, drawn, fakes, gives, one_of, signs
from jobs.faker.text import as_json

_CURRENCIES = {pair[:3]: pair[3:] for pair in LISTS["finance.currencies"]}
_IBANS = tuple(pair.split() for pair in LISTS["finance.ibans"])
_IBAN_ALPHABETS = {
    "n": string.digits,
    "d": "123456789",
    "a": string.ascii_uppercase,
    "c": string.digits + string.ascii_uppercase,
}
# Number patterns by issuer; L is the Luhn digit.
_CARDS = {
    "american_express": ("34##-######-####L", "37##-######-####L"),
    "diners_club": ("300#-######-###L", "305#-######-###L", "36##-######-###L"),
    "discover": ("6011-####-####-###L", "65##-####-####-###L"),
    "jcb": ("3528-####-####-###L", "3529-####-####-###L", "357#-####-####-###L"),
    "mastercard": ("2230-####-####-###L", "2650-####-####-###L", "51##-####-####-###L", "55##-####-####-###L"),
    "visa": ("4###-####-####-###L", "4###########L"),
}
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "023456789acdefghjklmnpqrstuvwxyz"

credit_card_issuer = drawn(tuple(_CARDS))
account_number = signs(string.digits, 8, "Eight digits.")
routing_number = fakes("aba", "Nine digits of a Federal Reserve district (01 to 12); the last is the ABA check digit.")
pin = signs(string.digits, 4, "Four digits.")
credit_card_cvv = signs(string.digits, 3, "Three digits.")
ethereum_address = signs("0123456789abcdef", 40, "0x and forty hex digits in lower case.", before="0x")
transaction_type = one_of("finance.transactionType")
currency_code = drawn(tuple(_CURRENCIES))
currency_numeric_code = drawn(tuple(_CURRENCIES.values()))


def _name(source: Source, code: str) -> str:
    return locales.names(source.locale).currencies[code]


def _symbol(code: str) -> str:
    from faker.providers.currency import Provider

    return Provider.currency_symbols.get(code, code).strip()


currency_name = gives(
    "The name in the locale's language, of any that has an ISO 4217 code.",
    lambda source: _name(source, currency_code(source)),
)
currency_symbol = gives("``€``; the code where there is no symbol.", lambda source: _symbol(currency_code(source)))


def currency(source: Source) -> str:
    """``{"name":"Euro","code":"EUR","symbol":"€","numericCode":"978"}``; the name in the locale's language."""
    code = currency_code(source)
    numeric = _CURRENCIES[code]
    return as_json({"name": _name(source, code), "code": code, "symbol": _symbol(code), "numericCode": numeric})


def amount(source: Source) -> str:
    """0.00 to 1000.00, two decimals."""
    cents = source.integer(0, 100_000)
    return f"{cents // 100}.{cents % 100:02}"


def bic(source: Source) -> str:
    """ISO 9362: four letters, a country, a location, and half of the time a branch."""
    bank = source.chars(string.ascii_uppercase, 4)
    place = source.chars(string.ascii_uppercase + string.digits, 2)
    branch = source.pick(("XXX", source.chars(string.ascii_uppercase + string.digits, 3)))
    return f"{bank}{location.country_code(source)}{place}{branch if source.chance(0.5) else ''}"


def iban(source: Source) -> str:
    """Without spaces, 15 to 28 signs, of a European country, with valid check digits, those within it as well."""
    country, structure = source.pick(_IBANS)
    national = bban.checked(country, "".join(source.chars(_IBAN_ALPHABETS[kind], 1) for kind in structure))
    return f"{country}{checks.iban(country, national)}{national}"


def credit_card_number(source: Source) -> str:
    """Grouped as the issuer prints it, with a valid Luhn digit."""
    number = source.fill(source.pick(_CARDS[credit_card_issuer(source)]))
    return number[:-1] + checks.luhn(number[:-1].replace("-", ""))


def transaction_description(source: Source) -> str:
    """One sentence; the money, the company and the masked numbers are unrelated to other columns."""
    kind, shop = transaction_type(source), company.name(source)
    card, account = source.digits(4), source.digits(4)
    money = f"{currency_code(source)} {amount(source)}"
    return source.pick((
        f"The {kind} for {money} was made at {shop} via card ending ****{card} on account ***{account}.",
        f"{kind} processed at {shop} for {money}, using card ending ****{card}. Account: ***{account}.",
        f"Payment of {money} for {kind} at {shop}, processed with card ending ****{card} linked to account ***{account}.",
        f"Your {kind} of {money} at {shop} was successful. Charged via card ****{card} to account ***{account}.",
    ))  # fmt: skip


def bitcoin_address(source: Source) -> str:
    """Legacy, SegWit, Bech32 or Taproot in form. The checksum is random, so that no money can be sent to it."""
    return source.pick((
        "1" + source.chars(_BASE58, source.integer(25, 33)),
        "3" + source.chars(_BASE58, source.integer(25, 33)),
        "bc1q" + source.chars(_BECH32, 38),
        "bc1p" + source.chars(_BECH32, 58),
    ))  # fmt: skip


litecoin_address = gives(
    "Legacy in form, with a random checksum.",
    lambda source: source.pick("LM3") + source.chars(_BASE58, source.integer(25, 32)),
)
