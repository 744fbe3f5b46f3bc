"""/status of a running service: a call that fails, and one that is refused while its pool has no worker."""

import json
import subprocess
import sys
import urllib.request
from typing import Any

import pytest

from coinslot import sandbox_file
from coinslot.buyer import Buyer
from coinslot.delivery import RetryPolicy
from coinslot.errors import CoinslotError
from coinslot.wallet import Wallet
from coinslot.wallet_source import sandbox_signer
from compose.sandbox.child import ROOT
from shared.observability.status import RESULTS
from shared.x402.networks import Rail
from tests.e2e.running import environment, until
from tests.e2e.test_metrics import told


def scale(service: Any, line: str) -> None:
    """As an operator does."""
    subprocess.run(
        [sys.executable, "-c", "import sys; from ops.main import main; sys.exit(main())", "scale", line],
        cwd=ROOT,
        env=environment(COINSLOT_VAR=str(service.var)),
        check=True,
        capture_output=True,
    )


def figures(service: Any, name: str) -> Any:
    with urllib.request.urlopen(f"{service.base_url}/status.json") as answer:
        said = json.load(answer)
    return next(one for one in said["endpoints"] if one["name"] == name)


def causes(service: Any, name: str) -> set[tuple[str, str, str]]:
    return {(one["cause"], one["fault"], one["rail"]) for one in figures(service, name)["lastFailures"]}


def test_a_failing_call_and_a_pool_without_a_worker_are_shown(service: Any) -> None:
    """By cause and fault, on the rail that was paid with. The exporter has the same."""
    signer = sandbox_signer(sandbox_file.read(service.var / "sandbox.json"), Rail.BASE)
    with Buyer(service.base_url, Wallet((signer,)), max_price=None, retry_policy=RetryPolicy(budget_s=0)) as buyer:
        buyer.call("echo", {})
        with pytest.raises(CoinslotError):
            buyer.call("rss", {"url": "https://no-such-host.example.com/feed"})
        scale(service, "worker-whois=0")
        with pytest.raises(CoinslotError):
            buyer.call("whois", {"domain": "example.com"})
        scale(service, "worker-whois=1")
    until(lambda: ("no_worker", "ours", "base") in causes(service, "whois"))
    assert ("dns_failure", "caller", "base") in causes(service, "rss")
    hour = figures(service, "whois")["rails"]["base"]["1h"]
    assert 0 < hour["refused"] <= 1 - hour["success"]
    echo = figures(service, "echo")["rails"]["base"]["1h"]
    assert echo["success"] > 0.5  # other tests have had some of its calls refused
    assert echo["p50Seconds"] > 0
    counted = {
        sample.labels["result"]: sample.value
        for sample in told(service)
        if sample.name == "coinslot_status_calls"
        and (sample.labels["endpoint"], sample.labels["rail"], sample.labels["window"]) == ("whois", "base", "1h")
    }
    assert counted.keys() == set(RESULTS)
    assert counted["refused"] >= 1
