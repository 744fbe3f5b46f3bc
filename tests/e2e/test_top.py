"""`coinslot-ops top` beside a running service."""

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from coinslot import sandbox_file, wallet_source
from coinslot.buyer import Buyer
from coinslot.delivery import RetryPolicy
from coinslot.errors import CoinslotError
from coinslot.wallet import Wallet
from shared.x402.networks import Rail
from tests.time_limits import patience

TOP = [str(Path(sys.executable).with_name("coinslot-ops")), "top"]


def environment(service: Any) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("COINSLOT_")}
    own |= dict(line.split("=", 1) for line in service.environment)
    return {**own, "COINSLOT_PORT": service.base_url.rpartition(":")[2], "COLUMNS": "160", "TERM": "xterm"}


def buyer(service: Any) -> Buyer:
    """One that does not try again."""
    signer = wallet_source.sandbox_signer(sandbox_file.read(service.var / "sandbox.json"), Rail.BASE)
    return Buyer(service.base_url, Wallet((signer,)), max_price=None, retry_policy=RetryPolicy(budget_s=0))


def test_what_is_piped_is_told_once(service: Any) -> None:
    """Every pool, every rail, and a job that has failed with its endpoint, its cause and whose fault it is."""
    with buyer(service) as bought:
        bought.call("echo", {"message": "a"})
        with pytest.raises(CoinslotError) as failed:
            bought.call("rss", {"url": "https://feeds.example.com/"})
    assert failed.value.charged is True
    ended = subprocess.run(
        TOP, env=environment(service), capture_output=True, text=True, timeout=patience(60), check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    for pool in ("micro", "fast", "net", "chain", "render", "whois", "youtube"):
        assert re.search(rf"^{pool} +1 +\d+ +\d+ +[0-9.]+ s +ok", ended.stdout, re.MULTILINE), ended.stdout
    assert "base ok" in ended.stdout
    assert "xrpl-rlusd ok" in ended.stdout
    assert re.search(r"FAILURE +rss +connection_refused +caller +eip155:8453:", ended.stdout)


def test_a_terminal_is_refreshed_until_ctrl_c(service: Any) -> None:
    """A call that is paid meanwhile is counted; Ctrl-C ends it well."""
    master, terminal = pty.openpty()
    process = subprocess.Popen(TOP, env=environment(service), stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    shown = b""
    give_up_at = time.monotonic() + patience(60)
    try:
        with buyer(service) as bought:
            while not re.search(rb"[1-9][0-9.]* answered|0\.[1-9] answered", re.sub(rb"\x1b\[[0-9;]*m", b"", shown)):
                assert time.monotonic() < give_up_at, shown[-2000:]
                bought.call("echo", {"message": "a"})
                while select.select([master], [], [], 0.05)[0]:
                    shown += os.read(master, 65536)
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):  # the terminal's end
            while os.read(master, 65536):
                pass
        assert process.wait(patience(30)) == 0
    finally:
        process.kill()
        process.wait()
        os.close(master)
