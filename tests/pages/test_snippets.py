"""The programs that a page shows are run as they stand there, against the installation that shows them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import html

from tests.clients import environments, programs

pytestmark = pytest.mark.timeout(300)  # the first run fetches the clients

CLIENTS = environments.LOCKS
ANSWER = {"ok": True, "service": "coinslot", "youSent": "hello"}


def snippet(shop: Any, name: str, key: str) -> str:
    """As the copy button would take it from the page."""
    page = html.fromstring(httpx.get(f"{shop.base_url}/bazaar/{name}", trust_env=False).text)
    text: str = page.get_element_by_id(key).cssselect("pre")[0].text
    return text


def run(command: list[str], folder: Path, program: str | None = None, **variables: str) -> str:
    """What it prints. Its environment is these variables and the way to our commands."""
    done = programs.run(command, folder, program, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def key_file(folder: Path, secret: str) -> None:
    path = folder / "wallet.key"
    path.touch(0o600)
    path.write_text(secret)


def test_curl_gets_the_challenge(shop: Any, tmp_path: Path) -> None:
    """402, with the offers that the page shows."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    said = run(["sh"], tmp_path, snippet(shop, "echo", "curl"))
    head, _, body = said.partition("\n\n") if "\r\n\r\n" not in said else said.partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 402")
    assert json.loads(body)["resource"]["url"] == f"{shop.base_url}/v1/cdp/echo"


def test_the_command_pays(shop: Any, tmp_path: Path) -> None:
    """From a key file, with the page's own --max-price."""
    key_file(tmp_path, shop.sandbox["evm"]["payerKey"])
    assert json.loads(run(["sh"], tmp_path, snippet(shop, "echo", "coinslot"))) == ANSWER


def test_the_official_python_client_pays(shop: Any, tmp_path: Path) -> None:
    """x402 2.25.0, which the tests have."""
    said = run(
        [sys.executable, "-"], tmp_path, snippet(shop, "echo", "python"), PAYER_KEY=shop.sandbox["evm"]["payerKey"]
    )
    assert json.loads(said) == ANSWER


@pytest.mark.parametrize("name", ["echo", "json-repair"])
def test_the_official_typescript_client_pays(shop: Any, tmp_path: Path, name: str) -> None:
    """@x402/fetch. Node runs the program as it is, because it has no type that would have to go."""
    packages = javascript()
    command = [shutil.which("node") or "", "--import", (CLIENTS / "loopback.mjs").as_uri(), "--input-type=module", "-"]
    key = shop.sandbox["evm"]["payerKey"].removeprefix("0x")
    said = json.loads(run(command, packages, snippet(shop, name, "typescript"), PAYER_KEY=key))
    assert said["ok"] is True


def test_the_typescript_is_typed(shop: Any, tools: Path, tmp_path: Path) -> None:
    """The compiler finds nothing, in its strict mode and with the clients' own types."""
    (tmp_path / "node_modules").symlink_to(javascript() / "node_modules")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    names = ["echo", "json-repair", "chain/erc20-balance"]
    for number, name in enumerate(names):
        (tmp_path / f"call{number}.ts").write_text(snippet(shop, name, "typescript"))
    (tmp_path / "frameworks.ts").write_text(programs.shown("x402 for TypeScript"))
    options = {
        "strict": True,
        "noEmit": True,
        "skipLibCheck": True,
        "target": "es2022",
        "module": "nodenext",
        "typeRoots": [str(tools / "@types")],
        "types": ["node"],
    }
    (tmp_path / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["*.ts"]}))
    done = subprocess.run(
        ["node", str(tools / "typescript" / "bin" / "tsc"), "--project", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_a_call_that_is_sold_on_the_xrp_ledger_alone(shop: Any, tmp_path: Path) -> None:
    """The command pays in RLUSD, with a node that the environment names."""
    ledger = shop.sandbox["xrpl"]
    key_file(tmp_path, ledger["payerSecret"])
    said = run(["sh"], tmp_path, snippet(shop, "xrpl-wallet-watch", "coinslot"), RPC_URL=ledger["rpcUrl"])
    assert json.loads(said)["ok"] is True


def test_the_python_client_of_the_xrp_ledger_pays(shop: Any, tmp_path: Path) -> None:
    """t54's x402-xrpl, which is not official."""
    try:
        interpreter = environments.python("xrpl")
    except environments.Unavailable as error:
        pytest.skip(str(error))
    ledger = shop.sandbox["xrpl"]
    program = "import loopback\n" + snippet(shop, "xrpl-wallet-watch", "python")
    variables = {"PAYER_SEED": ledger["payerSecret"], "RPC_URL": ledger["rpcUrl"], "PYTHONPATH": str(CLIENTS)}
    assert json.loads(run([str(interpreter), "-"], tmp_path, program, **variables))["ok"] is True


def javascript() -> Path:
    """The folder with the official JavaScript clients."""
    try:
        return environments.node()
    except environments.Unavailable as error:
        pytest.skip(str(error))
