"""Payment cards: issuer ranges, lengths, the check digit, and how the digits are written."""

from jobs.pii_redact.cards import is_card
from jobs.pii_redact.issuers import RANGES, network
from jobs.pii_redact.redaction import redact
from tests.each import each

# Numbers that networks and payment companies publish for tests; the rest are a prefix, zeros and the check digit.
CARDS = [
    *("4111111111111111", "4012888888881881", "4242424242424242", "4000056655665556", "4222222222222"),
    *("4917610000000000", "4917300800000000", "4484070000000000", "4000000000000002", "4916338506082832"),
    *("5555555555554444", "5105105105105100", "5200828282828210", "5425233430109903", "2223003122003222"),
    *("2222405343248877", "2221000000000009", "2720992593319364", "2223000048410010", "378282246310005"),
    *("371449635398431", "378734493671000", "340000000000009", "343434343434343", "370000000000002"),
    *("6011111111111117", "6011000990139424", "6011000400000000", "6445644564456445", "6500000000000002"),
    *("6011601160116611", "30569309025904", "38520000023237", "36227206271667", "36006666333344"),
    *("30000000000004", "39000000000005", "36700102000000", "3530111333300000", "3566002020360505"),
    *("3528000700000000", "3569990010095841", "6200000000000005", "6240008631401148", "6250941006528599"),
    *("6212345678901232", "6212345678900000003", "6205500000000000004", "6759649826438453", "6771798021000008"),
    *("6304000000000000", "5018000000000009", "5020620000000000", "5038000000000005", "6761000000000006"),
    *("6799990100000000019", "6762000000000005", "6331101999990016", "6333000000000005", "6334580500000000"),
    *("6767622222222222222", "5019717010103742", "5610591081018250", "201400000000009", "214900000000003"),
    *("2200000000000004", "2201382000000013", "2204999999999991", "2205000000000009", "5061000000000005"),
    *("5060990580000217499", "5078660000000007", "6062820000000003", "6362970000457013", "5067310000000002"),
    *("6370950000000005", "8171999927660000", "8100000000000002", "6521000000000007", "9792000000000003"),
    *("8600000000000007", "9704000000000018", "9860000000000000", "1946000000000005"),
]


def test_a_card_of_every_network_is_found() -> None:
    """In one piece and in groups of four."""
    for number in CARDS:
        fours = " ".join(number[place : place + 4] for place in range(0, len(number), 4))
        for written in (number, fours, fours.replace(" ", "-")):
            text = f"Card {written}, thanks"
            assert (text, redact(text, ["credit_card"]).text) == (text, "Card [CREDIT_CARD], thanks")


def test_one_wrong_digit_is_no_card() -> None:
    """The check digit notices every single wrong digit."""
    for number in CARDS:
        for place in range(len(number)):
            wrong = number[:place] + str((int(number[place]) + 1) % 10) + number[place + 1 :]
            assert not is_card(wrong), wrong


def test_every_range_is_written_right() -> None:
    """Both ends of a range have the same length and are in order, and a number within it has that network."""
    for item in RANGES:
        assert len(item.first) == len(item.last) <= 6
        assert item.first <= item.last
        assert item.lengths <= set(range(13, 20))
        for length in item.lengths:
            assert network(item.first.ljust(length, "0")) is not None
            assert network(item.last.ljust(length, "9")) is not None


@each(
    ("number", "name"),
    [
        ("4111111111111111", "Visa"),
        ("2720990000000007", "Mastercard"),
        ("2721000000000004", None),
        ("2220999999999999", None),
        ("378282246310005", "American Express"),
        ("30569309025904", "Diners"),
        ("6212345678900000003", "UnionPay"),
        ("2200000000000004", "Mir"),
    ],
)
def test_networks(number: str, name: str | None) -> None:
    """The network of a number is that of its range."""
    assert network(number) == name
