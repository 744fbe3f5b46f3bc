"""What reads ledgers, bought with the command from the service that scripts/run starts, on its local chains."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coinslot import sandbox_file, wallet_source
from coinslot.buyer import Buyer
from coinslot.wallet import Wallet
from jobs.catalogue import CATALOGUE
from shared.endpoint import Endpoint
from shared.x402.networks import Rail
from tests.replayed import assert_documented

READERS = [endpoint for endpoint in CATALOGUE if endpoint.reads]
WATCH = "xrpl-wallet-watch"


@pytest.mark.parametrize("endpoint", READERS, ids=lambda endpoint: endpoint.name)
def test_the_command_buys_the_documented_example(service: Any, endpoint: Endpoint) -> None:
    """`coinslot call` prints what OpenAPI shows. Of the sandbox's wallets it takes one that the call is sold to."""
    command = [str(Path(sys.executable).with_name("coinslot")), "call", endpoint.name]
    service.forget()
    answer = subprocess.run(
        [*command, json.dumps(endpoint.example.request)],
        env={**os.environ, sandbox_file.ENVIRONMENT: str(service.var / "sandbox.json")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert_documented(json.loads(answer.stdout), endpoint.example.response)


def test_of_own_wallets_one_pays_that_is_offered(service: Any, tmp_path: Path) -> None:
    """What Base does not pay for is paid on the XRP Ledger, where there is a key for it, too."""
    sandbox, xrpl = service.sandbox, service.sandbox["xrpl"]
    secrets = {"": sandbox["evm"]["payerKey"], "_XRPL_RLUSD": xrpl["payerSecret"]}
    env = {
        "COINSLOT_URL": service.base_url,
        "COINSLOT_WALLET_RPC_URL_XRPL_RLUSD": xrpl["rpcUrl"],
        "COINSLOT_MAX_PRICE": "0.01",
    }
    for name, secret in secrets.items():
        path = tmp_path / f"wallet{name}.key"
        path.touch(0o600)
        path.write_text(secret)
        env[f"COINSLOT_WALLET_KEY_FILE{name}"] = str(path)
    coinslot = str(Path(sys.executable).with_name("coinslot"))
    networks = []
    for name, body in (("echo", {"message": "hello"}), (WATCH, {"address": xrpl["payTo"]})):
        answer = subprocess.run(
            [coinslot, "call", name, json.dumps(body), "--json"],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "COINSLOT_STATE_DIR": str(tmp_path), **env},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert answer.returncode == 0, answer.stderr
        networks.append(json.loads(answer.stdout)["price"]["network"])
    assert networks == ["eip155:8453", "xrpl:0"]


def test_a_wallet_is_watched(service: Any) -> None:
    """The first call makes the baseline. The second tells the payments in between: for an echo, and for this call itself."""
    service.forget()
    sandbox = sandbox_file.read(service.var / "sandbox.json")
    signer = wallet_source.sandbox_signer(sandbox, Rail.XRPL_RLUSD)
    with Buyer(service.base_url, Wallet((signer,)), max_price=None) as buyer:

        def watch() -> Any:
            return json.loads(buyer.call(WATCH, {"address": signer.address}).raw)

        first = watch()
        buyer.call("echo", {"message": "between"})
        second = watch()

    assert (first["baseline"]["created"], first["activity"]["count"], first["deltas"]) == (
        True,
        0,
        {"xrp": "0", "rlusd": "0"},
    )
    assert (second["baseline"]["created"], second["baseline"]["previousLedgerIndex"]) == (False, first["ledgerIndex"])
    assert (second["activity"]["count"], second["activity"]["complete"]) == (2, True)
    assert second["deltas"]["rlusd"] == "-0.002"
    pay_to = service.sandbox["xrpl"]["payTo"]
    assert {entry["counterparty"] for entry in second["activity"]["transactions"]} == {pay_to}
    assert [entry["address"] for entry in second["newDestinations"]] == [pay_to]
