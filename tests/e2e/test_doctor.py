"""`coinslot-ops doctor` beside a running service."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from compose.sandbox import fixtures
from shared.nodes.json_rpc import JsonRpc
from shared.settings.sandbox_path import ENVIRONMENT
from shared.x402.networks import STELLAR_USDC
from tests.time_limits import patience


def doctor(service: Any, **settings: str) -> tuple[int, dict[str, list[tuple[str, str]]]]:
    """Its exit code, and its findings by what they are about."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COINSLOT_")}
    environment |= dict(line.split("=", 1) for line in service.environment)
    return ended_with({**environment, "COINSLOT_PORT": service.base_url.rpartition(":")[2], **settings})


def ended_with(environment: dict[str, str]) -> tuple[int, dict[str, list[tuple[str, str]]]]:
    """As doctor."""
    command = [str(Path(sys.executable).with_name("coinslot-ops")), "doctor", "--json"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=patience(60), check=False)
    findings: dict[str, list[tuple[str, str]]] = {}
    for line in ended.stdout.splitlines():
        finding = json.loads(line)
        findings.setdefault(finding["about"], []).append((finding["level"], finding["detail"]))
    assert findings, ended.stderr
    return ended.returncode, findings


def test_a_service_that_is_well(service: Any) -> None:
    """No failure: Redis, keys, clock, workers, rails with their recipients. It finds the settings of the service itself."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COINSLOT_")}
    code, findings = ended_with({**environment, ENVIRONMENT: str(service.var / "sandbox.json")})
    assert [(about, said) for about, each in findings.items() for level, said in each if level == "fail"] == []
    assert code == 0
    assert ("ok", "appendfsync always") in findings["ledger"]
    assert ("ok", "maxmemory-policy noeviction") in findings["queue"]
    assert [level for level, said in (*findings["ledger"], *findings["clock"]) if "beside" in said] == ["ok", "ok"]
    assert {about for about in findings if about.startswith("workers of")} >= {"workers of micro", "workers of render"}
    for rail in ("rail evm", "rail solana", "rail stellar", "rail xrpl"):
        assert ("ok", "the recipient can receive its tokens") in findings[rail]
    assert any("the settling account has" in said for _, said in findings["rail evm"])
    assert [level for level, _ in findings["journal of evm"]] == ["ok"]


def test_what_is_wrong_is_said(service: Any, tmp_path: Path) -> None:
    """A slip in a name, a key that others can read, a ledger that forgets, a recipient without a trust line, no facilitator."""
    key = tmp_path / "coinslot.key"
    key.write_text("1f" * 32)
    key.chmod(0o644)
    settings = dict(line.split("=", 1) for line in service.environment)
    code, findings = doctor(
        service,
        COINSLOT_LEGDER_URL="x",
        COINSLOT_KEY_FILE=str(key),
        COINSLOT_LEDGER_URL=settings["COINSLOT_QUEUE_URL"],
        COINSLOT_XRPL_PAY_TO="rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe",
        COINSLOT_SOLANA_FACILITATOR_URL="http://127.0.0.1:9",
    )
    assert code == 1
    assert ("warn", "COINSLOT_LEGDER_URL is no setting: did you mean COINSLOT_LEDGER_URL?") in findings["settings"]
    assert [level for level, _ in findings["sealing key"]] == ["fail"]
    assert any(level == "fail" and said.startswith("appendonly is no") for level, said in findings["ledger"])
    assert any(
        level == "fail" and "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe" in said for level, said in findings["rail xrpl"]
    )
    said = "its facilitator at 127.0.0.1:9 does not answer: start it, or set COINSLOT_SOLANA_FACILITATOR_URL"
    assert ("fail", said) in findings["rail solana"]


NO_ACCOUNT = "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
MUXED = "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAE2JUG6"
"""Another name of the same account."""
USDC_CONTRACT = STELLAR_USDC["stellar:pubnet"].contract


def of_stellar(service: Any, **settings: str) -> list[tuple[str, str]]:
    """What it says of the rail, beside that the facilitator settles on it. The EVM rails are left out: they load web3."""
    _, findings = doctor(service, COINSLOT_EVM_PAY_TO="", COINSLOT_ETHEREUM_PAY_TO="", **settings)
    return [
        finding
        for finding in findings["rail stellar"]
        if not finding[1].startswith(("its facilitator", "the settling account"))
    ]


def test_a_stellar_recipient_needs_a_trust_line(service: Any) -> None:
    """An account may hold lumens alone; a multiplexed account is another name of an account; a contract needs none."""
    rpc = JsonRpc(dict(line.split("=", 1) for line in service.environment)["COINSLOT_STELLAR_RPC_URL"])
    bare = "GBZXN7PIRZGNMHGA7MUUUF4GWPY5AYPV6LY4UV2GL6VJGIQRXFDNMADI"
    rpc.named("sandbox_fund", account=bare, lumens=5)
    rpc.close()
    issuer = STELLAR_USDC["stellar:pubnet"].issuer

    assert of_stellar(service, COINSLOT_STELLAR_PAY_TO=bare) == [
        ("fail", f"{bare} has no trust line for USDC of {issuer}")
    ]
    for name in (NO_ACCOUNT, MUXED):
        assert of_stellar(service, COINSLOT_STELLAR_PAY_TO=name) == [("fail", f"{NO_ACCOUNT} does not exist")]
    assert of_stellar(service, COINSLOT_STELLAR_PAY_TO=USDC_CONTRACT) == [
        ("ok", "the recipient can receive its tokens")
    ]


def test_an_evm_recipient_may_be_on_the_tokens_blacklist(service: Any) -> None:
    """Then every payment to it fails. The contract says so."""
    _, findings = doctor(service, COINSLOT_EVM_PAY_TO=fixtures.BLACKLISTED)
    assert ("fail", f"{fixtures.BLACKLISTED} is on the token's blacklist: it receives nothing") in findings["rail evm"]


def test_what_is_not_checked_is_said(service: Any) -> None:
    """Without a node, and with one that does not answer: one line that says why, and no failure."""
    not_checked = "not checked whether the recipient can receive its tokens: "
    for url, why in (
        ("", "COINSLOT_STELLAR_RPC_URL names no node to ask"),
        ("http://127.0.0.1:9", "the node of COINSLOT_STELLAR_RPC_URL does not say"),
    ):
        assert of_stellar(service, COINSLOT_STELLAR_RPC_URL=url) == [("warn", not_checked + why)]
