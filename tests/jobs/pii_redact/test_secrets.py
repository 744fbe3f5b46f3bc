"""Keys that their form shows, whatever is around them. In texts/secret.toml there are names before them."""

import base64

from jobs.pii_redact.keys import FORMS
from jobs.pii_redact.redaction import redact
from tests.each import each
from tests.jobs.pii_redact.marked import filled, read


def _part(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


JWT = ".".join((_part('{"alg": "HS256"}'), _part('{"sub": "1"}'), filled("{20}")))
PEM = "-----BEGIN {0}PRIVATE KEY-----\nMIIBVgIBADANBgkqhkiG9w0BAQEF\nAASCAUAwggE8AgEAAkEA\n-----END {0}PRIVATE KEY-----"

BLOCKS = [
    *(f"Bearer «{JWT}»", f"key: «{PEM.format('')}» end", f"«{PEM.format('RSA ')}»", f"«{PEM.format('')[:60]}»"),
    "«" + PEM.format("EC ").replace("\n", "\\n") + "»",
]


@each("marked", BLOCKS)
def test_tokens_and_blocks(marked: str) -> None:
    """Nothing more and nothing less than a JWT or a private key."""
    text, redacted, spans = read(marked, "secret")
    assert redact(text, ["secret"]) == (redacted, spans)


@each("prefix", FORMS)
def test_prefixes(prefix: str) -> None:
    """A key of the smallest and of the largest length is found. One with a character less or more, or inside a word, is not."""
    form = FORMS[prefix]
    signs = "C7B2A0D9E4F6" * 200

    def is_found(length: int, before: str = "key ") -> bool:
        text = f"{before}{prefix}{signs[:length]}, then"
        return redact(text, ["secret"]).text == f"{before}[SECRET], then"

    assert is_found(form.shortest)
    assert is_found(form.longest)
    assert not is_found(form.longest, "x")
    if not any(other != prefix and prefix.startswith(other) for other in FORMS):
        assert not is_found(form.shortest - 1)
        assert not is_found(form.longest + 1)
