"""Any change of a good payment header: no failure of ours, no second settlement, no second answer."""

import base64
import copy
import json
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.paying import Payer, encoded

PATH = "/v1/cdp/echo"

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("worker")]

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["1000", "base", "eip155:8453", "exact", "0x", "0x" + "00" * 65, 2**64, -1, 10**400, [], {}]),
)
CHANGES = st.tuples(st.sampled_from(["set", "drop", "add", "wrap", "case"]), st.integers(0, 40), SCALARS)
CUTS = st.tuples(
    st.sampled_from(["flip", "drop", "insert", "cut", "twice", "bare"]), st.integers(0, 2_000), st.characters()
)


def places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where a document can be changed."""
    found = []
    for key, value in content.items():
        found.append((*path, key))
        if isinstance(value, dict):
            found += places(value, (*path, key))
    return found


def changed(payment: Any, how: str, where: int, value: Any) -> Any:
    """The payment with one member set, dropped, added, wrapped or in the other case."""
    payment = copy.deepcopy(payment)
    all_places = places(payment)
    *path, key = all_places[where % len(all_places)]
    holder = payment
    for step in path:
        holder = holder[step]
    match how:
        case "set":
            holder[key] = value
        case "drop":
            del holder[key]
        case "add":
            holder[str(value)] = value
        case "wrap":
            holder[key] = [holder[key]]
        case "case" if isinstance(holder[key], str):
            holder[key] = holder[key].swapcase()
    return payment


def spoiled(text: str, how: str, where: int, character: str) -> str:
    """The text with one character changed, dropped or added, cut off, doubled, or without its padding."""
    where %= len(text)
    match how:
        case "flip":
            return text[:where] + character + text[where + 1 :]
        case "drop":
            return text[:where] + text[where + 1 :]
        case "insert":
            return text[:where] + character + text[where:]
        case "cut":
            return text[:where]
        case "twice":
            return text + text
        case _:
            return text.rstrip("=")


@pytest.fixture
def payment(payer: Payer) -> Any:
    """The good one."""
    return payer.payment(resource="http://shop.test" + PATH)


@pytest.fixture
def presented(payment: Any) -> list[str]:
    """The broken ones. Made before there is an API, whose event loop they would hold up."""
    made: list[str] = []

    @given(CHANGES)
    @settings(max_examples=200, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def change(change: tuple[str, int, Any]) -> None:
        made.append(encoded(changed(payment, *change)))

    @given(CUTS, st.booleans())
    @settings(max_examples=200, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def spoil(cut: tuple[str, int, str], inside: bool) -> None:
        if inside:
            made.append(base64.b64encode(spoiled(json.dumps(payment), *cut).encode("utf-8", "replace")).decode())
        else:
            made.append(spoiled(encoded(payment), *cut))

    change()
    spoil()
    return made


async def test_no_change_of_a_header_fails_here_or_pays_twice(
    presented: list[str], payment: Any, shop: httpx.AsyncClient, facilitator: Any, runs: list[Any]
) -> None:
    """One good payment, presented in four hundred broken ways: whatever is not refused is that one payment, settled and run
    once."""
    statuses: list[int] = []
    for header in [*presented, encoded(payment)]:
        # What cannot be in a header at all cannot get here.
        value = header.encode("utf-8", "replace").translate(None, b"\r\n\x00")
        answer = await shop.post(PATH, json={"message": "a"}, headers={b"PAYMENT-SIGNATURE": value})  # type: ignore[dict-item]
        statuses.append(answer.status_code)
        assert answer.status_code in (200, 400, 402), (header, answer.text)
        assert (len(facilitator.settles) <= 1, len(runs) <= 1) == (True, True), header
    assert len(presented) >= 300
    assert (set(statuses), statuses[-1]) == ({200, 400, 402}, 200)
    assert (len(facilitator.settles), len(runs)) == (1, 1)
