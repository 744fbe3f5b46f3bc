"""Gas that eats the price, on the running service: what is offered, refused and said meanwhile. It passes by itself."""

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from coincurve import PrivateKey

from api.payment.cost_limit import LOWERED_AT
from jobs.catalogue import BY_NAME
from shared.nodes.json_rpc import JsonRpc
from shared.x402 import evm
from shared.x402.networks import EVM_USDC
from tests import signing
from tests.api.paying import paid_with
from tests.e2e.test_doctor import doctor
from tests.e2e.test_metrics import told
from tests.e2e.test_top import TOP, environment
from tests.time_limits import patience

ECHO, DEAR = "/v1/cdp/echo", "/v1/cdp/web-diff"
BASE = "eip155:8453"
GWEI = 10**9


@contextmanager
def base_fee(rpc: JsonRpc, wei: int) -> Iterator[None]:
    """Each block costs so much, and afterwards next to nothing."""
    is_over = threading.Event()

    def block(wei: int) -> None:
        rpc("anvil_setNextBlockBaseFeePerGas", hex(wei))
        rpc("evm_mine")

    def keep() -> None:
        while not is_over.wait(0.2):
            block(wei)

    block(wei)
    keeping = threading.Thread(target=keep)
    keeping.start()
    try:
        yield
    finally:
        is_over.set()
        keeping.join()
        block(1)


def until(holds: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + patience(30)
    while not holds():
        assert time.monotonic() < give_up_at
        time.sleep(0.1)


def test_a_base_fee_of_a_gwei_takes_the_cheapest_calls_off_base_and_passes_by_itself(service: Any) -> None:
    """Given payments of a tenth of a cent that are signed, when a settlement costs more than half of that, then none of them is
    settled, echo is offered on the other networks only and web-diff on all, and `top`, `doctor` and the exporter say so. When
    gas costs less, the signed payment that was refused with a 503 pays."""
    own = service.sandbox["evm"]
    key = PrivateKey.from_hex(own["payerKey"].removeprefix("0x"))
    offer = evm.offers(EVM_USDC[BASE], BY_NAME["echo"].price, own["payTo"])[0]
    with httpx.Client(base_url=service.base_url, timeout=patience(30)) as shop:

        def networks(path: str) -> set[str]:
            return {one["network"] for one in shop.post(path).json()["accepts"]}

        def headers() -> dict[str, str]:
            payload = signing.payload(key, offer)
            return paid_with({"x402Version": 2, "accepted": signing.wire(offer), "payload": payload})

        every, later = networks(ECHO), headers()
        assert BASE in every
        with base_fee(JsonRpc(own["rpcUrl"]), GWEI):
            # By the facilitator, as soon as it knows; then by the API.
            until(lambda: "settlement_too_costly" in shop.post(ECHO, headers=headers()).text)
            until(lambda: BASE not in networks(ECHO))
            assert (networks(ECHO), networks(DEAR)) == (every - {BASE}, every)
            problem = shop.post(ECHO, headers=later).json()
            assert (problem["reason"], problem["charged"]) == ("settlement_too_costly", False)
            shown = subprocess.run(TOP, env=environment(service), capture_output=True, text=True, check=True).stdout
            assert "not offered at less than 0.00" in shown
            ((level, said),) = doctor(service)[1]["costs on base"]
            assert (level, "echo, chain/chain-id" in said) == ("warn", True)
            of_base = {name: value for name, labels, value in told(service) if labels == {"rail": "base"}}
            assert of_base["coinslot_calls_too_cheap"] == 2
            least, cost = of_base["coinslot_least_price"], of_base["coinslot_settlement_cost"]
            assert least > 0.001
            assert LOWERED_AT < cost * 2 / least <= 1  # a little less gas does not lower the least price
        until(lambda: networks(ECHO) == every)
        assert shop.post(ECHO, headers=later).status_code == 200
