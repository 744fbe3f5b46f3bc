"""An answer opens for its payment, its endpoint and its installation, and a secret one for its payment's signature, too."""

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.catalogue import CATALOGUE
from jobs.echo import ENDPOINT as ECHO
from jobs.faker.endpoint import ENDPOINT as FAKER
from jobs.jwt_verify.endpoint import ENDPOINT as JWT_VERIFY
from jobs.webhook_sig_verify.endpoint import ENDPOINT as WEBHOOK
from shared.endpoint import Endpoint
from shared.layouts import ANSWERS, UnknownLayout
from shared.outcome import Failed, Ok
from shared.sealing.answers import AnswerSealer, is_secret_of, ttl_s
from shared.sealing.sealing import Sealer, Unsealable
from tests.each import each

MASTER = bytes(range(32))
SEALER = AnswerSealer(MASTER)
PAYMENT, SIGNATURE = "eip155:8453:0xa:0xb:0xc", b"s" * 65
ANSWER = Ok(b'{"payload":"secret"}')


@given(st.binary(max_size=500), st.text(max_size=100), st.binary(max_size=100), st.sampled_from([ECHO, JWT_VERIFY]))
def test_round_trip(body: bytes, payment_id: str, signature: bytes, endpoint: Endpoint) -> None:
    """Also by another process that read the same key file; the worker gets the secret, not the signature."""
    secret = SEALER.secret(endpoint, signature)
    sealed = SEALER.seal(Ok(body), endpoint, payment_id, secret)

    there = AnswerSealer(MASTER)
    assert there.open(sealed, endpoint, payment_id, there.secret(endpoint, signature)) == Ok(body)


def test_who_else_cannot_open_it() -> None:
    """Of all combinations of key file, endpoint, payment and signature only the one that it was sealed for opens it."""
    everybody = list(
        itertools.product(
            (SEALER, AnswerSealer(bytes(32))),
            (ECHO, FAKER, JWT_VERIFY, WEBHOOK),
            (PAYMENT, PAYMENT[:-1], ""),
            (SIGNATURE, SIGNATURE[:-1] + b"t", b""),
        )
    )
    for sealer, endpoint, payment_id, signature in everybody:
        sealed = sealer.seal(ANSWER, endpoint, payment_id, sealer.secret(endpoint, signature))
        opened_by = []
        for other in everybody:
            try:
                answer = other[0].open(sealed, other[1], other[2], other[0].secret(other[1], other[3]))
            except Unsealable:
                continue
            assert answer == ANSWER
            opened_by.append((other[0], other[1].name, other[2], other[3] if endpoint.holds_secret else signature))
        assert set(opened_by) == {(sealer, endpoint.name, payment_id, signature)}


def test_our_key_alone_does_not_open_a_secret_answer() -> None:
    """Nor do the keys that are made from it for other purposes."""
    sealed = SEALER.seal(ANSWER, JWT_VERIFY, PAYMENT, SEALER.secret(JWT_VERIFY, SIGNATURE))

    for purpose in ("job-arguments", "answers", "secret-answers", "secret-answer", "fingerprints"):
        with pytest.raises(Unsealable):
            Sealer(MASTER, purpose).open(sealed, f"{PAYMENT}|jwt-verify".encode())


@each("plain", [b"", b"\xc1", msgspec.msgpack.encode(["ok"]), msgspec.msgpack.encode({"a": 1})])
def test_what_is_no_outcome_does_not_open(plain: bytes) -> None:
    """It was rightly sealed, so another version did it: that is no reason to call it damaged."""
    with pytest.raises(UnknownLayout):
        SEALER.open(Sealer(MASTER, "answers").seal(plain, f"{PAYMENT}|echo".encode()), ECHO, PAYMENT, b"")


def test_a_number_is_the_sealers_own() -> None:
    """A child that was taken over chooses what is in its outcome, and would make its answer unreadable."""
    for outcome in (Ok(b"{}", layout=7), Failed("a", "b", layout=7)):
        assert SEALER.open(SEALER.seal(outcome, ECHO, PAYMENT, b""), ECHO, PAYMENT, b"").layout == ANSWERS.written


@given(st.binary(max_size=200))
def test_garbage_does_not_open(garbage: bytes) -> None:
    """Whatever lies in the ledger."""
    for endpoint in (ECHO, JWT_VERIFY):
        with pytest.raises(Unsealable):
            SEALER.open(garbage, endpoint, PAYMENT, SEALER.secret(endpoint, SIGNATURE))


def test_failures_are_sealed_as_well() -> None:
    """They may quote an upstream."""
    failure = Failed("upstream_failed", "It said: secret", reason="unreachable", retryable=True)
    sealed = SEALER.seal(failure, ECHO, PAYMENT, b"")

    assert b"secret" not in sealed
    assert SEALER.open(sealed, ECHO, PAYMENT, b"") == failure


def test_which_endpoints_hold_secrets() -> None:
    """Those that are given a key. Their answers are kept for a quarter of an hour, the others' for a day."""
    assert {endpoint.name for endpoint in CATALOGUE if endpoint.holds_secret} == {"jwt-verify", "webhook-sig-verify"}
    for endpoint in CATALOGUE:
        secret = SEALER.secret(endpoint, SIGNATURE)
        assert is_secret_of(endpoint, secret)
        assert not is_secret_of(endpoint, b"" if secret else bytes(32))
        assert (len(secret), ttl_s(endpoint)) == ((32, 900) if endpoint.holds_secret else (0, 86_400))
