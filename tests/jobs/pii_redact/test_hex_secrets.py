"""Hex secrets: 32 digits or more, a letter and a digit among them, in one piece."""

from __future__ import annotations

import hashlib

from jobs.pii_redact.redaction import redact
from tests.each import each
from tests.jobs.pii_redact.marked import read

MD5 = hashlib.md5(b"coinslot").hexdigest()
SHA1 = hashlib.sha1(b"coinslot").hexdigest()
SHA256 = hashlib.sha256(b"coinslot").hexdigest()
SHA512 = hashlib.sha512(b"coinslot").hexdigest()

FOUND = [
    f"«{MD5}»",
    f"«{SHA1}»",
    f"«{SHA256}»",
    f"«{SHA512}»",
    f"«{SHA256.upper()}»",
    f"«{SHA256[:33]}»",
    f"«{SHA256[:20].upper() + SHA256[20:]}»",
    f"«0x{SHA256}»",
    f"«0X{SHA256}»",
    f"«0x{SHA1}»",
    "«" + "a" * 31 + "1»",
    "«" + "1" * 31 + "a»",
    "«1" + "f" * 31 + "»",
    "«0x1" + "f" * 31 + "»",
    "«" + "0a" * 500 + "»",
    f"key=«{SHA256}»",
    f"key: «{SHA256}»",
    f"API_KEY=«{SHA256}»",
    f'"token": "«{SHA256}»"',
    f"'«{SHA256}»'",
    f"`«{SHA256}»`",
    f"(«{SHA256}»)",
    f"<«{SHA256}»>",
    f"«{SHA256}».",
    f"«{SHA256}», «{SHA1}»",
    f"sha256:«{SHA256}»",
    f"sha256-«{SHA256}»",
    f"md5=«{MD5}»",
    f"image@sha256:«{SHA256}»",
    f"token_«{SHA256}»",
    f"sk_live_«{SHA256}»_x",
    f"-«{SHA256}»-",
    f"/api/«{SHA256}»/x",
    f"?sig=«{SHA256}»&x=1",
    f"commit «{SHA1}»",
    f"«{SHA256}»:«{SHA256}»",
    f"«{SHA256}»\n«{SHA1}»",
    f"«{SHA256}»  file.txt",
    f"密钥是«{SHA256}»。",
    f"ключ«{SHA256}»",
    "«123e4567e89b12d3a456426614174000»",
    f"«{SHA256[:30]}\u200b{SHA256[30:]}»",
    f"«{SHA256[:30]}\u00ad{SHA256[30:]}»",
    "«" + "".join(chr(ord(char) + 0xFEE0) for char in SHA256) + "»",
    f"key\\n«{MD5}»\\t«{SHA1}»",
]

NOT_FOUND = [
    SHA256[:31],
    "0x" + SHA256[:31],
    "1" * 32,
    "a" * 32,
    "0" * 64,
    "0x" + "0" * 64,
    "0x" + "f" * 64,
    "0x" + "1" * 40,
    "12345678901234567890123456789012",
    "abcdefabcdefabcdefabcdefabcdefab",
    "deadbeef",
    "cafebabe",
    "1a2b3c4",
    "#ff00ff",
    "#FF00FF80",
    "0xdeadbeef",
    "0x80070005",
    "123e4567-e89b-12d3-a456-426614174000",
    "{123E4567-E89B-12D3-A456-426614174000}",
    "urn:uuid:123e4567-e89b-12d3-a456-426614174000",
    "00:1a:2b:3c:4d:5e",
    "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
    "AB:CD:" * 16,
    "1a 2b " * 16,
    SHA256 + "g",
    "g" + SHA256,
    SHA256[:32] + "z" + SHA256[:20],
    "z" + "0x" + SHA256,
    "1" + "0x" + SHA256[:31],
    "é" + SHA256,
    SHA256 + "é",
    "\\x1a\\x2b",
    "%1a%2b" * 16,
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
    "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
    SHA256[:16] + "-" + SHA256[:16],
    SHA256[:16] + " " + SHA256[:16],
    SHA256[:16] + "\n" + SHA256[:16],
    SHA256[:16] + "_" + SHA256[:16],
    "the quick brown fox",
    "[HEX_SECRET]",
]


@each("marked", FOUND)
def test_a_secret_is_found(marked: str) -> None:
    """What stands between the guillemets, and nothing around it, is a secret."""
    text, redacted, spans = read(marked, "hex_secret")
    assert redact(text, ["hex_secret"]) == (redacted, spans)


@each("text", NOT_FOUND)
def test_what_is_no_secret_stays(text: str) -> None:
    """Too short, without a letter or a digit, in pieces, or a part of a longer word."""
    assert redact(text, ["hex_secret"]).text == text
