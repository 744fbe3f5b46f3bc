"""Tokens for Coinbase's facilitator, and the files that their keys come in."""

import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from shared.settings.cdp_key import CdpKey, read_cdp_key
from shared.settings.service import InvalidSetting
from tests.cdp import ED25519_ID, ES256_ID, FILES, PEM, Gateway
from tests.each import each

URL = "https://api.cdp.coinbase.com/platform/v2/x402/settle"
CALL = "POST api.cdp.coinbase.com/platform/v2/x402/settle"
MADE = 1_780_000_000
BY_THE_SDK = {
    ED25519_ID: (
        "eyJhbGciOiJFZERTQSIsImtpZCI6IjEyMzQ1Njc4LTEyMzQtMTIzNC0xMjM0LTEyMzQ1Njc4OWFiYyIsIm5vbmNlIjoiMTIzNDU2Nzg5MDEyMzQ1"
        "NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3OC0xMjM0LTEyMzQtMTIzNC0xMjM0NTY3ODlhYmMiLCJpc3MiOiJjZHAiLCJhdWQiOm51bGws"
        "Im5iZiI6MTc4MDAwMDAwMCwiZXhwIjoxNzgwMDAwMTIwLCJ1cmlzIjpbIlBPU1QgYXBpLmNkcC5jb2luYmFzZS5jb20vcGxhdGZvcm0vdjIveDQw"
        "Mi9zZXR0bGUiXX0.zNa4EnDSNrUzuYu17Ac5KUoeQyZe04GuhOCGlkAdh2G8VezauA7Dd2CFFUYLa5fubtT-Okyf_g4eLFd5W56GDA"
    ),
    ES256_ID: (
        "eyJhbGciOiJFUzI1NiIsImtpZCI6Im9yZ2FuaXphdGlvbnMvYS9hcGlLZXlzL2IiLCJub25jZSI6IjEyMzQ1Njc4OTAxMjM0NTYiLCJ0eXAiOiJK"
        "V1QifQ.eyJzdWIiOiJvcmdhbml6YXRpb25zL2EvYXBpS2V5cy9iIiwiaXNzIjoiY2RwIiwiYXVkIjpudWxsLCJuYmYiOjE3ODAwMDAwMDAsImV4c"
        "CI6MTc4MDAwMDEyMCwidXJpcyI6WyJQT1NUIGFwaS5jZHAuY29pbmJhc2UuY29tL3BsYXRmb3JtL3YyL3g0MDIvc2V0dGxlIl19.M6uufbnFCrGN"
        "_y32Lu-beNZHIAh9dNgNW0eVl1bXydUiSFbjjh1y7jG4aYtu-3q0VdP37wv4wXQAYC94TEZHYQ"
    ),
}
"""Tokens for CALL that `generate_jwt` of PyPI's cdp-sdk 1.51.0 made of the same keys with its clock at MADE."""


def key_of(content: Any, tmp_path: Path) -> CdpKey:
    file = tmp_path / "cdp.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    key = read_cdp_key(str(file))
    assert key is not None
    return key


@pytest.mark.parametrize("key_id", FILES)
def test_a_token_is_what_the_official_sdk_makes(key_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gateway of these tests takes the SDK's token and ours alike, and each only once."""
    monkeypatch.setattr(time, "time", lambda: MADE + 0.9)
    key = key_of(FILES[key_id], tmp_path)
    gateway = Gateway()
    ours = [key.headers("POST", URL)["authorization"] for _ in range(2)]
    for authorization in (f"Bearer {BY_THE_SDK[key_id]}", *ours):
        assert gateway.refusal(authorization, CALL, MADE) == ""
        assert gateway.refusal(authorization, CALL, MADE) == "nonce"
    assert len({token.rpartition(".")[0] for token in ours}) == 2


def test_a_token_is_for_one_call_and_two_minutes(tmp_path: Path) -> None:
    """Of the address, the query and a password are left out; a port that is named is part of the host."""
    key, now = key_of(FILES[ED25519_ID], tmp_path), time.time()

    def refusal(call: str, url: str = URL, *, later_s: float = 1) -> str:
        return Gateway().refusal(key.headers("GET", url)["authorization"], call, now + later_s)

    assert refusal("GET 127.0.0.1:8080/a/b", "http://user:pw@127.0.0.1:8080/a/b?c=d") == ""
    assert refusal(CALL) == refusal("GET api.cdp.coinbase.com/platform/v2/x402/verify") == "uris"
    assert refusal(CALL.replace("POST", "GET"), later_s=-60) == refusal(CALL, later_s=125) == "expired"


def test_a_key_with_other_line_ends_is_read(tmp_path: Path) -> None:
    """As it is after a shell: a backslash and an n."""
    token = key_of({**FILES[ES256_ID], "privateKey": PEM.replace("\n", "\\n")}, tmp_path).headers("POST", URL)
    assert Gateway().refusal(token["authorization"], CALL, time.time()) == ""


def test_nothing_shows_a_key(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither repr() nor a log line, at any level."""
    caplog.set_level(logging.DEBUG)
    key = key_of(FILES[ED25519_ID], tmp_path)
    token = key.headers("POST", URL)["authorization"].partition(" ")[2]
    assert FILES[ED25519_ID]["privateKey"][:20] not in repr(key) + caplog.text
    assert token[:20] not in repr(key) + caplog.text


WRONG: list[Any] = [
    "canary",
    "",
    "[" * 5000,
    ["canary"],
    {"id": ED25519_ID},
    {"privateKey": FILES[ED25519_ID]["privateKey"]},
    {"id": "canary canary", "privateKey": FILES[ED25519_ID]["privateKey"]},
    {"id": ED25519_ID, "privateKey": "canary"},
    {"id": ED25519_ID, "privateKey": "é"},
    {"id": ED25519_ID, "privateKey": FILES[ED25519_ID]["privateKey"][:40]},
    {"id": ED25519_ID, "privateKey": "A" * 86 + "=="},
    {"id": ED25519_ID, "privateKey": PEM[:60] + "canary" + PEM[66:]},
    {"id": ED25519_ID, "privateKey": "canary" * 2_000},
]


@each("content", WRONG)
def test_a_file_of_another_form_is_refused_and_not_shown(content: Any, tmp_path: Path) -> None:
    """With its path, and without the content."""
    with pytest.raises(InvalidSetting, match=r"CDP key file .*/cdp\.json") as refused:
        key_of(content, tmp_path)
    assert "canary" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_file_that_is_none() -> None:
    """No path means that there is no key."""
    assert read_cdp_key("") is None
    for path in ("/nowhere/cdp", "/", "a\0b"):
        with pytest.raises(InvalidSetting, match="cannot read the CDP key file"):
            read_cdp_key(path)
