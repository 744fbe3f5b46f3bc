"""Input made to hang, crash or crowd out: an answer or a clear refusal for each, and the neighbours served."""

import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import pytest

from coinslot.buyer import Buyer
from coinslot.delivery import RetryPolicy
from coinslot.wallet import Wallet

DOUBLING: dict[str, Any] = {"$defs": {"d0": {"type": "object"}}, "$ref": "#/$defs/d30"}
for depth in range(1, 31):
    DOUBLING["$defs"][f"d{depth}"] = {"allOf": [{"$ref": f"#/$defs/d{depth - 1}"}] * 2}

DEEP: Any = 0
for _ in range(127):
    DEEP = [DEEP]

HOSTILE: list[tuple[str, dict[str, Any]]] = [
    ("llm-tool-validate", {"schema": DOUBLING, "data": {}}),
    (
        "llm-tool-validate",
        {"schema": {"items": {"anyOf": [{"type": "integer"}] * 40}}, "data": ["x"] * 30_000, "coerce": True},
    ),
    ("llm-tool-validate", {"schema": {"$ref": "#"}, "data": {"a": 1}, "coerce": True}),
    ("llm-tool-validate", {"schema": {"uniqueItems": True}, "data": [[n] for n in range(20_000)]}),
    ("llm-tool-validate", {"schema": {}, "data": [DEEP] * 1_000}),
    ("llm-tool-validate", {"schema": {}, "data": [[]] * 85_000}),
    ("jwt-verify", {"token": "." * 16_000, "sharedSecret": "s"}),
    ("jwt-verify", {"token": "eyJhbGciOiJIUzI1NiJ9." + "W1tb" * 3_900 + ".AA", "sharedSecret": "s"}),
    (
        "webhook-sig-verify",
        {"provider": "stripe", "payload": "\u0000" * 200_000, "signature": "t=1," + "v1=00," * 1_300, "secret": "s"},
    ),
    ("regex-test", {"pattern": "(a+)+$", "input": "a" * 40 + "!"}),
    ("regex-test", {"pattern": "a?" * 40 + "a" * 40, "input": "a" * 40}),
    ("regex-test", {"pattern": "(?<=(a+)+)b", "flags": "g", "input": "a" * 50_000}),
    ("regex-test", {"pattern": "", "flags": "g", "input": "x" * 100_000, "captureLimit": 1000}),
    ("regex-test", {"pattern": "(.*)" * 60, "flags": "gs", "input": "x" * 100_000, "captureLimit": 1000}),
    ("pii-redact", {"text": "1" * 100_000}),
    ("pii-redact", {"text": "a@" * 50_000}),
    ("pii-redact", {"text": "+1 (" * 25_000}),
    ("prompt-injection-scan", {"text": "ignore " * 14_000}),
    ("prompt-injection-scan", {"text": "\u200b" * 100_000}),
    ("prompt-injection-scan", {"text": "QUFB" * 25_000}),
    *(
        ("json-repair", {"malformed": malformed})
        for malformed in (
            "[" * 100_000,
            "{" * 100_000,
            "t{]" * 4_000,
            '["a' * 25_000,
            '{"a": "\\ud800", "\\udfff": 1}',
            "[1e400, -1e400, 1e-400]",
            "1" * 100_000,
            '"' + "\\" * 99_999,
        )
    ),
    ("json-repair", {"malformed": "{}", "schema": DOUBLING}),
    ("faker", {"template": {f"f{n}": "lorem.paragraphs" for n in range(50)}, "count": 100}),
]


def buyer(service: Any) -> Buyer:
    key = bytes.fromhex(service.sandbox["evm"]["payerKey"].removeprefix("0x"))
    # What was paid for is asked for until it is there: a slow machine takes a minute for the flood.
    policy = RetryPolicy(budget_s=200)
    return Buyer(service.base_url, Wallet.evm(key), max_price=None, retry_policy=policy, payments=None)


def bought(service: Any, name: str, body: dict[str, Any]) -> Any:
    with buyer(service) as one:
        return one.call(name, body).body


@pytest.mark.parametrize(("name", "body"), HOSTILE, ids=[f"{n}-{row[0]}" for n, row in enumerate(HOSTILE)])
def test_hostile_input_is_answered_while_echo_keeps_answering(service: Any, name: str, body: dict[str, Any]) -> None:
    """A 200 for each, well within common clients' patience, and every echo beside it is served."""
    with ThreadPoolExecutor(4) as callers:
        started = time.monotonic()
        hostile = callers.submit(bought, service, name, body)
        echoes = [callers.submit(bought, service, "echo", {"message": "still here"}) for _ in range(3)]
        answer = hostile.result()
        took_s = time.monotonic() - started
        assert isinstance(answer["ok"], bool)
        assert [echo.result()["youSent"] for echo in echoes] == ["still here"] * 3
    print(f"{name}: {took_s * 1000:.0f} ms")


@pytest.mark.timeout(300)
def test_a_flood_of_catastrophic_patterns(service: Any) -> None:
    """200 at once are all answered with regex_timeout, and none of 1,000 echoes beside them fails: 200 at once, too, and four
    for each answer, so that they last as long as the flood."""
    pattern = {"pattern": "^(([a-z])+.)+[A-Z]([a-z])+$", "input": "a" * 60}
    with ThreadPoolExecutor(200) as flood, ThreadPoolExecutor(8) as neighbours:
        timeouts = [flood.submit(bought, service, "regex-test", pattern) for _ in range(200)]
        echoes = [neighbours.submit(bought, service, "echo", {"message": str(number)}) for number in range(200)]
        for answer in as_completed(timeouts):
            assert answer.result()["error"] == "regex_timeout"
            for _ in range(4):
                echoes.append(neighbours.submit(bought, service, "echo", {"message": str(len(echoes))}))
        assert [echo.result()["youSent"] for echo in echoes] == [str(n) for n in range(1000)]
