"""The commands of docs/install.md are run as they stand there, as root, over folders of the system that are thrown away."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compose.processes import STOP_WITHIN_S
from compose.sandbox.child import ROOT, claim_port
from compose.sandbox.redis_server import find_redis
from shared.version import VERSION
from tests.time_limits import patience

UNIT = ROOT / "compose" / "systemd" / "coinslot.service"

PROGRAMS = {
    "bin/apt-get": """#!/bin/sh -eu
useradd --system --user-group --no-create-home redis
mkdir -p /etc/redis /var/lib/redis /etc/nginx/conf.d""",
    "bin/sysctl": "#!/bin/sh -eu",
    "scripts/install": '#!/bin/sh -eu\n[ "$1" = sandbox ] && ln -s {venv} "$2"',
    "shared/version.py": f'VERSION = "{VERSION}"',
    "bin/systemctl": """#!/bin/sh -eu
case $* in
*stop*) redis-cli -p 4022 SHUTDOWN NOSAVE ;;
*start*) sed s/4022/{port}/ /etc/redis/redis-ledger.conf | {redis} - >/dev/null & ;;
esac""",
    "bin/redis-cli": """#!{python}
import os, redis, sys, time
from redis.backoff import NoBackoff
from redis.retry import Retry
words = sys.argv[3:]
password = os.environ.get("REDISCLI_AUTH") or open("/etc/coinslot/redis.password").read().strip()
give_up_at = time.monotonic() + 20
while True:
    try:
        print(redis.Redis(port={port}, password=password, retry=Retry(NoBackoff(), 0)).execute_command(*words))
    except redis.ConnectionError:
        if "SHUTDOWN" not in words and time.monotonic() < give_up_at:
            time.sleep(0.01)
            continue
    break
""",
}
"""What stands for programs that change more than folders, or are not here. The server of the ledger is a real one, with the
configuration that the commands write; only its port is another."""

LAYERS = """
mount -t tmpfs tmpfs layers
for folder in etc var opt; do
    mkdir "layers/$folder" "layers/$folder.work"
    mount -t overlay overlay -o "lowerdir=/$folder,upperdir=layers/$folder,workdir=layers/$folder.work" "/$folder"
done
"""
CHECK = """
(set -a; . /etc/coinslot/coinslot.env; exec {python} -c '
import os
from compose import users
from compose.preflight import check_settings
from shared.process.setting_names import unknown
from shared.settings.service import Settings
users._probe = lambda account: None  # this checkout may be in a home
settings = Settings.from_env(os.environ)
check_settings(settings, lambda name: f"COINSLOT_{name}" not in os.environ, users.accounts(settings))
assert unknown(os.environ) == []
')
"""


@pytest.mark.skipif(
    os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "useradd", "openssl"))),
    reason="only root can lay other folders over those of the system",
)
def test_the_commands_install_back_up_and_restore(tmp_path: Path) -> None:
    """On a machine without anything, the users of the processes can use the settings, systemd takes the unit, the ledger keeps
    what it is sent, and a restored ledger has what it had at the backup."""
    install, update, back_up, restore = re.findall(
        r"^```sh\n(.*?)^```", (ROOT / "docs" / "install.md").read_text(), re.M | re.S
    )
    install = install.replace(
        "0x" + 40 * "0", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
    )  # nobody's: it would be refused
    values = {"venv": ROOT / ".venv", "redis": find_redis(), "python": sys.executable, "port": claim_port(0)}

    def filled(text: str) -> str:
        return re.sub(r"\{(venv|redis|python|port)\}", lambda found: str(values[found[1]]), text)

    for name, text in PROGRAMS.items():
        program = tmp_path / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(filled(text) + "\n")
        program.chmod(0o755)
    (tmp_path / "layers").mkdir()
    (tmp_path / "compose").symlink_to(ROOT / "compose")
    verify = "systemd-analyze verify /etc/systemd/system/coinslot.service\n" if shutil.which("systemd-analyze") else ""
    ledger = "redis-cli -p 4022 "
    updated = f"sed -i s/{VERSION}/9.9.9/ shared/version.py\n{update}[ $(readlink /opt/coinslot) = coinslot-9.9.9 ]\n"
    steps = [LAYERS, install, CHECK, verify, updated, "systemctl start redis-server@ledger\n"]
    steps += [f"{ledger} SET paid before\n"]
    steps += [back_up, f"{ledger} SET paid after\n", restore, f"{ledger} GET paid\n"]

    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", filled("".join(steps))],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=patience(60),
    )

    assert done.returncode == 0, done.stderr
    assert re.search(r"^0x[0-9a-fA-F]{40}$", done.stdout, re.M)
    assert done.stdout.splitlines()[-1] == "b'before'"


def test_the_unit_gives_the_processes_their_time() -> None:
    """And only the first of them gets systemd's SIGTERM."""
    unit = dict(line.split("=", 1) for line in UNIT.read_text().splitlines() if "=" in line)
    assert unit["KillMode"] == "mixed"
    assert int(unit["TimeoutStopSec"]) > STOP_WITHIN_S + 4 * 10
