"""render-pro and web-diff, bought from the service that scripts/run starts, of the sandbox's site."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coinslot import sandbox_file, wallet_source
from coinslot.buyer import Buyer
from coinslot.delivery import RetryPolicy
from coinslot.wallet import Wallet
from compose.sandbox.upstreams.pages import HOST, arrived
from compose.sandbox.upstreams.ports import HTTPS_PORT
from jobs.catalogue import BY_NAME
from shared.x402.networks import Rail
from tests.replayed import assert_documented
from tests.time_limits import patience

SITE = f"https://{HOST}:{HTTPS_PORT}"


def buy(service: Any, rail: Rail, name: str, path: str, **fields: Any) -> Any:
    signer = wallet_source.sandbox_signer(sandbox_file.read(service.var / "sandbox.json"), rail)
    policy = RetryPolicy(budget_s=patience(30))
    with Buyer(service.base_url, Wallet((signer,)), max_price=None, retry_policy=policy) as buyer:
        return json.loads(buyer.call(name, {"url": SITE + path, **fields}).raw)


@pytest.mark.parametrize("name", ["render-pro", "web-diff"])
def test_the_command_buys_the_documented_example(service: Any, name: str) -> None:
    """`coinslot call` prints what OpenAPI shows."""
    example = BY_NAME[name].example
    service.forget()
    answer = subprocess.run(
        [str(Path(sys.executable).with_name("coinslot")), "call", name, json.dumps(example.request)],
        env={**os.environ, sandbox_file.ENVIRONMENT: str(service.var / "sandbox.json")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert_documented(json.loads(answer.stdout), example.response)


def test_what_changed_is_told_to_who_looked_before(service: Any) -> None:
    """First `new`, then `changed` with the right lines; another wallet sees `new`."""
    first = buy(service, Rail.BASE, "web-diff", "/arrivals")
    second = buy(service, Rail.BASE, "web-diff", "/arrivals")
    other = buy(service, Rail.SOLANA, "web-diff", "/arrivals")
    assert (first["status"], first["changed"], first["diff"], first["lastCheckedAt"]) == ("new", False, None, None)
    assert (second["status"], second["changed"], second["lastCheckedAt"]) == ("changed", True, first["checkedAt"])
    came = {boat.partition(",")[0]: boat for boat in (*arrived(0), *arrived(1))}
    shown = [[boat for boat in came.values() if boat in answer["markdown"]] for answer in (first, second)]
    assert [set(boats) for boats in shown] == [set(arrived(0)), set(arrived(1))]
    hunks = second["diff"]["hunks"]
    assert [line.lstrip("- ") for hunk in hunks for line in hunk["added"]] == [arrived(1)[0]]
    assert [line.lstrip("- ") for hunk in hunks for line in hunk["removed"]] == [arrived(0)[-1]]
    assert (other["status"], other["baseline"]) == ("new", "none")


def test_an_observation_is_paid_in_rlusd(service: Any) -> None:
    """render-pro is compared with its own last call, and names the payment of this one."""
    first = buy(service, Rail.XRPL_RLUSD, "render-pro", "/terms")
    second = buy(service, Rail.XRPL_RLUSD, "render-pro", "/terms", focus="three knots", screenshot=True)
    assert (first["comparison"]["status"], second["comparison"]["status"]) == ("new", "same")
    assert second["comparison"]["previousObservationId"] == first["observationId"] == second["observationId"]
    assert second["payment"]["network"].startswith("xrpl:")
    assert (float(second["payment"]["amount"]), second["payment"]["transaction"]) != (
        0.01,
        first["payment"]["transaction"],
    )
    (match,) = second["focus"]["matches"]
    assert second["markdown"][match["start"] : match["end"]] == match["quote"] == "three knots"
    assert base64.b64decode(second["snapshot"]["dataBase64"]).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("path", "said", "not_said"),
    [
        ("/tides", ("The first high water is at 03:12", "4.3 metres above the sill"), ("needs JavaScript",)),
        ("/terms", ("three knots", "sorted by glass"), ("214 partners", "Accept all")),
        ("/log", ("On day 1 the watch", "On day 10 the watch"), ()),
    ],
)
def test_pages_that_need_a_browser(service: Any, path: str, said: tuple[str, ...], not_said: tuple[str, ...]) -> None:
    """A page that its script writes, one behind a cookie wall, and one that goes on for ever as it is scrolled."""
    markdown = buy(service, Rail.BASE, "render-pro", path)["markdown"]
    assert [text for text in said if text not in markdown] == []
    assert [text for text in not_said if text in markdown] == []
