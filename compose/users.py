"""The users of the processes that root starts: COINSLOT_USER, and COINSLOT_FACILITATOR_USER for facilitator and claimer, which
have keys that sign for the chain.

Key files that are made here become readable for those who need them: the sealing key and the dashboard's password for the
group of the API and the workers, the settlers' keys for the facilitator's user only.
"""

import os
import pwd
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compose.sandbox.child import ROOT
from shared.process.user import refuse_root
from shared.settings.service import PREFIX, InvalidSetting, Settings

_PROBE_LIMIT_S = 30.0


@dataclass(frozen=True, slots=True)
class Account:
    """A user that processes run as."""

    name: str
    uid: int
    gid: int
    home: str

    @property
    def options(self) -> dict[str, Any]:
        """For subprocess.Popen. Groups of root's are not kept."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


@dataclass(frozen=True, slots=True)
class Accounts:
    """Who runs what. None: whoever starts it."""

    service: Account | None = None
    facilitator: Account | None = None

    def of(self, process: str) -> Account | None:
        """The account of a Procfile line."""
        return self.facilitator if process in ("facilitator", "claimer") else self.service


def accounts(settings: Settings) -> Accounts:
    """The accounts that the settings name.

    Raises:
        InvalidSetting: a user does not exist or cannot run this program; the program is not root's and cannot become the
            user; or it is root's in production and there is no user.
    """
    if not settings.user:
        if settings.facilitator_user:
            raise InvalidSetting(f"{PREFIX}FACILITATOR_USER needs {PREFIX}USER, too")
        refuse_root(settings)
        return Accounts()
    service = _account("USER", settings.user)
    facilitator = _account("FACILITATOR_USER", settings.facilitator_user) if settings.facilitator_user else service
    if os.geteuid() != 0:
        if {service.uid, facilitator.uid} != {os.geteuid()}:
            raise InvalidSetting(f"{PREFIX}USER: only root can start processes of another user")
        return Accounts()
    for account in {service, facilitator}:
        _probe(account)
    return Accounts(service, facilitator)


def share_files(accounts: Accounts, var: Path, made: Mapping[str, str]) -> None:
    """Give the users what they need of the files that root made, and nobody else.

    Args:
        var: the state folder. Nobody but root can list it.
        made: settings that were made, by name. Files that an operator named stay as they are.
    """
    if accounts.service is None or accounts.facilitator is None:
        return
    var.chmod(0o711)
    for name, path in made.items():
        if name in (f"{PREFIX}KEY_FILE", f"{PREFIX}DASHBOARD_PASSWORD_FILE"):
            for each in (Path(path), Path(f"{path}.previous")):  # the previous key, after `coinslot-ops rotate-key`
                if each.exists():
                    os.chown(each, 0, accounts.service.gid)
                    each.chmod(0o440)
        elif name in (f"{PREFIX}METRICS_DIR", f"{PREFIX}BOOKS_DIR"):  # the facilitator writes neither
            Path(path).mkdir(mode=0o700, exist_ok=True)
            os.chown(path, accounts.service.uid, accounts.service.gid)
        elif name.endswith(("_SETTLER_KEY_FILE", "_AUTHORIZER_KEY_FILE")):
            os.chown(path, accounts.facilitator.uid, accounts.facilitator.gid)
            Path(path).chmod(0o400)
        elif name.endswith("_JOURNAL_FILE"):
            os.chown(path, accounts.facilitator.uid, accounts.facilitator.gid)


def _account(setting: str, text: str) -> Account:
    """A name, or a number of a user that needs no entry in /etc/passwd."""
    if re.fullmatch(r"[0-9]{1,9}", text, re.ASCII):
        found = Account(text, int(text), int(text), "/")
    else:
        try:
            entry = pwd.getpwnam(text)
        except KeyError:
            raise InvalidSetting(f"{PREFIX}{setting}: there is no user {text!r}") from None
        found = Account(text, entry.pw_uid, entry.pw_gid, entry.pw_dir)
    if not found.uid or not found.gid:
        raise InvalidSetting(f"{PREFIX}{setting} must be another user than root, and of another group")
    return found


def _probe(account: Account) -> None:
    """Whether the user can run this Python with these packages: both may lie below a folder that only its owner can read."""
    command = [sys.executable, "-c", "import dramatiq, granian, shared.settings.service"]
    try:
        run = subprocess.run(
            command, cwd=ROOT, capture_output=True, timeout=_PROBE_LIMIT_S, check=False, **account.options
        )
        is_able = run.returncode == 0
    except OSError:
        is_able = False
    except subprocess.TimeoutExpired:
        is_able = True  # the machine is busy; what cannot be started will say so itself
    if not is_able:
        raise InvalidSetting(
            f"the user {account.name} cannot run {sys.executable} in {ROOT}: put both where others may read, not below a "
            "home folder of mode 0700"
        )
