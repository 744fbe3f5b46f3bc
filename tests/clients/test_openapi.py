"""Programs that others wrote read /openapi.json: generated clients type-check and call, testers and auditors find nothing."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from shared.x402.wire import X402_VERSION
from tests.clients.generators import BASE, LISTED, Tools, payments_of, succeeded
from tests.clients.shop import Shop

pytestmark = pytest.mark.timeout(300)  # the first run fetches the programs

HERE = Path(__file__).parent

MYPY = """
[mypy]
strict = true
[mypy-generated.client]
# The generator's own template, the same for every document, passes on `*args: object`.
disable_error_code = arg-type
"""


def _is_challenged(done: subprocess.CompletedProcess[str]) -> None:
    succeeded(done)
    printed = json.loads(done.stdout)
    assert (printed["status"], printed["elsewhere"]) == (402, [])
    assert BASE in printed["networks"]


def test_a_generated_python_client_makes_an_unpaid_call(tools: Tools, python_client: Path, shop: Shop) -> None:
    """mypy finds nothing, and the answer is a PaymentRequired with its offers."""
    (python_client / "mypy.ini").write_text(MYPY)
    shutil.copy(HERE / "unpaid_call.py", python_client)
    mypy = [sys.executable, "-m", "mypy", "--python-executable", tools.python, "--cache-dir=/dev/null"]
    succeeded(tools.run(python_client, *mypy, "unpaid_call.py", "generated"))
    models = (python_client / "generated" / "models" / "__init__.py").read_text()
    assert "ProblemDetails" in models
    assert "YoutubeUpstreamProblem" in models
    _is_challenged(tools.run(python_client, tools.python, "unpaid_call.py", URL=shop.base_url))


def test_a_generated_typescript_client_makes_an_unpaid_call(tools: Tools, typescript_client: Path, shop: Shop) -> None:
    """tsc finds nothing, and the error is a challenge or a problem by its type."""
    shutil.copy(HERE / "unpaid_call.mts", typescript_client)
    tools.check_types(typescript_client, "unpaid_call.mts")
    loopback = (HERE / "loopback.mjs").as_uri()
    program = [tools.node, "--import", loopback, "unpaid_call.mjs"]
    _is_challenged(tools.run(typescript_client, *program, URL=shop.base_url))


def test_the_discovery_audit_warns_of_nothing(
    tools: Tools, folder: Path, shop: Shop, sell: Callable[[str], int]
) -> None:
    """@agentcash/discovery, with which x402scan and AgentCash read shops, sees every listed call, paid and priced; and with
    other prices all that are sold still."""
    _audit(tools, folder, shop, LISTED)
    assert sell('"chain/*" = 0.25\nwhois = 0.011\nyoutube = false\n') == 0
    _audit(tools, folder, shop, LISTED - {"/v1/cdp/youtube"})


def _audit(tools: Tools, folder: Path, shop: Shop, sold: set[str]) -> None:
    program = folder / "node_modules" / "@agentcash" / "discovery" / "bin" / "discovery.js"
    loopback = (HERE / "loopback.mjs").as_uri()
    done = tools.run(folder, tools.node, "--import", loopback, program, "discover", shop.base_url, "--json")
    succeeded(done)
    found = json.loads(done.stdout)
    assert {resource["path"] for resource in found["resources"]} == sold
    has_icon = httpx.get(f"{shop.base_url}/favicon.ico", trust_env=False).status_code == 200
    assert [warning["code"] for warning in found["warnings"]] == ([] if has_icon else ["FAVICON_MISSING"])


def test_the_catalogues_name_the_fee_payer_that_the_live_challenge_names(shop: Shop) -> None:
    """The facilitator of Solana says it some time after the start, to each process of the API."""

    def fee_payers(offers: list[dict[str, Any]]) -> list[str | None]:
        return [offer["extra"].get("feePayer") for offer in offers if offer["network"].startswith("solana:")]

    with httpx.Client(base_url=shop.base_url, trust_env=False) as http:
        until = time.monotonic() + 60
        while True:
            live = fee_payers(http.post("/v1/cdp/echo").json()["accepts"])
            shown = [
                fee_payers(http.get(path).json()["items"][0]["accepts"])
                for path in ("/bazaar.json", "/discovery/resources", "/.well-known/x402", "/.well-known/x402.json")
            ]
            if (live and None not in live and shown == [live] * 4) or time.monotonic() > until:
                break
            time.sleep(0.2)
    assert live
    assert shown == [live] * 4


Testing = Callable[..., dict[str, dict[int, int]]]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where hypothesis keeps what it has computed of Unicode, which takes seconds: once for all its runs here."""
    return tmp_path_factory.mktemp("hypothesis")


@pytest.fixture
def schemathesis(tools: Tools, folder: Path, shop: Shop, tables: Path) -> Testing:
    """Runs schemathesis, which must find nothing; how often each path gave each status."""

    def schemathesis(
        *arguments: str, document: str = "openapi.json", payments: dict[str, str], **expected: list[int]
    ) -> dict[str, dict[int, int]]:
        checks = [f"[checks.{name}]\nexpected-statuses = {statuses}\n" for name, statuses in expected.items()]
        (folder / "schemathesis.toml").write_text("".join(checks))
        (folder / "payments.json").write_text(json.dumps(payments))
        program = [tools.python.parent / "schemathesis", "run", document, "--url", shop.base_url]
        # The same cases in every run. A bare GET of a paid call is answered with its challenge, because indexers ask so.
        # One worker: in Python of before 2024 (python/cpython#106905), two threads that parse Python code disturb each
        # other, and hypothesis parses it.
        program += ["--generation-deterministic", "--no-shrink", "--continue-on-failure", "--no-color", "--workers=1"]
        done = tools.run(
            folder,
            *program,
            "--exclude-checks=unsupported_method",
            "--warnings=off",
            *arguments,
            HYPOTHESIS_STORAGE_DIRECTORY=str(tables),
            PYTHONPATH=str(HERE),
            SCHEMATHESIS_HOOKS=str(HERE / "schemathesis_hooks.py"),
            SCHEMATHESIS_PAYMENTS=str(folder / "payments.json"),
            SCHEMATHESIS_COUNTS=str(folder / "counts.json"),
        )
        assert "No issues found" in succeeded(done)
        counts = json.loads((folder / "counts.json").read_text())
        assert counts["elsewhere"] == []
        found: dict[str, dict[int, int]] = {}
        for path, status, times in counts["answers"]:
            found.setdefault(path, {})[status] = times
        print(sum(sum(statuses.values()) for statuses in found.values()), "calls")
        return found

    return schemathesis


def test_without_a_payment_every_body_is_answered_402(schemathesis: Testing) -> None:
    """Good and bad bodies alike, with a challenge and headers that are instances of what is documented."""
    expected = {"positive_data_acceptance": [402], "negative_data_rejection": [402]}
    found = schemathesis("--phases=examples,fuzzing", "--max-examples=2", payments={}, **expected)
    assert set(found) == LISTED
    assert {status for statuses in found.values() for status in statuses} == {402}


def test_a_bad_body_is_refused_before_its_payment_is_used(schemathesis: Testing, shop: Shop) -> None:
    """What no schema allows is a documented 400, with the same payment every time: none of them was settled."""
    payments = payments_of(shop)
    paths = [f"--include-path={path}" for path in payments]
    expected = {"negative_data_rejection": [400, 413, 415]}
    arguments = ["--mode=negative", "--phases=coverage,fuzzing", "--max-examples=1", *paths]
    found = schemathesis(*arguments, payments=payments, **expected)
    assert set(found) == set(payments)
    assert all(400 in statuses and set(statuses) <= {400, 413, 415} for statuses in found.values()), found


def test_the_free_documents_keep_to_what_is_documented(schemathesis: Testing, folder: Path) -> None:
    """Whatever `type`, `limit` and `offset` are asked for: a page, or a problem document."""
    json_body = {"description": "The document.", "content": {"application/json": {"schema": {"type": "object"}}}}
    refusal = json.loads((folder / "openapi.json").read_text())["components"]["schemas"]["ProblemDetails"]
    problem = {"description": "Refused.", "content": {"application/problem+json": {"schema": refusal}}}
    number = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
    query = {
        "type": {"type": "string"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "offset": number,
    }
    page = {
        "type": "object",
        "required": ["x402Version", "items", "pagination"],
        "properties": {
            "x402Version": {"const": X402_VERSION},
            "items": {"type": "array", "maxItems": 100},
            "pagination": {"required": ["limit", "offset", "total"], "additionalProperties": number},
        },
    }
    paths: dict[str, Any] = {
        path: {"get": {"responses": {"200": json_body}}}
        for path in ("/openapi.json", "/bazaar.json", "/.well-known/x402", "/.well-known/x402.json")
    }
    paths["/discovery/resources"] = {
        "get": {
            "parameters": [{"name": name, "in": "query", "schema": schema} for name, schema in query.items()],
            "responses": {"200": json_body | {"content": {"application/json": {"schema": page}}}, "400": problem},
        }
    }
    document = {"openapi": "3.1.0", "info": {"title": "Free", "version": "1"}, "paths": paths}
    (folder / "free.json").write_text(json.dumps(document))
    found = schemathesis("--phases=coverage,fuzzing", "--max-examples=10", document="free.json", payments={})
    assert set(found) == set(paths)
    assert {200, 400} <= set(found["/discovery/resources"])
