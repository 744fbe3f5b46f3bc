"""webhook-sig-verify: what the senders' own packages sign is valid, and nothing that differs by one character is."""

import random
from collections.abc import Callable, Iterator

import stripe
from slack_sdk.signature import SignatureVerifier

from tests.jobs.webhook_sig_verify.deliveries import NOW, ask
from tests.quality.scorer import Measure

Delivery = dict[str, str]
_TEXT = '{"id": 1} \n\r\t&=+%\\"é💡\u202e\ufeff\u2028azAZ09'
_OTHER_TEXT = "".join(chr(point) for point in (*range(1, 0x180), 0x3042, 0x1F600, 0xFFFD, 0xE000))


def _stripe(secret: str, payload: str) -> Delivery:
    signature = stripe.WebhookSignature._compute_signature(f"{NOW}.{payload}", secret)
    return {"provider": "stripe", "signature": f"t={NOW},v1={signature}", "secret": secret, "payload": payload}


def _slack(secret: str, payload: str) -> Delivery:
    signature = SignatureVerifier(secret).generate_signature(timestamp=str(NOW), body=payload)
    assert signature is not None
    return {
        "provider": "slack",
        "signature": signature,
        "secret": secret,
        "payload": payload,
        "timestamp": str(NOW),
    }


SIGNERS: tuple[Callable[[str, str], Delivery], ...] = (_stripe, _slack)


_CAUSES: dict[str, tuple[Callable[[Delivery], Delivery], str]] = {
    "a line break after the payload": (
        lambda one: {"payload": one["payload"] + "\r\n"} if one["payload"] == one["payload"].strip() else {},
        "white space around",
    ),
    "LF became CRLF": (
        lambda one: {} if "\r" in one["payload"] else {"payload": one["payload"].replace("\n", "\r\n")},
        "LF in place of CRLF",
    ),
    "a line break after the secret": (lambda one: {"secret": one["secret"] + "\n"}, "secret without white space"),
}
_CAUSES_SET_ASIDE: dict[str, tuple[Callable[[Delivery], Delivery], str]] = {
    "a byte order mark": (lambda one: {"payload": "\ufeff" + one["payload"]}, "byte order mark"),
    "the secret in hex": (lambda one: {"secret": one["secret"].encode().hex()}, "bytes that the secret is the hex of"),
    "another secret": (lambda one: {"secret": one["secret"][::-1] + "x"}, "secret is another one"),
}


def measures(held_out: bool) -> Iterator[Measure]:
    """Random deliveries; another alphabet and longer payloads are set aside."""
    chance = random.Random(21 if held_out else 20)
    alphabet, most = (_OTHER_TEXT, 3_000) if held_out else (_TEXT, 200)
    good, spoiled = [], []
    for _ in range(300):
        for sign in SIGNERS:
            secret = "".join(chance.choices("abcXYZ019+/=_-", k=chance.randint(8, 60)))
            delivery = sign(secret, "".join(chance.choices(alphabet, k=chance.randint(0, most))))
            good.append(delivery)
            name = chance.choice(("signature", "secret", "payload"))
            spoiled.append({**delivery, name: _changed(chance, delivery[name])})
    yield Measure("signed is valid", len(good), sum(ask(**one)["valid"] is True for one in good))
    yield Measure("changed is not", len(spoiled), sum(not ask(**one)["valid"] for one in spoiled))
    for cause, (spoil, words) in (_CAUSES_SET_ASIDE if held_out else _CAUSES).items():
        usual = [{**one, **spoil(one)} for one in good]
        usual = [one for one, other in zip(usual, good, strict=True) if one != other and not ask(**one)["valid"]]
        yield Measure(f"cause: {cause}", len(usual), sum(words in (ask(**one).get("hint") or "") for one in usual))


def _changed(chance: random.Random, text: str) -> str:
    """One character more, or another letter or digit in place of one."""
    place = chance.randrange(len(text) + 1)
    if place == len(text) or not text[place].isascii() or not text[place].isalnum():
        return text[:place] + "0" + text[place:]
    return text[:place] + ("1" if text[place] != "1" else "2") + text[place + 1 :]
