"""pii-redact: what is found in the words of people and programs, and what stays in them."""

import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import phonenumbers

from jobs.engines.text.names import names
from jobs.pii_redact.endpoint import ENDPOINT
from jobs.pii_redact.redaction import redact
from jobs.pii_redact.spans import KINDS, PiiKind
from tests.jobs.calls import answer_to
from tests.jobs.pii_redact.marked import filled, read, texts
from tests.quality.scorer import Measure

_NAMES: dict[PiiKind, tuple[str, str]] = {
    "phone": ("phones found", "other numbers left"),
    "secret": ("secrets found", "other values left"),
    "ipv4": ("IPv4 addresses found", "versions left"),
    "email": ("e-mail addresses found", "remotes left"),
    "iban": ("IBANs found", "wrong IBANs left"),
}
_REGIONS = names(
    """
    GB DE FR IT ES NL BE CH AT PL SE NO DK FI PT GR CZ SK HU RO BG HR RS SI LT LV EE IE UA RU KZ TR IL AE SA EG ZA NG KE GH TZ
    UG ET MA DZ TN SN CM CI ZM ZW IN PK BD LK NP MM KH TH VN ID MY SG PH HK TW JP KR CN AU NZ US MX CO CL PE EC VE UY PY BO CR
    GT AR BR QA KW BH OM JO LB IQ IR GE AM AZ BY MD UZ
    """
)
# An expression, a text, and what becomes of it.
_OWN = [
    (r"EMP-\d{5}", "EMP-00417 called", "[OWN] called"),
    (r"dossier (\pL+/\d+)", "dossier ÄÖ/7 is here", "dossier [OWN] is here"),
    (r"(?i)project \w+", "PROJECT Blue, project red", "[OWN], [OWN]"),
    (r"^#\d+", "#12 and #13", "[OWN] and #13"),
]
_OWN_SET_ASIDE = [
    (r"\bC-[0-9a-f]{4}\b", "C-00af, C-00afx", "[OWN], C-00afx"),
    (r"room ([0-9]+)", "room 12, rooms 13", "room [OWN], rooms 13"),
    (r"客户\d+", "客户42来了", "[OWN]来了"),
]
_PHRASES = {
    "national numbers, no word": "Robin, {}, was here.",
    "national numbers, preposition": "You will find Robin on {}.",
    "national numbers, one of the country": "Office {office}, Robin {}.",
}


def measures(held_out: bool) -> Iterator[Measure]:
    """Recall over the marked values, the share of other texts that stay, and phones as each country writes them."""
    for kind, (found_name, left_name) in _NAMES.items():
        cases = _cases(kind, held_out)
        found = [read(filled(marked), kind) for marked in cases["found"]]
        yield Measure(found_name, len(found), sum(redact(text, [kind]).spans == spans for text, _, spans in found))
        left = [filled(text) for text in cases["left"]]
        yield Measure(left_name, len(left), sum(not redact(text, [kind]).spans for text in left))
    numbers = list(_numbers(held_out))
    for name, phrase in _PHRASES.items():
        yield Measure(name, len(numbers), sum(_is_found(phrase, *number) for number in numbers))
    own = _OWN_SET_ASIDE if held_out else _OWN
    yield Measure("own patterns", len(own), sum(_redacted(pattern, text) == wanted for pattern, text, wanted in own))
    if not held_out:
        said = [set(KINDS) - {kind} <= set(_said(text="x", patterns=[kind]).get("notSearched", ())) for kind in KINDS]
        yield Measure("what was not looked for", len(said), sum(said))


def _redacted(pattern: str, text: str) -> str:
    answer: str = _said(text=text, patterns=["ssn"], customPatterns=[{"name": "own", "pattern": pattern}])["redacted"]
    return answer


def _said(**body: Any) -> dict[str, Any]:
    return answer_to(ENDPOINT, body)


def _cases(kind: PiiKind, held_out: bool) -> dict[str, list[str]]:
    if not held_out:
        return texts(kind)
    return cast(dict[str, list[str]], tomllib.loads(Path(__file__).with_suffix(".toml").read_text())[kind])


def _numbers(held_out: bool) -> Iterator[tuple[str, str]]:
    """A fixed and a mobile number of each country, as it writes them, and one with the calling code.

    The open ones are libphonenumber's examples. Those set aside have other last digits.
    """
    chance = random.Random(20261124)
    for region in sorted(_REGIONS):
        fixed, mobile = (
            phonenumbers.example_number_for_type(region, kind)
            for kind in (phonenumbers.PhoneNumberType.FIXED_LINE, phonenumbers.PhoneNumberType.MOBILE)
        )
        for number, office in ((fixed, mobile), (mobile, fixed)):
            if held_out:
                number = _another(number, chance)
            yield (
                phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL),
                phonenumbers.format_number(office, phonenumbers.PhoneNumberFormat.INTERNATIONAL),
            )


def _another(number: Any, chance: random.Random) -> Any:
    """A valid number that begins as another does."""
    while True:
        rest = chance.randrange(10_000)
        other = phonenumbers.PhoneNumber(number.country_code, number.national_number // 10_000 * 10_000 + rest)
        other.italian_leading_zero = number.italian_leading_zero
        if phonenumbers.is_valid_number(other):
            return other


def _is_found(phrase: str, number: str, office: str) -> bool:
    """Whether none of the number's digits stay."""
    text = phrase.format(number, office=office)
    rest = redact(text, ["phone"]).text
    return not re.search(r"\d", rest)
