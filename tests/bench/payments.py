"""Signed payments for whatever a 402 offers, one header a line: what wrk sends."""

import base64
import itertools
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import msgspec
from coincurve import PrivateKey
from eth_utils.address import to_checksum_address

from shared.x402.evm import address_of
from shared.x402.wire import Challenge, Offer
from tests import signing


def offered(url: str, method: str = "POST", *, scheme: str = "exact") -> Offer:
    """The first offer of this scheme in an unpaid call's challenge, which every v2 shop sends in PAYMENT-REQUIRED.

    Raises:
        LookupError: there is none.
    """
    try:
        urllib.request.urlopen(urllib.request.Request(url, data=b"", method=method), timeout=10)
    except urllib.error.HTTPError as answer:
        with answer:
            challenge = msgspec.json.decode(base64.b64decode(answer.headers["PAYMENT-REQUIRED"]), type=Challenge)
            found = [one for one in challenge.accepts if one.scheme == scheme]
            return found[0]
    raise AssertionError(f"{url} asks for no payment")


def write_payments(path: Path, offer: Offer, count: int) -> None:
    """Sign `count` payments, each with a nonce of its own, good for the next minute."""
    write_payments_of([PrivateKey()], path, offer, count)


def write_payments_of(keys: Sequence[PrivateKey], path: Path, offer: Offer, count: int) -> None:
    """The same, of these payers in turn. Their addresses are checksummed: the official SDK's facilitator wants them so."""
    payers = [(key, to_checksum_address(address_of(key.public_key))) for key in keys]
    with path.open("wb") as file:
        for key, address in itertools.islice(itertools.cycle(payers), count):
            payload = signing.payload(key, offer, address=address)
            payment = {"x402Version": 2, "accepted": signing.wire(offer), "payload": payload}
            file.write(base64.b64encode(msgspec.json.encode(payment)) + b"\n")
