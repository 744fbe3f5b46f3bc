"""The embedded ledger is started again when it dies, with what it had, as soon as that can be; until then it says why not."""

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import redis

from compose.sandbox.child import ROOT
from compose.sandbox.kept_redis import KeptRedis
from tests.workers.until import until

pytestmark = pytest.mark.enable_socket

PATIENCE_S = 30.0


def test_a_damaged_ledger_stays_away_loudly_until_it_is_repaired(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Given a ledger whose file is damaged in its middle, and whose log cannot be written, when it dies, then it is not served
    from, each try says why, and the repaired one is there again without anybody's command."""
    kept = KeptRedis("ledger", tmp_path)
    try:
        with redis.Redis.from_url(kept.url) as client:
            for number in range(3):
                client.set(f"payment {number}", "x" * 100)
            first = kept.server
            (file,) = (tmp_path / "sandbox" / "ledger" / "appendonlydir").glob("*.incr.aof")
            right = file.read_bytes()
            file.write_bytes(b"junk".join(right.rsplit(b"*3", 1)))
            log = tmp_path / "sandbox" / "log"
            log.rename(tmp_path / "log")
            log.write_text("in the way")
            with caplog.at_level(logging.ERROR):
                first.process.kill()
                until(lambda: "the embedded ledger cannot be started: [Errno" in caplog.text)
                log.unlink()
                until(lambda: "Bad file format reading the append only file" in caplog.text)
            assert kept.server is first
            file.write_bytes(right)
            until(lambda: kept.server is not first)
            assert client.get("payment 1") == b"x" * 100
    finally:
        kept.stop()


FULL = """
import os, redis, sys, time
from pathlib import Path
from compose.sandbox.kept_redis import KeptRedis

var = Path(sys.argv[1])
ballast = var / "ballast"
ballast.write_bytes(bytes(3_000_000))
kept = KeptRedis("ledger", var)
ledger = redis.Redis.from_url(kept.url)
taken = 0
try:
    while True:
        ledger.set(f"k{taken}", bytes(50_000))
        taken += 1
except redis.ConnectionError:
    ballast.unlink()
    while True:
        try:
            ledger.set("more", 1)
            break
        except redis.ConnectionError:
            time.sleep(0.05)
assert taken > 10
# Of the last one, nobody knows.
assert all(ledger.strlen(f"k{number}") == 50_000 for number in range(taken))
kept.stop()
"""


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts a disk of its own")
def test_it_continues_when_a_full_disk_has_room_again(tmp_path: Path) -> None:
    """Given a ledger that ends because its disk is full, when the disk has room again, then it has all that it had said it
    has, and takes more, without anybody's command."""
    in_small = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=6m tmpfs "$0" && exec "$@"', str(tmp_path)]
    if not shutil.which("unshare") or subprocess.run([*in_small, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a disk")
    command = [*in_small, sys.executable, "-c", FULL, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert "the embedded ledger ended with status 1 and is started again" in ended.stderr
