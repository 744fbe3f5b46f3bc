"""The official package for JavaScript verifies what the shop signs."""

import json
import shutil
from pathlib import Path

import pytest

from tests.clients import environments
from tests.clients.programs import run
from tests.clients.shop import Shop
from tests.contract.endpoints import ENDPOINTS

pytestmark = pytest.mark.timeout(300)  # the first run fetches the packages

HERE = Path(__file__).parent
ECHO = next(row for row in ENDPOINTS if row.name == "echo")


def test_the_official_package_verifies_offers_and_receipts(shop: Shop) -> None:
    """It finds the key by itself, and takes no receipt that says something else."""
    try:
        folder = environments.node()
    except environments.Unavailable as error:
        pytest.skip(str(error))
    command = [shutil.which("node") or "", "--import", (HERE / "loopback.mjs").as_uri(), "--input-type=module", "-"]
    done = run(
        command,
        folder,
        (HERE / "prove.mjs").read_text(),
        URL=shop.base_url + ECHO.path,
        KEY=shop.sandbox["evm"]["payerKey"],
        NETWORK="eip155:8453",
        MESSAGE="hello",
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["found"] == list(range(len(said["terms"])))
    assert len(said["terms"]) >= 2
    assert said["terms"][0]["resourceUrl"] == said["receipt"]["resourceUrl"] == shop.base_url + ECHO.path
    assert (said["matches"], said["isForgeryTaken"], said["elsewhere"]) == (True, False, [])
    assert said["receipt"]["transaction"].startswith("0x")
