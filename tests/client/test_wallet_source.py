"""Where the command finds its key, and what it says when there is none."""

import base64
import itertools
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from stellar_sdk import Keypair
from xrpl.wallet import Wallet as Xrpl

from coinslot.evm_signer import EvmSigner
from coinslot.options import Options
from coinslot.wallet_source import OwnAccounts, find
from shared.money import Price
from shared.networks import NETWORKS
from shared.x402.evm import check, offers
from shared.x402.networks import EVM_USDC, Rail
from shared.x402.wire import Payment
from tests.client.conftest import KEY, PAY_TO, Canned, Command, Seen, Shop, packed
from tests.each import each


def test_the_wallet_is_shown_without_its_key(command: Command, key_file: Path) -> None:
    """Address, network and where it came from."""
    run = command("wallet", "--key-file", str(key_file), "--json")
    assert run.json == {
        "ok": True,
        "address": EvmSigner(KEY).address,
        "network": "eip155:8453",
        "asset": "USDC",
        "rail": "base",
        "source": "key file",
        "path": str(key_file),
    }
    assert run.err == ""
    assert EvmSigner(KEY).address in command("wallet", "--key-file", str(key_file)).out


def test_the_order_of_sources(
    command: Command, key_file: Path, sandbox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--key-file, then COINSLOT_WALLET_KEY_FILE, then the sandbox file."""
    other = tmp_path / "other.key"
    other.write_text("22" * 32)
    other.chmod(0o600)
    third = command("wallet", "--json").json
    monkeypatch.setenv("COINSLOT_WALLET_KEY_FILE", str(other))
    second = command("wallet", "--json").json
    first = command("wallet", "--json", "--key-file", str(key_file)).json
    assert (third["source"], third["path"]) == ("sandbox", str(sandbox))
    assert (second["source"], second["path"]) == ("key file", str(other))
    assert (first["source"], first["path"]) == ("key file", str(key_file))


def test_the_sandbox_file_is_found_upward(
    command: Command, sandbox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a folder below, and wherever COINSLOT_SANDBOX_FILE says."""
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert command("wallet", "--json").json["path"] == str(sandbox)
    moved = sandbox.rename(tmp_path / "elsewhere.json")
    assert command("wallet").code == 2
    monkeypatch.setenv("COINSLOT_SANDBOX_FILE", str(moved))
    assert command("wallet", "--json").json["path"] == str(moved)


def test_without_a_wallet_the_command_says_what_to_do(command: Command) -> None:
    """Three ways out, in one line."""
    run = command("wallet")
    assert (run.code, run.out) == (2, "")
    for way in ("--key-file", "COINSLOT_WALLET_KEY_FILE", "scripts/run"):
        assert way in run.err
    assert run.err.count("\n") == 1


def test_a_key_file_that_others_can_read_is_used_with_a_warning(command: Command, key_file: Path) -> None:
    """The warning names the file and the remedy."""
    key_file.chmod(0o644)
    run = command("wallet", "--key-file", str(key_file))
    assert run.code == 0
    assert f"chmod 600 {key_file}" in run.err


@each(
    "content",
    [b"", b"c0ffee", b"secret-canary words", b"c0ffee01" * 8 + b"00", b"zz" * 32, b"\xff\xfe\x00", b"00" * 32, None],
)
def test_a_malformed_key_file_is_refused_without_its_content(
    command: Command, key_file: Path, tmp_path: Path, content: bytes | None
) -> None:
    """Whatever is in it stays in it. A missing file and a folder are refused, too."""
    key_file.unlink()
    if content is not None:
        key_file.write_bytes(content)
    for path in (key_file, tmp_path):
        run = command("wallet", "--key-file", str(path), "--json")
        assert (run.code, run.json["error"]) == (2, "wallet_unusable")
        assert "canary" not in run.out + run.err
        assert "c0ffee" not in run.out + run.err
    key_file.touch()


def test_a_key_in_the_place_of_a_file_name_is_not_repeated(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither as an option's value nor in the environment is a key accepted or printed."""
    for text in (KEY.hex(), "0x" + KEY.hex()):
        run = command("wallet", "--key-file", text)
        assert run.code == 2
        assert "looks like a key" in run.err
        monkeypatch.setenv("COINSLOT_WALLET_KEY_FILE", text)
        assert command("wallet", "--json").code == 2
    phrase = "abandon ability able about above absent absorb abstract absurd abuse access accident"
    assert "abandon" not in command("wallet", "--key-file", phrase).err


def test_no_option_takes_a_key(command: Command) -> None:
    """A guessed option or a key as the call's name is refused without printing it."""
    assert command("call", "echo", "--key", KEY.hex()).code == 2
    assert command("call", "0x" + KEY.hex()).code == 2
    assert command("call", "echo", "{}", KEY.hex()).code == 2
    assert command("call", KEY.hex(), "--json").code == 2


def test_a_sandbox_file_that_cannot_be_used_is_refused(command: Command, sandbox: Path) -> None:
    """By its name where it is malformed. Its USDC must be the known contract of a known network."""
    document = json.loads(sandbox.read_text())
    for content in ("", "{", "[]", '{"baseUrl": 1}'):
        sandbox.write_text(content)
        run = command("wallet")
        assert (run.code, str(sandbox) in run.err) == (2, True)
    token = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
    changes = [{"usdc": token}, *({"chainId": chain} for chain in (31337, "8453"))]
    for change in [*changes, {"payerKey": "c0ffee"}, {"payerKey": "00" * 32}]:
        sandbox.write_text(json.dumps({**document, "evm": {**document["evm"], **change}}))
        assert (command("wallet").code, command("call", "echo").code) == (2, 2)


@each(("rail", "library"), [("solana", "solders.keypair"), ("stellar", "stellar_sdk")])
def test_a_library_that_is_not_installed_is_named(
    command: Command, key_file: Path, monkeypatch: pytest.MonkeyPatch, rail: str, library: str
) -> None:
    """The buyer alone comes with what Base needs; the others are extras."""
    monkeypatch.setitem(sys.modules, library, None)
    run = command("wallet", "--rail", rail, "--key-file", str(key_file), "--rpc-url", "http://127.0.0.1:9")
    assert (run.code, f"pip install 'coinslot-client[{rail}]'" in run.err) == (2, True)


def test_a_key_pays_on_a_test_network_when_that_is_said(tmp_path: Path) -> None:
    """And on the rail's main network otherwise. Every network of every rail."""
    secrets = {"evm": "11" * 32, "solana": "11" * 32, "stellar": Keypair.random().secret, "xrpl": Xrpl.create().seed}
    path = tmp_path / "key"
    for row in NETWORKS.values():
        path.write_text(secrets[row.package])
        path.chmod(0o600)
        for rail, network in itertools.product(row.tokens, (None, *row.names)):
            node = "http://127.0.0.1:9"
            found = find(Options(key_file=str(path), rail=rail, rpc_url=node, network=network, env={}, folder=tmp_path))
            assert (found.signer.rail, found.signer.network) == (rail, network or row.default)


def _write(path: Path, secret: str) -> str:
    path.write_text(secret)
    path.chmod(0o600)
    return str(path)


def test_each_rail_may_have_a_key(tmp_path: Path) -> None:
    """Base's is asked first, then the others in the order of the rails. A named rail takes its own; a named file is the only
    one."""
    other = Xrpl.create()
    general, base = _write(tmp_path / "general", "11" * 32), _write(tmp_path / "base", "22" * 32)
    env = {
        "COINSLOT_WALLET_KEY_FILE": general,
        "COINSLOT_WALLET_KEY_FILE_ETHEREUM": _write(tmp_path / "ethereum", "33" * 32),
        "COINSLOT_WALLET_KEY_FILE_XRPL_RLUSD": _write(tmp_path / "xrpl", str(other.seed)),
        "COINSLOT_WALLET_RPC_URL_XRPL_RLUSD": "http://127.0.0.1:9",
    }

    def paying(rail: Rail | None = None, key_file: str | None = None, **more: str) -> list[tuple[Rail, str]]:
        found = find(Options(key_file=key_file, rail=rail, env=env | more, folder=tmp_path))
        return [(signer.rail, signer.address) for signer in OwnAccounts(found.signer, found.others)]

    rlusd, ethereum = (Rail.XRPL_RLUSD, other.address), (Rail.ETHEREUM, EvmSigner(b"\x33" * 32).address)
    assert paying() == [(Rail.BASE, EvmSigner(b"\x11" * 32).address), rlusd, ethereum]
    assert paying(COINSLOT_WALLET_KEY_FILE_BASE=base) == [(Rail.BASE, EvmSigner(b"\x22" * 32).address), rlusd, ethereum]
    assert paying(COINSLOT_WALLET_KEY_FILE="") == [rlusd, ethereum]
    assert paying(Rail.XRPL_RLUSD) == [rlusd]
    assert paying(key_file=base) == [(Rail.BASE, EvmSigner(b"\x22" * 32).address)]


def test_a_key_is_looked_at_when_those_before_it_cannot_pay(
    command: Command, shop: Shop, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that is sold on Ethereum alone is paid there. Until then that file may be as it likes, but for its permissions."""
    ethereum = Path(_write(tmp_path / "ethereum.key", "no key"))
    for name, value in (("", key_file), ("_ETHEREUM", ethereum)):
        monkeypatch.setenv(f"COINSLOT_WALLET_KEY_FILE{name}", str(value))
    call = ("call", "echo", "{}", "--url", shop.base_url, "--max-price", "0.01")
    assert command(*call).code == 0
    ethereum.chmod(0o644)
    assert f"chmod 600 {ethereum}" in command(*call).err

    [offer] = offers(EVM_USDC["eip155:1"], Price.of("0.001"), PAY_TO)
    payers: list[str] = []

    def sell(seen: Seen) -> Canned:
        payment = msgspec.json.decode(base64.b64decode(seen.payment or ""), type=Payment)
        assert payment.accepted == offer
        payers.append(check(offer, payment.payload).payer.lower())
        receipt = shop.receipt(network="eip155:1", payer=payers[-1])
        return Canned(200, b"{}", {"payment-response": packed(receipt)})

    shop.unpaid = [shop.demand({**shop.challenge(), "accepts": [msgspec.to_builtins(offer)]})]
    shop.paid = [sell]
    refused = command(*call)
    assert (refused.code, shop.payments[2:]) == (2, [])
    _write(ethereum, "33" * 32)
    assert (command(*call).code, payers) == (0, [EvmSigner(b"\x33" * 32).address.lower()])
    assert command(*call, "--rail", "base").code == 3


def test_the_documents_command_writes_a_wallet_of_the_sandbox(
    command: Command, shop: Shop, sandbox: Path, tmp_path: Path
) -> None:
    """For its owner alone; and the call beneath it pays."""
    guide = (Path(__file__).parents[2] / "docs" / "client.md").read_text()
    write, call = re.findall(r"^    (.+wallet\.key.*)$", guide, re.MULTILINE)
    subprocess.run(["sh", "-c", write], cwd=tmp_path, check=True)
    assert (tmp_path / "wallet.key").stat().st_mode & 0o777 == 0o600
    sandbox.unlink()
    run = command(*shlex.split(call.replace("http://127.0.0.1:4020", shop.base_url))[1:])
    assert (run.code, "paid 0.001 USDC" in run.err) == (0, True)
