"""All kinds together: overlaps, offsets, and that redacting twice is redacting once."""

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from jobs.pii_redact.redaction import redact
from jobs.pii_redact.spans import KINDS, PLACEHOLDERS, PiiKind
from tests.each import each

FRAGMENTS = [
    *PLACEHOLDERS.values(),
    *("415-555-0132", "(415) 555-0132", "4155550132", "+1 415 555 0132", "020 7946 0958", "555-0132", "+49 30 123456"),
    *("0612345678", "06 12 34 56 78", "98765 43210", "2123 4567", "12345678", "1 800 555 0199", "+44 (0)20 7946 0958"),
    *("4111111111111111", "4111 1111 1111 1111", "4111-1111", "1111", "378282246310005", "5555 5555 5555 4444"),
    *("123-45-6789", "123 45 6789", "123456789", "078-05-1120", "000-12-3456", "192.168.1.1", "10.0.0.1", "1.2.3.4.5"),
    *("d41d8cd98f00b204e9800998ecf8427e", "0x", "deadbeef", "a1", "user@example.com", "joe@x.io", '"q"@x.io', "@x.io"),
    *("user@", "user", "example.com", "%40", "@", "a@b@c.dd", "用户@例子.广告", "2026-11-20", "10:15", "20.11.2026"),
    *("SSN", "SSN:", "ssn ", "social security number", "Tel:", "Tel. ", "phone", "call me at ", "order ", "invoice #"),
    *("my number is ", "version ", "v", "card ", "ISBN ", "电话", "x12", " ext. 5", ";ext=7", " x", "USD", "$", "%"),
    "€",
    *("1", "0", "4", "12", "123", "007", "00", "011", "+", "-", ".", "/", "(", ")", "[", "]", ",", ":", ";", "#"),
    *("_", "="),
    *(" ", " ", " ", "  ", "\n", "\t", "\u200b", "\u00ad", "\u00a0", "–", "ー", "１", "٣", "a", "Z", "é", "字", "😀"),
    *('"', "'", "`", "*", "|", "{", "}", "<", ">", "!", "?", "&", "~", "^", "\\", "EMAIL", "[EMAIL", "PHONE]", "[SSN"),
    *("\\n", "\\t", "\\u003c", "📞", ", phone: ", " mobile ", "A/C: ", "+4915112345678", "4915112345678", "to ", "%B"),
    *("02/123.45.67", "0711/12345-0", "+52 1 55 1234 5678", "v1.2.3.4", "1.2.3.5", "9:00-17:00", "08212345678", "微信"),
    "41555501-3241-5555-0132-415555013241",
    "DE89 3704 0044 0532 0130 00",
    "48.8566, 2.3522",
    *(
        "password=",
        "Password: ",
        "token: ",
        "api_key = '",
        "hunter2",
        "Bearer ",
        "postgres://a:b1@",
        "--secret ",
        "sk-",
        "AKIA",
    ),
    *(
        "ab12CD34ef56GH78ij90",
        "git@github.com:a/b",
        "nginx/1.25.3.1",
        "OpenSSL ",
        "+47 22 41 50 10",
        "22 41 50 10",
        "on ",
        "@x.no",
    ),
]
JUNK = st.lists(st.sampled_from(FRAGMENTS), max_size=16).map("".join)
NUMBERS = st.text(alphabet="0123456789 -.()+/x#@:\n", max_size=60)
SOME_KINDS = st.lists(st.sampled_from(KINDS), min_size=1, unique=True)
thorough = settings(deadline=None, max_examples=600, suppress_health_check=[HealthCheck.too_slow])


@each(
    ("text", "redacted"),
    [
        ("", ""),
        ("nothing here", "nothing here"),
        ("user@example.com 415-555-0132 123-45-6789", "[EMAIL] [PHONE] [SSN]"),
        # a phone in an address, an address in an address
        ("4155550132@example.com", "[EMAIL]"),
        ("415-555-0132@example.com", "[EMAIL]"),
        ("user@[10.0.0.1]", "[EMAIL]"),
        ("d41d8cd98f00b204e9800998ecf8427e@example.com", "[EMAIL]"),
        ("root@10.0.0.1", "root@[IPV4]"),
        # a card and an address that share digits: the longer one gives the name
        ("4111 1111 1111 1111@x.io", "[CREDIT_CARD]"),
        # side by side
        ("10.0.0.1:4155550132", "[IPV4]:[PHONE]"),
        ("123-45-6789 4111111111111111 10.0.0.1", "[SSN] [CREDIT_CARD] [IPV4]"),
        ("415-555-0132 123-45-6789 415-555-0133", "[PHONE] [SSN] [PHONE]"),
        ("4111 1111 1111 1111 415 555 0132", "[CREDIT_CARD] [PHONE]"),
        ("user@example.com,415-555-0132\n10.0.0.1", "[EMAIL],[PHONE]\n[IPV4]"),
        # what was redacted before
        ("[EMAIL] [PHONE] [SSN] [CREDIT_CARD] [IPV4] [HEX_SECRET]",) * 2,
        ("[EMAIL]415-555-0132", "[EMAIL]415-555-0132"),
        ("[SSN] 123456789", "[SSN] 123456789"),
        ("[PHONE] 415-555-0132", "[PHONE] [PHONE]"),
        ("[email] user@example.com", "[email] [EMAIL]"),
    ],
)
def test_kinds_together(text: str, redacted: str) -> None:
    """Each thing is of one kind."""
    assert redact(text, KINDS).text == redacted


@each(
    ("text", "kinds", "redacted"),
    [
        ("user@example.com 415-555-0132", ["email"], "[EMAIL] 415-555-0132"),
        ("user@example.com 415-555-0132", ["phone"], "user@example.com [PHONE]"),
        ("user@example.com 415-555-0132", ["ssn"], "user@example.com 415-555-0132"),
        # what is of another kind is not called a phone because that kind was not asked for
        ("4155550132@example.com", ["phone"], "4155550132@example.com"),
        ("123-45-6789", ["phone"], "123-45-6789"),
        ("SSN 123456789", ["phone"], "SSN 123456789"),
        ("4111 1111 1111 1111", ["phone"], "4111 1111 1111 1111"),
        ("Tel: 10.0.0.1", ["phone"], "Tel: 10.0.0.1"),
        # but a card is a card, also inside an address
        ("4111111111111111@example.com", ["credit_card"], "[CREDIT_CARD]@example.com"),
        ("123-45-6789@example.com", ["ssn"], "[SSN]@example.com"),
    ],
)
def test_only_what_was_asked_for(text: str, kinds: list[PiiKind], redacted: str) -> None:
    """Other kinds stay."""
    assert redact(text, kinds).text == redacted


def test_offsets_are_code_points_of_the_original() -> None:
    """Characters without width, before or inside a finding, do not shift them."""
    text = "😀é \u200b４１５\u00ad-555-0132\u200b e\u0301 user@exa\u200bmple.com"
    spans = redact(text, KINDS).spans
    assert [text[span.start : span.end] for span in spans] == ["４１５\u00ad-555-0132", "user@exa\u200bmple.com"]


@thorough
@given(JUNK | NUMBERS | st.text(max_size=60), SOME_KINDS)
@example("ssn 123-45-6789 123456789", list(KINDS))
@example("Tel: 415-555-0132 20123456", list(KINDS))
@example("[PHONE]4155550132", list(KINDS))
@example("a@b.cc4155550132", list(KINDS))
@example("4111 1111 1111 1111 1111 1111 1111 1111", list(KINDS))
def test_redacting_twice_is_redacting_once(text: str, kinds: list[PiiKind]) -> None:
    """A second redaction changes nothing."""
    once = redact(text, kinds)
    twice = redact(once.text, kinds)
    assert twice.text == once.text
    assert twice.spans == []


@thorough
@given(JUNK | NUMBERS, SOME_KINDS)
def test_the_spans_are_what_was_replaced(text: str, kinds: list[PiiKind]) -> None:
    """In order, apart, of the kinds asked for; with a placeholder for each the text is the redacted one."""
    redaction = redact(text, kinds)
    rest, done = "", 0
    for span in redaction.spans:
        assert done <= span.start < span.end <= len(text)
        assert span.kind in kinds
        rest += text[done : span.start] + PLACEHOLDERS[span.kind]
        done = span.end
    assert rest + text[done:] == redaction.text


@thorough
@given(JUNK | NUMBERS)
def test_kinds_one_by_one_find_what_all_find(text: str) -> None:
    """What one kind finds is covered by what all kinds find."""
    everything = redact(text, KINDS).spans
    covered = {place for span in everything for place in range(span.start, span.end)}
    for kind in KINDS:
        for span in redact(text, [kind]).spans:
            assert covered >= set(range(span.start, span.end))


def test_a_password_before_a_host_is_no_email_address() -> None:
    """It is counted as what it is. Where passwords are not wanted, it is hidden all the same."""
    text = "DATABASE_URL=postgres://app:S3cr3tPw!@db.example.com:5432/prod"
    assert redact(text, KINDS).text == "DATABASE_URL=postgres://app:[SECRET]@db.example.com:5432/prod"
    assert redact(text, ["email"]).text == "DATABASE_URL=postgres://app:[EMAIL]:5432/prod"
