"""`coinslot-ops doctor` beside a running service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def doctor(service: Any, **settings: str) -> tuple[int, dict[str, list[tuple[str, str]]]]:
    """Its exit code, and its findings by what they are about."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COINSLOT_")}
    environment |= dict(line.split("=", 1) for line in service.environment)
    environment |= {"COINSLOT_PORT": service.base_url.rpartition(":")[2], **settings}
    command = [str(Path(sys.executable).with_name("coinslot-ops")), "doctor", "--json"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    findings: dict[str, list[tuple[str, str]]] = {}
    for line in ended.stdout.splitlines():
        finding = json.loads(line)
        findings.setdefault(finding["about"], []).append((finding["level"], finding["detail"]))
    assert findings, ended.stderr
    return ended.returncode, findings


def test_a_service_that_is_well(service: Any) -> None:
    """No failure: Redis, keys, clock, workers, rails with their recipients."""
    code, findings = doctor(service)
    assert [(about, said) for about, each in findings.items() for level, said in each if level == "fail"] == []
    assert code == 0
    assert ("ok", "appendfsync always") in findings["ledger"]
    assert ("ok", "maxmemory-policy noeviction") in findings["queue"]
    assert {about for about in findings if about.startswith("workers of")} >= {"workers of micro", "workers of render"}
    for rail in ("rail solana", "rail xrpl"):
        assert ("ok", "the recipient can receive its tokens") in findings[rail]
    assert any("the settling account has" in said for _, said in findings["rail evm"])


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
    assert ("fail", "its facilitator does not answer") in findings["rail solana"]
