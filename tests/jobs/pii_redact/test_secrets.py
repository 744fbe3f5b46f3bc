"""Keys and account numbers that their form shows."""

from __future__ import annotations

import base64

from jobs.pii_redact.redaction import redact
from tests.each import each
from tests.jobs.pii_redact.marked import read

# Made up here, and put together so that no scanner takes them for real keys.
_LETTERS = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2bC3dE4"


def _part(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


JWT = ".".join((_part('{"alg": "HS256"}'), _part('{"sub": "1"}'), _LETTERS[:20]))
PEM = "-----BEGIN {0}PRIVATE KEY-----\nMIIBVgIBADANBgkqhkiG9w0BAQEF\nAASCAUAwggE8AgEAAkEA\n-----END {0}PRIVATE KEY-----"

FOUND = [
    *("IBAN «DE89 3704 0044 0532 0130 00», BIC", "to «GB82WEST12345698765432».", "«FR1420041010050500013M02606»"),
    *(f"id «AKIA{'QRSTUVWX23456723'}»", f"aws_secret_access_key = «{_LETTERS[:38]}/+»"),
    f'"SecretAccessKey": "«{_LETTERS[:40]}»"',
    *(f"«sk_live_{_LETTERS[:24]}»", f"«rk_test_{_LETTERS[:24]}»", f"«whsec_{_LETTERS[:32]}»"),
    *(f"«ghp_{_LETTERS[:36]}»", f"«github_pat_{_LETTERS[:22]}_{(_LETTERS * 2)[:59]}»"),
    f"https://x:«gho_{_LETTERS[:36]}»@github.com",
    *(f"«AIza{_LETTERS[:35]}»", f"«GOCSPX-{_LETTERS[:28]}»", f"«xoxb-123456789012-123456789012-{_LETTERS[:24]}»"),
    f"«https://hooks.slack.com/services/T00000000/B00000000/{_LETTERS[:24]}»",
    *(f"Bearer «{JWT}»", f"key: «{PEM.format('')}» end", f"«{PEM.format('RSA ')}»", f"«{PEM.format('')[:60]}»"),
    "«" + PEM.format("EC ").replace("\n", "\\n") + "»",
]

NOT_FOUND = [
    *("DE89 3704 0044 0532 0130 01", "AKIA is a prefix", "sk_live_", "the ghp_ prefix", "xoxb-", "eyJhbGciOi"),
    *("ey-abcdefghij.ey-b.c", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----", "AIzaShort"),
    f"xAKIA{'QRSTUVWX23456723'}",
]


@each("marked", FOUND)
def test_found(marked: str) -> None:
    """Nothing more and nothing less than the value."""
    text, redacted, spans = read(marked, "secret")
    assert redact(text, ["secret"]) == (redacted, spans)


@each("text", NOT_FOUND)
def test_not_found(text: str) -> None:
    """A wrong check digit, a mere prefix and a public key are no secrets."""
    assert redact(text, ["secret"]).text == text
