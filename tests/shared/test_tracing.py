"""Traces: what they never show, and that without the switch there is nothing of them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from shared.observability import tracing
from shared.observability.logs import JobIds
from shared.outcome import Failed
from tests.each import each

PAYER = "0x" + "a17e" * 10
CLASSIC = "rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De"


@each(
    ("payment_id", "shown"),
    [
        (f"eip155:8453:0xusdc:{PAYER}:0x5eed", "eip155:8453:0xusdc:0xa17e...a17e:0x5eed"),
        (f"solana:5eykt4:EPjFWdd5:{'9' * 44}:ab12", "solana:5eykt4:EPjFWdd5:999999...9999:ab12"),
        (f"stellar:pubnet:CCW67TSZ:G{'A' * 55}:-42", "stellar:pubnet:CCW67TSZ:GAAAAA...AAAA:-42"),
        (f"xrpl:0:{CLASSIC}:123456789012345:AB", "xrpl:0:rMxCKb...m5De:123456789012345:AB"),
        ("", ""),
        ("xrpl:0", "xrpl:0"),
    ],
)
def test_a_payment_id_shows_only_the_ends_of_its_payer(payment_id: str, shown: str) -> None:
    """On every network; the part that is searched for, its last one, stays whole."""
    assert tracing.without_payer(payment_id) == shown


def test_without_the_switch_nothing_is_traced() -> None:
    """Every place in the code that traces does nothing, and no message carries more than before."""
    assert tracing.begin_call("/v1/cdp/echo") is None
    assert tracing.begin_job({tracing.TRACEPARENT: f"00-{'1' * 32}-{'2' * 16}-01", tracing.SENT_NS: "1"}) is None
    assert tracing.message_options() == {}
    with tracing.span("check"):
        tracing.annotate("coinslot.refusal", "none")
        tracing.describe_job(JobIds("request", "payment", "job"), "echo", Failed("internal_error", "It failed."))
    tracing.stop()


LOADED = "json.dumps(sorted(n for n, m in sys.modules.items() if m and n.partition('.')[0] == 'opentelemetry'))"


def test_without_the_switch_nothing_of_opentelemetry_is_imported() -> None:
    """The API loads none of it. In other processes redis-py loads what it finds installed: they keep it from the SDK."""
    assert fresh(f"import json, sys, api.app, api.__main__; print({LOADED})") == []

    # In processes of their own: each has to keep redis-py from it.
    for modules in ("workers.main", "ops.exporter, ops.dashboard", "compose.serve"):
        of_redis = fresh(f"import json, sys, {modules}; print({LOADED})")
        assert not any(name.startswith(("opentelemetry.sdk", "opentelemetry.exporter")) for name in of_redis), modules


def test_without_the_packages_the_processes_can_be_loaded() -> None:
    """As where the extra is not installed: they cannot be found."""
    absent = """
import importlib.abc, json, sys
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "opentelemetry":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import api.app, api.__main__, workers.main
"""
    assert fresh(f"{absent}print({LOADED})") == []


def test_the_switch_without_the_packages_is_reported_in_a_sentence() -> None:
    """Which names the extra that is to be installed."""
    program = (
        "import json, sys; sys.modules['opentelemetry'] = None\n"
        "from shared.observability import tracing\n"
        "from shared.settings.service import InvalidSetting, Settings\n"
        "tracing.check(Settings())\n"
        "try: tracing.start(Settings(otel=True), 'coinslot-api')\n"
        "except InvalidSetting as error: print(json.dumps(str(error)))"
    )
    said = fresh(program)
    assert said.startswith("COINSLOT_OTEL needs the packages of coinslot[otel]: ")


def fresh(program: str) -> Any:
    """What a new interpreter prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COINSLOT_", "OTEL_"))}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
        check=True,
    )
    return json.loads(ended.stdout)
