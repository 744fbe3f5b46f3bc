"""The texts of texts/ of every kind."""

import itertools

from jobs.pii_redact.redaction import redact
from jobs.pii_redact.spans import KINDS, PiiKind
from jobs.pii_redact.ssn import is_ssn
from tests.each import each
from tests.jobs.pii_redact.marked import filled, read, texts


@each("kind", KINDS)
def test_what_is_marked_is_found(kind: PiiKind) -> None:
    """The values between the guillemets are found, and nothing around them."""
    for marked in texts(kind)["found"]:
        text, redacted, spans = read(filled(marked), kind)
        assert redact(text, [kind]) == (redacted, spans), marked


@each("kind", KINDS)
def test_other_texts_stay(kind: PiiKind) -> None:
    """They have no value of the kind."""
    for text in map(filled, texts(kind)["left"]):
        assert redact(text, [kind]).text == text


def test_what_is_no_social_security_number_is_no_phone() -> None:
    """Nine digits in the wrong shape are not taken for a phone."""
    for text in texts("ssn")["left"]:
        assert redact(text, ["phone"]).text == text


def test_every_octet_is_a_byte() -> None:
    """An IPv4 address has 0 to 255 in every place."""
    for octet, place in itertools.product(range(256), range(4)):
        octets = ["10", "20", "30", "40"]
        octets[place] = str(octet)
        assert redact(".".join(octets), ["ipv4"]).text == "[IPV4]"
        octets[place] = str(octet + 256)
        assert redact(".".join(octets), ["ipv4"]).text == ".".join(octets)


def test_every_area_group_and_serial_of_an_ssn() -> None:
    """Exactly the parts that the Social Security Administration does not give out are refused."""
    areas = {area for area in range(1000) if is_ssn(f"{area:03}456789")}
    assert areas == set(range(1, 900)) - {666}
    assert {group for group in range(100) if is_ssn(f"123{group:02}6789")} == set(range(1, 100))
    assert not is_ssn("123450000")
    assert is_ssn("123450001")
    assert is_ssn("123459999")
