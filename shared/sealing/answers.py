"""Where the answers of paid calls are kept: written once by a worker, sealed, read by the API for ever the same.

The `done` script of workers/answers.py writes them, and nothing else. A reply carries the very same bytes.
"""

import hashlib

import msgspec

from shared import outcome
from shared.endpoint import Endpoint
from shared.layouts import ANSWERS, UnknownLayout
from shared.outcome import Outcome
from shared.sealing.sealing import KEY_BYTES, Sealer, Unsealable, derive

ANSWER_TTL_S = 24 * 3600
"""How long an answer can be fetched again with the same request."""
SECRET_ANSWER_TTL_S = 15 * 60
"""And one of an endpoint that holds secrets."""


def ttl_s(endpoint: Endpoint) -> int:
    """How long an endpoint's answers are kept."""
    return SECRET_ANSWER_TTL_S if endpoint.holds_secret else ANSWER_TTL_S


class AnswerSealer:
    """Seals outcomes, each bound to its payment and its endpoint.

    Answers are sealed with the installation's key. Those of endpoints that hold secrets take the payment's signature as well:
    the caller sends it with every copy of the request, and this service forgets it when the payment is settled. Whoever can
    ask Redis and has the key file cannot open them.

    Args:
        master: the 32 bytes of the key file.
        previous: those of the file before it.
    """

    def __init__(self, master: bytes, previous: bytes | None = None) -> None:
        self._ours = Sealer(master, "answers")
        self._half = derive(master, "secret-answers")
        self._previous = None if previous is None else AnswerSealer(previous)

    def secret(self, endpoint: Endpoint, signature: bytes) -> bytes:
        """What one payment's answer is sealed with beside our key: empty for an endpoint that holds no secret.

        Args:
            signature: of the payment, in its one canonical form.
        """
        if not endpoint.holds_secret:
            return b""
        return hashlib.blake2b(signature, key=self._half, digest_size=KEY_BYTES).digest()

    def seal(
        self, result: Outcome, endpoint: Endpoint, payment_id: str, secret: bytes, *, with_previous: bool = False
    ) -> bytes:
        """What is stored and sent in the place of the outcome.

        Args:
            secret: as `secret` gives it.
            with_previous: with the previous key, if there is one: its caller's API process may know no other yet.
        """
        if with_previous and self._previous is not None:
            return self._previous.seal(result, endpoint, payment_id, secret)
        if result.layout != ANSWERS.written:  # a child that was taken over chooses its own
            result = msgspec.structs.replace(result, layout=ANSWERS.written)
        return self._sealer(secret).seal(outcome.encode(result), _binding(endpoint, payment_id))

    def open(self, sealed: bytes, endpoint: Endpoint, payment_id: str, secret: bytes) -> Outcome:
        """Raises Unsealable when it is another payment's, endpoint's, signature's or installation's, or damaged, and
        UnknownLayout when another version sealed it."""
        plain = self._sealer(secret).open(sealed, _binding(endpoint, payment_id))
        try:
            result = outcome.decode(plain)
        except msgspec.DecodeError:  # a worker with our key wrote these bytes: they are not damaged
            raise UnknownLayout("an answer of another version") from None
        ANSWERS.refuse(result.layout)
        return result

    def open_for(self, sealed: bytes, endpoint: Endpoint, payment_id: str, signature: bytes) -> Outcome:
        """As `open`, by the payment's signature, and with either key."""
        try:
            return self.open(sealed, endpoint, payment_id, self.secret(endpoint, signature))
        except Unsealable:
            if self._previous is None:
                raise
            return self._previous.open_for(sealed, endpoint, payment_id, signature)

    def _sealer(self, secret: bytes) -> Sealer:
        return Sealer(secret, "secret-answer") if secret else self._ours


def is_secret_of(endpoint: Endpoint, secret: bytes) -> bool:
    """Whether `secret` has the form that the endpoint's answers need."""
    return len(secret) == (KEY_BYTES if endpoint.holds_secret else 0)


def _binding(endpoint: Endpoint, payment_id: str) -> bytes:
    # No endpoint's name has a bar, so one text belongs to one pair.
    return f"{payment_id}|{endpoint.name}".encode()
