"""What the words around a number say about it."""

from jobs.pii_redact.labels import Label, Labels
from tests.each import each


@each(
    ("text", "label"),
    [
        ("phone 1", Label.PHONE),
        ("Phone: 1", Label.PHONE),
        ("PHONE=1", Label.PHONE),
        ("phone number 1", Label.PHONE),
        ("my phone number is: 1", Label.PHONE),
        ("call me at 1", Label.PHONE),
        ("call us now on our 1", Label.PHONE),
        ("Tel. (home): 1", Label.PHONE),
        ("Tel./Fax 1", Label.PHONE),
        ("T: 1", Label.PHONE),
        ("A/C: 1", Label.SUBJECT),
        ("A/C No. 1", Label.NUMBER),
        ("P/N 1", Label.NUMBER),
        ("yes/n 1", None),
        ("☎ 1", Label.PHONE),
        (r"\nphone: 1", Label.PHONE),
        ("T 1", None),
        ("t: 1", None),
        ("user_phone=1", Label.PHONE),
        ("userPhoneNumber=1", Label.PHONE),
        ('"phone": "1', Label.PHONE),
        ("my number is 1", Label.PHONE),
        ("the number is 1", None),
        ("WhatsApp 1", Label.PHONE),
        ("https://wa.me/1", Label.PHONE),
        ("iPhone 1", None),
        ("smartphone 1", None),
        ("Telefonnummer: 1", Label.PHONE),
        ("Kundennummer: 1", Label.NUMBER),
        ("Versicherungsnummer 1", Label.NUMBER),
        ("电话1", Label.PHONE),
        ("我的电话号码是1", Label.PHONE),
        ("טלפון: 1", Label.PHONE),
        ("ssn 1", Label.SSN),
        ("social security number: 1", Label.SSN),
        ("social 1", Label.SSN),
        ("social media 1", None),
        ("order 1", Label.SUBJECT),
        ("order number 1", Label.NUMBER),
        ("order #1", Label.NUMBER),
        ("Order No. 1", Label.NUMBER),
        ("order id: 1", Label.NUMBER),
        ("invoice 1", Label.NUMBER),
        ("ISBN 1", Label.BARCODE),
        ("version 1", Label.VERSION),
        ("credit card: 1", Label.CARD),
        ("phone of nobody 1", None),
        ("phone 2 1", None),
        ("phone\n1", None),
        ("phone:\n1", Label.PHONE),
        ("phone             1", None),
        ("1", None),
    ],
)
def test_the_label_of_a_number(text: str, label: Label | None) -> None:
    """The word before it, past connecting words and marks."""
    assert Labels(text).before(text.index("1")) is label


@each(
    ("text", "label"),
    [
        ("Call Ada, who knows, under 1", Label.PHONE),
        ("Call about your order, number 1", Label.SUBJECT),
        ("Order and call 1", Label.PHONE),
        ("order 2 and 1", Label.SUBJECT),
        ("phone\n1", None),
        ("phone " + "x" * 60 + " 1", None),
        ("phone " + "a b " * 8 + "1", None),
    ],
)
def test_the_nearest_label(text: str, label: Label | None) -> None:
    """On the line, some words away."""
    assert Labels(text).near(text.index("1")) is label


@each(
    ("text", "label"),
    [
        ("1 (mobile)", Label.PHONE),
        ("1 is my ssn", Label.SSN),
        ("1. Phone", None),
        ("1 2 phone", None),
        ("1\nphone", None),
        ("1 belongs to a phone", None),
        ("1, phone: 2", None),
        ('1, "phone": "2"', None),
        ("1 phone no. +2", None),
        ("1 phone [EMAIL]", Label.PHONE),
        ("1 phone, 2", Label.PHONE),
        ("1 (phone) 2", Label.PHONE),
        ("1 is my phone. 2", Label.PHONE),
        ("1", None),
    ],
)
def test_the_label_after_a_number(text: str, label: Label | None) -> None:
    """Directly after it, past connecting words."""
    assert Labels(text).after(1) is label
