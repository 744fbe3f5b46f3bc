"""Social security numbers: the parts that were issued, the separators, and bare digits that a word calls one."""

from __future__ import annotations

from jobs.pii_redact.redaction import redact
from jobs.pii_redact.ssn import is_ssn
from tests.jobs.pii_redact.marked import read

FOUND = [
    "«123-45-6789»",
    "«078-05-1120»",
    "«219-09-9999»",
    "«001-01-0001»",
    "«899-99-9999»",
    "«665-45-6789»",
    "«667-45-6789»",
    "«123 45 6789»",
    "«123.45.6789»",
    "«123 - 45 - 6789»",
    "SSN: «123-45-6789»",
    "SSN:«123-45-6789»",
    "SSN «123-45-6789»",
    "ssn=«123-45-6789»",
    "SSN#«123-45-6789»",
    "SSN«123-45-6789»",
    "ssn_«123-45-6789»",
    "(«123-45-6789»)",
    "«123-45-6789».",
    "«123-45-6789», «234-56-7890»",
    "«123-45-6789»/«234-56-7890»",
    "«123-45-6789» 12345",
    "12345 «123-45-6789»",
    "1 «123-45-6789» 2",
    '"ssn": "«123-45-6789»"',
    "ada,«123-45-6789»,1815",
    "ada\t«123-45-6789»\t1815",
    "born 1990-01-02, «123-45-6789»",
    "«123\u201145\u20116789»",
    "«123\u201345\u20136789»",
    "«123\u221245\u22126789»",
    "«123\u00a045\u00a06789»",
    "«123\u200b-\u200b45\u200b-\u200b6789»",
    "«12\u00ad3-45-67\u00ad89»",
    "«１２３－４５－６７８９»",
    "«١٢٣-٤٥-٦٧٨٩»",
    "«१२३-४५-६७८९»",
    "号码是«123-45-6789»。",
    "номер«123-45-6789»",
    # a word says so
    "SSN «123456789»",
    "SSN: «123456789»",
    "SSN is «123456789»",
    "ssn=«123456789»",
    '{"ssn": "«123456789»", "zip": "627041234"}',
    '{"ssn":«123456789»}',
    "SSNs: «123456789», «234567890»",
    "social security number «123456789»",
    "Social Security Number: «123456789»",
    "Social Security No. «123456789»",
    "Social Security #«123456789»",
    "his social security number is «123456789»",
    "my social is «123456789»",
    "Social: «123456789»",
    "SS# «123456789»",
    "socialSecurityNumber=«123456789»",
    "social_security_number: «123456789»",
    "userSSN: «123456789»",
    "SSN of the applicant: «123456789»",
    "«123456789» is my SSN",
    "«123456789» (SSN)",
    "«123456789» is my social security number",
    "SSN: «078-051120»",
    "SSN: «07805-1120»",
    "SSN «078 051120»",
    "SSN «123 45 6789» 2",
    "SSN:\n«123456789»",
    "SSN: «１２３４５６７８９»",
    "account 123456789 ssn «234567890»",
    "«123456789», his SSN",
    r"Ada\n«123-45-6789»\nssn: «123456789»",
    "+«123-45-6789» in a diff",
]

NOT_FOUND = [
    # never issued
    "000-12-3456",
    "666-12-3456",
    "900-12-3456",
    "999-12-3456",
    "987-65-4320",
    "123-00-4567",
    "123-45-0000",
    "000 12 3456",
    "666.12.3456",
    "SSN 000123456",
    "SSN 666123456",
    "SSN 900123456",
    "SSN 123004567",
    "SSN 123450000",
    # no word says so
    "123456789",
    "078051120",
    "the number 123456789",
    "123-456789",
    "12345-6789",
    "94103-1234",
    "order 123456789",
    "population 123456789",
    "passport 123456789",
    "routing number 123456789",
    "account 123456789",
    "Social media followers: 123456789",
    "social network users: 123456789",
    "social distancing 123456789",
    "antisocial 123456789",
    "lesson 123456789",
    "SSN on file. Zip: 123456789",
    "SSN, account 123456789",
    '{"ssn": null, "zip": "627041234"}',
    # another shape
    "123-456-789",
    "12-345-6789",
    "1234-56-789",
    "123-45-67890",
    "1123-45-6789",
    "123-45-678",
    "123-4-56789",
    "123--45--6789",
    "123/45/6789",
    "123_45_6789",
    "123,45,6789",
    "123:45:6789",
    "123-45 6789",
    "123 45-6789",
    "123.45-6789",
    "123\n45\n6789",
    # part of something longer
    "1-123-45-6789",
    "123-45-6789-0",
    "12.123.45.6789",
    "123.45.6789.1",
    "0.123.45.6789",
    "10 123 45 6789",
    "123 45 6789 10",
    "A123-45-6789",
    "ID123-45-6789",
    "123-45-6789A",
    "x123-45-6789y",
    "SSN 1234567890",
    "SSN 12345678",
    "SSN A123456789",
    "SSN 123456789.5",
    "SSN $123456789",
    "123-45-6789.5",
    "41555501-3241-5555-0132-123456789012",
    "[SSN] 123456789",
    "[SSN]: 123456789",
    "account 123456789, ssn: 000-12-3456",
]


def test_a_number_is_found() -> None:
    """What stands between the guillemets, and nothing around it, is a social security number."""
    for marked in FOUND:
        text, redacted, spans = read(marked, "ssn")
        assert redact(text, ["ssn"]) == (redacted, spans)


def test_what_is_no_number_stays() -> None:
    """Not issued, not called so, written in another way, or a part of something else; and the shape is no phone's."""
    for text in NOT_FOUND:
        assert redact(text, ["ssn"]).text == text
        assert redact(text, ["phone"]).text == text


def test_every_area_group_and_serial() -> None:
    """Exactly the parts that the Social Security Administration does not give out are refused."""
    areas = {area for area in range(1000) if is_ssn(f"{area:03}456789")}
    assert areas == set(range(1, 900)) - {666}
    assert {group for group in range(100) if is_ssn(f"123{group:02}6789")} == set(range(1, 100))
    assert not is_ssn("123450000")
    assert is_ssn("123450001")
    assert is_ssn("123459999")
