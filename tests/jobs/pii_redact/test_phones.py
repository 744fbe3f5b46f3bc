"""Phone numbers: international, national of many countries, North American, and what only looks like one."""

import phonenumbers
from phonenumbers import PhoneNumberFormat, PhoneNumberType

from jobs.engines.text.names import names
from jobs.pii_redact.plans import PLANS, is_valid
from jobs.pii_redact.redaction import redact
from tests.each import each

AT_HOME = names("US CA GB DE FR IT ES IN BR AU JP IL NL CH SE KR CN ZA NG AE")
"""Whose national form is found without a word before it; of Poland and Mexico a part."""
TOO_SHORT = {"+989601"}
"""Six digits, calling code and all."""
TYPES = [PhoneNumberType.FIXED_LINE, PhoneNumberType.MOBILE, PhoneNumberType.TOLL_FREE, PhoneNumberType.VOIP]


def _examples(region: str) -> list[phonenumbers.PhoneNumber]:
    found = [phonenumbers.example_number_for_type(region, kind) for kind in TYPES]
    return [number for number in found if number is not None]


def test_international_numbers_of_every_region() -> None:
    """The examples of libphonenumber, as it writes them for people, machines and links."""
    regions = sorted(phonenumbers.SUPPORTED_REGIONS)
    assert len(regions) > 240
    for number in [number for region in regions for number in _examples(region)]:
        machine = phonenumbers.format_number(number, PhoneNumberFormat.E164)
        if machine in TOO_SHORT:
            continue
        people = phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL)
        link = phonenumbers.format_number(number, PhoneNumberFormat.RFC3966)
        text = f"Write {people} or {machine}, <{link}>."
        assert redact(text, ["phone"]).text == "Write [PHONE] or [PHONE], <tel:[PHONE]>."


@each("region", AT_HOME)
def test_national_numbers(region: str) -> None:
    """The examples of libphonenumber as they are written at home, with nothing that says what they are."""
    for kind in (PhoneNumberType.FIXED_LINE, PhoneNumberType.MOBILE):
        number = phonenumbers.example_number_for_type(region, kind)
        written = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
        assert redact(f"Write {written} or so.", ["phone"]).text == "Write [PHONE] or so."


def test_national_numbers_of_every_region_behind_a_label() -> None:
    """With a word before it a number of any region is found as it is written at home, if it has seven digits."""
    missed = []
    for region in sorted(phonenumbers.SUPPORTED_REGIONS):
        for number in _examples(region):
            written = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
            if sum(char.isdigit() for char in written) >= 7:
                redacted = redact(f"Tel: {written}.", ["phone"]).text
                missed += [] if redacted == "Tel: [PHONE]." else [(written, redacted)]
    assert missed == []


def test_plans_name_regions_that_exist() -> None:
    """A plan is of a region that libphonenumber knows."""
    assert {plan.region for plan in PLANS} <= phonenumbers.SUPPORTED_REGIONS


@each("digits", ["", "0", "00", "1", "44", "999", "0442079460958", "9" * 20])
def test_digits_that_are_no_number(digits: str) -> None:
    """Whatever comes is no error."""
    assert not is_valid(digits)
