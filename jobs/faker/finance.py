"""faker.finance: money and its identifiers. Every number that has a check digit has the right one; none is anyone's."""

from __future__ import annotations

import string

from jobs.faker import bban, checks, company
from jobs.faker.source import Source, one_of
from jobs.faker.text import as_json

# ISO 4217: code, name, symbol, number.
_CURRENCIES = (
    ("AED", "UAE Dirham", "د.إ", "784"), ("ARS", "Argentine Peso", "$", "032"),
    ("AUD", "Australian Dollar", "$", "036"), ("BRL", "Brazilian Real", "R$", "986"),
    ("CAD", "Canadian Dollar", "$", "124"), ("CHF", "Swiss Franc", "CHF", "756"), ("CLP", "Chilean Peso", "$", "152"),
    ("CNY", "Yuan Renminbi", "¥", "156"), ("COP", "Colombian Peso", "$", "170"), ("CZK", "Czech Koruna", "Kč", "203"),
    ("DKK", "Danish Krone", "kr", "208"), ("EGP", "Egyptian Pound", "£", "818"), ("EUR", "Euro", "€", "978"),
    ("GBP", "Pound Sterling", "£", "826"), ("HKD", "Hong Kong Dollar", "HK$", "344"), ("HUF", "Forint", "Ft", "348"),
    ("IDR", "Rupiah", "Rp", "360"), ("ILS", "New Israeli Sheqel", "₪", "376"), ("INR", "Indian Rupee", "₹", "356"),
    ("ISK", "Iceland Krona", "kr", "352"), ("JPY", "Yen", "¥", "392"), ("KES", "Kenyan Shilling", "KSh", "404"),
    ("KRW", "Won", "₩", "410"), ("MAD", "Moroccan Dirham", "د.م.", "504"), ("MXN", "Mexican Peso", "$", "484"),
    ("MYR", "Malaysian Ringgit", "RM", "458"), ("NGN", "Naira", "₦", "566"), ("NOK", "Norwegian Krone", "kr", "578"),
    ("NZD", "New Zealand Dollar", "$", "554"), ("PEN", "Sol", "S/", "604"), ("PHP", "Philippine Peso", "₱", "608"),
    ("PKR", "Pakistan Rupee", "₨", "586"), ("PLN", "Zloty", "zł", "985"), ("RON", "Romanian Leu", "lei", "946"),
    ("SAR", "Saudi Riyal", "﷼", "682"), ("SEK", "Swedish Krona", "kr", "752"),
    ("SGD", "Singapore Dollar", "$", "702"), ("THB", "Baht", "฿", "764"), ("TRY", "Turkish Lira", "₺", "949"),
    ("TWD", "New Taiwan Dollar", "NT$", "901"), ("UAH", "Hryvnia", "₴", "980"), ("USD", "US Dollar", "$", "840"),
    ("VND", "Dong", "₫", "704"), ("ZAR", "Rand", "R", "710"),
)  # fmt: skip
# The IBAN registry's structures, sign by sign: n is a digit, d one that is not 0, a is a letter, c is either. In Norway
# another check digit belongs to accounts that begin with 00.
_IBANS = (
    ("AT", "nnnnnnnnnnnnnnnn"), ("BE", "nnnnnnnnnnnn"), ("BG", "aaaannnnnncccccccc"), ("CH", "nnnnncccccccccccc"),
    ("CZ", "nnnnnnnnnnnnnnnnnnnn"), ("DE", "nnnnnnnnnnnnnnnnnn"), ("DK", "nnnnnnnnnnnnnn"),
    ("EE", "nnnnnnnnnnnnnnnn"), ("ES", "nnnnnnnnnnnnnnnnnnnn"), ("FI", "nnnnnnnnnnnnnn"),
    ("FR", "nnnnnnnnnncccccccccccnn"), ("GB", "aaaannnnnnnnnnnnnn"), ("GR", "nnnnnnncccccccccccccccc"),
    ("HR", "nnnnnnnnnnnnnnnnn"), ("HU", "nnnnnnnnnnnnnnnnnnnnnnnn"), ("IE", "aaaannnnnnnnnnnnnn"),
    ("IT", "annnnnnnnnncccccccccccc"), ("LT", "nnnnnnnnnnnnnnnn"), ("LU", "nnnccccccccccccc"),
    ("NL", "aaaannnnnnnnnn"), ("NO", "dnnndnnnnnn"), ("PL", "nnnnnnnnnnnnnnnnnnnnnnnn"),
    ("PT", "nnnnnnnnnnnnnnnnnnnnn"), ("RO", "aaaacccccccccccccccc"), ("SE", "nnnnnnnnnnnnnnnnnnnn"),
    ("SK", "nnnnnnnnnnnnnnnnnnnn"),
)  # fmt: skip
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

account_name = one_of(
    "Auto Loan Account", "Checking Account", "Credit Card Account", "Home Loan Account", "Investment Account",
    "Money Market Account", "Personal Loan Account", "Savings Account",
)  # fmt: skip
credit_card_issuer = one_of(*_CARDS)
transaction_type = one_of("deposit", "withdrawal", "payment", "invoice")
currency_code = one_of(*(code for code, _, _, _ in _CURRENCIES))
currency_name = one_of(*(name for _, name, _, _ in _CURRENCIES))
currency_symbol = one_of(*(symbol for _, _, symbol, _ in _CURRENCIES))
currency_numeric_code = one_of(*(number for _, _, _, number in _CURRENCIES))


def currency(source: Source) -> str:
    """``{"name":"Euro","code":"EUR","symbol":"€","numericCode":"978"}``."""
    code, name, symbol, number = source.pick(_CURRENCIES)
    return as_json({"name": name, "code": code, "symbol": symbol, "numericCode": number})


def account_number(source: Source) -> str:
    """Eight digits."""
    return source.digits(8)


def routing_number(source: Source) -> str:
    """Nine digits of a Federal Reserve district (01 to 12); the last is the ABA check digit."""
    digits = f"{source.integer(1, 12):02}{source.digits(6)}"
    return digits + checks.aba(digits)


def pin(source: Source) -> str:
    """Four digits."""
    return source.digits(4)


def amount(source: Source) -> str:
    """0.00 to 1000.00, two decimals."""
    cents = source.integer(0, 100_000)
    return f"{cents // 100}.{cents % 100:02}"


def bic(source: Source) -> str:
    """ISO 9362: four letters, a country, a location, and half of the time a branch."""
    bank = source.chars(string.ascii_uppercase, 4)
    location = source.chars(string.ascii_uppercase + string.digits, 2)
    branch = source.pick(("XXX", source.chars(string.ascii_uppercase + string.digits, 3)))
    return f"{bank}{source.fake.country_code()}{location}{branch if source.rng.random() < 0.5 else ''}"


def iban(source: Source) -> str:
    """Without spaces, 15 to 28 signs, of a European country, with valid check digits, those within it as well."""
    country, structure = source.pick(_IBANS)
    national = bban.checked(country, "".join(source.chars(_IBAN_ALPHABETS[kind], 1) for kind in structure))
    return f"{country}{checks.iban(country, national)}{national}"


def credit_card_number(source: Source) -> str:
    """Grouped as the issuer prints it, with a valid Luhn digit."""
    number = source.fill(source.pick(_CARDS[credit_card_issuer(source)]))
    return number[:-1] + checks.luhn(number[:-1].replace("-", ""))


def credit_card_cvv(source: Source) -> str:
    """Three digits."""
    return source.digits(3)


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


def litecoin_address(source: Source) -> str:
    """Legacy in form, with a random checksum."""
    return source.pick("LM3") + source.chars(_BASE58, source.integer(25, 32))


def ethereum_address(source: Source) -> str:
    """0x and forty hex digits in lower case."""
    return "0x" + source.chars("0123456789abcdef", 40)
