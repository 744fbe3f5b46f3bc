"""A new sealing key while calls are paid: the workers first, then the API, and the previous key goes last."""

from typing import Any

import httpx
import pytest

from api.app import create_app
from jobs.jwt_verify.endpoint import ENDPOINT as JWT_VERIFY
from ops import rotation
from shared.sealing.keys import previous_key_file
from shared.settings.service import Settings
from tests.api.conftest import opened
from tests.api.paying import Payer, encoded

pytestmark = pytest.mark.anyio

ECHO, JWT = "/v1/cdp/echo", JWT_VERIFY.path
PRICES = {ECHO: "0.001", JWT: "0.005"}
BODIES: dict[str, Any] = {ECHO: {"message": "hello"}, JWT: JWT_VERIFY.example.request}


async def test_a_rotation_loses_nothing(
    shop: httpx.AsyncClient, settings: Settings, request: pytest.FixtureRequest, payer: Payer, facilitator: Any
) -> None:
    """Secret answers included. When the previous key is gone, a payment from before is used up, and one from after is not."""
    rotation.rotate(settings.key_file, previous_key_file(settings))
    request.getfixturevalue("worker")  # has both keys; the API of `shop` has the old one alone

    async def paid(client: httpx.AsyncClient, path: str, payment: str) -> httpx.Response:
        return await client.post(path, json=BODIES[path], headers={"PAYMENT-SIGNATURE": payment})

    before = {path: encoded(payer.payment(price=PRICES[path])) for path in PRICES}
    after = {path: encoded(payer.payment(price=PRICES[path])) for path in PRICES}
    first = {path: await paid(shop, path, payment) for path, payment in before.items()}
    assert [answer.status_code for answer in first.values()] == [200, 200]

    async with opened(create_app(settings)) as api:
        for path in PRICES:
            assert (await paid(api, path, before[path])).content == first[path].content
            other = await api.post(path, json={"message": "other"}, headers={"PAYMENT-SIGNATURE": before[path]})
            assert other.json()["error"] == "payment_already_used"
            first[path] = await paid(api, path, after[path])
            assert first[path].status_code == 200
    assert len(facilitator.settles) == 4

    previous_key_file(settings).unlink()
    async with opened(create_app(settings)) as api:
        for path in PRICES:
            assert (await paid(api, path, before[path])).json()["error"] == "payment_already_used"
            assert (await paid(api, path, after[path])).content == first[path].content
    assert len(facilitator.settles) == 4
