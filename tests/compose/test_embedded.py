"""What `scripts/run` says of settings that cannot be used, before it starts anything; and what it keeps from run to run."""

import contextlib
import os
import socket
import tempfile
from pathlib import Path

import pytest
import redis

from compose import serve
from compose.embedded import embed
from compose.preflight import check_ports, check_settings, memory_warning
from compose.procfile import PROCFILE, read_procfile
from compose.sandbox.child import claim_port
from compose.users import Account, Accounts
from shared.ledger.keys import LOST, RECHECK, in_every_bucket
from shared.nodes.json_rpc import JsonRpc
from shared.settings.service import InvalidSetting, Settings
from tests.each import each


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"HOSTS": "feeds.example.com"}, "COINSLOT_HOSTS: write name=address"),
        ({"EGRESS_ALLOW": "127.0.0.1/8"}, "COINSLOT_EGRESS_ALLOW"),
        ({"CA_FILE": "/nowhere/ca.pem"}, "COINSLOT_CA_FILE: there is no file"),
        ({"PRODUCTION": "1", "NOW": "2026-11-20T15:04:05Z"}, "COINSLOT_NOW is for sandboxes"),
        ({"EGRESS_PROXY_FILE": "/nowhere/proxies.toml"}, "cannot read the egress proxy file '/nowhere/proxies.toml'"),
        ({"PORT": "0"}, "COINSLOT_PORT"),
        ({"RATE_LIMITS": "fast"}, "COINSLOT_RATE_LIMITS: 'fast' is not"),
        ({"CHROMIUM": "/nowhere/chromium"}, "COINSLOT_CHROMIUM: '/nowhere/chromium' is not a program"),
        ({"KEY_FILE": "/nowhere/key"}, "cannot read the key file /nowhere/key: there is no such file"),
        ({"RECEIPT_KEY_FILE": "/nowhere/receipt"}, "cannot read the key file /nowhere/receipt: there is no such file"),
        ({"SOLANA_FACILITATOR_HEADERS_FILE": "/nowhere/headers"}, "cannot read the headers file"),
        ({"SOLANA_FACILITATOR_CDP_KEY_FILE": "/nowhere/cdp"}, "cannot read the CDP key file '/nowhere/cdp'"),
        (
            {
                "EVM_LISTING_FACILITATOR_URL": "https://a.example",
                "EVM_LISTING_FACILITATOR_CDP_KEY_FILE": "/nowhere/cdp",
            },
            "cannot read the CDP key file '/nowhere/cdp'",
        ),
        ({"EVM_FACILITATOR_URL": "https://facilitator.example", "EVM_PAY_TO": "0x1"}, "COINSLOT_EVM_PAY_TO"),
        ({"EVM_NETWORK": "eip155:5"}, "COINSLOT_EVM_NETWORK: the sandbox has eip155:8453, .*, not eip155:5"),
        ({"EVM_FACILITATOR_URL": "https://facilitator.example"}, "no rail is configured"),
        (
            {"LEDGER_FREE_MB": "999999999"},
            r"the disk at /.* has [0-9]+ MB free, and the ledger in .* needs 999999999 MB",
        ),
    ],
)
def test_a_wrong_setting_is_named(settings: dict[str, str], said: str, tmp_path: Path) -> None:
    """In one sentence, not in the log of a process that cannot start."""
    given = {f"COINSLOT_{name}": value for name, value in settings.items()}
    with pytest.raises(InvalidSetting, match=said), embed(given, tmp_path):
        raise AssertionError("it was started")
    assert not (tmp_path / "sandbox").exists()


@each(
    ("setting", "content"),
    [
        ("COINSLOT_KEY_FILE", "1f" * 32),
        ("COINSLOT_EGRESS_PROXY_FILE", '[net]\nuse = "always"\nproxies = ["socks5://a:b@192.0.2.1:1080"]'),
    ],
)
def test_a_secret_that_others_can_read_is_refused(tmp_path: Path, setting: str, content: str) -> None:
    """Before anything is started, with what to do."""
    key = tmp_path / "key"
    key.write_text(content)
    key.chmod(0o644)
    with (
        pytest.raises(InvalidSetting, match=f"{setting}: others can read {key}: chmod 600 {key}"),
        embed({setting: str(key)}, tmp_path),
    ):
        raise AssertionError("it was started")
    assert not (tmp_path / "sandbox").exists()


def test_a_wrong_price_list_is_reported_before_anything_starts(tmp_path: Path) -> None:
    """As the API would refuse it. It is no secret: everybody may read a right one."""
    prices = tmp_path / "prices.toml"
    given = {"COINSLOT_PRICES_FILE": str(prices)}
    prices.write_text('ecko = "0.1"')
    with pytest.raises(InvalidSetting, match=f"COINSLOT_PRICES_FILE: {prices}: 'ecko' is no call: did you mean echo"):
        check_settings(Settings.from_env(given), lambda _: True, Accounts())
    prices.write_text('echo = "0.1"')
    prices.chmod(0o644)
    check_settings(Settings.from_env(given), lambda setting: setting != "PRICES_FILE", Accounts())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts processes of other users")
@each(
    ("name", "user"),
    [("KEY_FILE", "61200"), ("EVM_SETTLER_KEY_FILE", "61201"), ("EVM_JOURNAL_FILE", "61201")],
)
def test_files_are_checked_as_the_user_of_the_process_that_needs_them(name: str, user: str) -> None:
    """Given a file of root's alone, then the user who cannot use it is named; the other one is not."""
    users = Accounts(Account("61200", 61_200, 61_200, "/"), Account("61201", 61_201, 61_201, "/"))
    with tempfile.TemporaryDirectory() as folder:  # a folder of pytest's is closed to other users
        Path(folder).chmod(0o711)
        file = Path(folder) / "file"
        file.write_text("1f" * 32)
        file.chmod(0o600)
        given = {f"COINSLOT_{name}": str(file)}
        with pytest.raises(InvalidSetting, match=f"the user {user} cannot (read|write) {file}"):
            check_settings(Settings.from_env(given), lambda setting: f"COINSLOT_{setting}" not in given, users)
        os.chown(file, int(user), int(user))
        check_settings(Settings.from_env(given), lambda setting: f"COINSLOT_{setting}" not in given, users)


@pytest.mark.enable_socket
@each("name", ["PORT", "DASHBOARD_PORT", "FACILITATOR_PORT"])
def test_a_taken_port_is_reported_before_anything_starts(name: str, tmp_path: Path) -> None:
    """With its setting. What is not started needs no port."""
    with socket.create_server(("127.0.0.1", 0)) as other_server:
        given = {"COINSLOT_PORT": str(claim_port(0)), f"COINSLOT_{name}": str(other_server.getsockname()[1])}
        with (
            pytest.raises(InvalidSetting, match=rf"port [0-9]+ cannot be used \(.* in use\): set COINSLOT_{name} to"),
            embed(given, tmp_path, scale={}),
        ):
            raise AssertionError("it was started")
        check_ports(Settings.from_env(given), given, {"api": 0, "dashboard": 0, "facilitator": 0})
    assert not (tmp_path / "sandbox").exists()


def test_too_little_memory_is_a_sentence() -> None:
    """A machine of 512 MB, of 1 GB and of 2 GB, with both Procfiles."""
    usual, small = len(read_procfile()), len(read_procfile(PROCFILE.with_name("Procfile.small")))
    said = memory_warning(usual, 512_000_000)
    assert said.startswith(
        f"0.5 GB of memory are free, and {usual} processes need about 1.4 GB: the kernel will kill some"
    )
    assert "--procfile compose/Procfile.small needs 1.0 GB" in said
    assert memory_warning(small, 1_000_000_000) == memory_warning(usual, 2_000_000_000) == ""


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    """With what is wrong about it."""
    (tmp_path / "file").touch()
    with (
        pytest.raises(InvalidSetting, match=r"nothing can be written to the folder .*/file/var \(Not a directory\)"),
        embed({}, tmp_path / "file" / "var"),
    ):
        raise AssertionError("it was started")


@pytest.mark.enable_socket
def test_nothing_is_looked_for_on_chains_that_begin_anew(tmp_path: Path) -> None:
    """Given a run whose payments were settled on local chains, and one on a chain that is not, when the same folder serves
    again, then the watch for lost payments has the last one only, and no rail is held back; the ledger keeps the rest."""
    given = {"COINSLOT_DNS_SERVER": "127.0.0.1:53"}  # so that no upstreams are started
    elsewhere = "cosmos:hub:somebody"
    with embed(given, tmp_path) as first, redis.Redis.from_url(first.settings.ledger_url) as ledger:
        ledger.zadd(RECHECK[1], {"eip155:8453:0xaa": 1, "solana:mainnet:a": 2})
        ledger.zadd(RECHECK[63], {"stellar:pubnet:b": 3, "xrpl:0:c": 4, elsewhere: 5})
        for rail in ("eip155:8453:0xaa", "xrpl:0:RLUSD", elsewhere):
            ledger.zadd(f"{LOST[63]}:{rail}", {str(n): n for n in range(20)})
        ledger.set("coinslot:{00}:answer:eip155:8453:0xaa", b"kept")

    with embed(given, tmp_path) as second, redis.Redis.from_url(second.settings.ledger_url) as ledger:
        assert (ledger.exists(RECHECK[1]), ledger.zrange(RECHECK[63], 0, -1)) == (0, [elsewhere.encode()])
        assert ledger.keys(in_every_bucket("lost:*")) == [f"{LOST[63]}:{elsewhere}".encode()]
        assert ledger.get("coinslot:{00}:answer:eip155:8453:0xaa") == b"kept"


@pytest.mark.enable_socket
def test_books_of_a_real_network_are_kept(tmp_path: Path) -> None:
    """Those of local chains begin anew with them."""
    (tmp_path / "books").mkdir()
    given = {"COINSLOT_DNS_SERVER": "127.0.0.1:53"}
    with embed({**given, "COINSLOT_XRPL_PAY_TO": "rKRuYKh7Y3nPoVzEKDRUpbq6aZyP8XWdCT"}, tmp_path):
        assert (tmp_path / "books").exists()
    with embed(given, tmp_path):
        assert not (tmp_path / "books").exists()


@pytest.mark.enable_socket
def test_endpoints_read_the_local_chains_unless_nodes_are_given(tmp_path: Path) -> None:
    """Each chain has its own node, and an operator's is not replaced."""
    given = {"COINSLOT_DNS_SERVER": "127.0.0.1:53", "COINSLOT_RPC_ETHEREUM_URLS": "https://node.example/key"}
    with embed(given, tmp_path) as embedded:
        (base,) = embedded.settings.rpc_base_urls
        assert JsonRpc(base)("eth_chainId") == hex(8453)
        assert embedded.settings.rpc_ethereum_urls == ("https://node.example/key",)
        assert "COINSLOT_RPC_ETHEREUM_URLS" not in embedded.environment
    with embed({"COINSLOT_DNS_SERVER": "127.0.0.1:53"}, tmp_path) as embedded:
        (ethereum,) = embedded.settings.rpc_ethereum_urls
        assert JsonRpc(ethereum)("eth_chainId") == "0x1"


@pytest.mark.enable_socket
def test_metrics_never_fail_a_start(tmp_path: Path) -> None:
    """A port that is set and taken is reported in a sentence; one that is not set becomes another one."""
    with socket.create_server(("127.0.0.1", 0)) as other_server:
        taken = other_server.getsockname()[1]
        said = serve._metrics(Settings(metrics_port=taken), {})
        assert said == (
            f"none: port {taken} cannot be used (Address already in use): set COINSLOT_METRICS_PORT to another one"
        )
    free = claim_port(0)
    assert serve._metrics(Settings(metrics_port=free), {}) == f"http://127.0.0.1:{free}/metrics"
    assert serve._metrics(Settings(metrics_port=free), {"exporter": 0}) == "none: no exporter is started"

    usual = Settings().metrics_port
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # a service on this machine has it
            stack.enter_context(socket.create_server(("127.0.0.1", usual)))
        with embed({"COINSLOT_DNS_SERVER": "127.0.0.1:53"}, tmp_path) as embedded:
            assert embedded.settings.metrics_port != usual
            assert embedded.settings.metrics_dir == str(tmp_path / "metrics")
