"""Who runs what when root starts the service."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from compose import users
from compose.users import Account, Accounts, accounts, share_files
from shared.process.user import refuse_root
from shared.settings.service import InvalidSetting, Settings
from tests.each import each

ROOT = Path(__file__).parents[2]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture(autouse=True)
def every_user_is_able(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python may lie in the home folder of who runs the tests."""
    monkeypatch.setattr(users, "_probe", lambda account: None)


def test_nobody_is_named() -> None:
    """Whoever starts the service runs all of it."""
    assert accounts(Settings()) == Accounts()


@as_root
def test_root_names_two() -> None:
    """The facilitator has another user; all others have the service's."""
    found = accounts(Settings(user="61200", facilitator_user="61201"))
    assert [account and account.uid for account in map(found.of, ("api", "worker-fast", "facilitator"))] == [
        61200,
        61200,
        61201,
    ]


@as_root
def test_the_facilitators_user_is_the_services_unless_named() -> None:
    """One name is enough."""
    found = accounts(Settings(user="nobody"))
    assert found.facilitator == found.service
    assert found.service is not None


@each(
    ("settings", "said"),
    [
        (Settings(user="no-such-user"), "no user 'no-such-user'"),
        (Settings(user="root"), "another user than root"),
        (Settings(user="0"), "another user than root"),
        (Settings(facilitator_user="61201"), "needs COINSLOT_USER"),
    ],
)
def test_users_that_cannot_be(settings: Settings, said: str) -> None:
    """Each is reported before anything starts."""
    with pytest.raises(InvalidSetting, match=said):
        accounts(settings)


def test_only_root_becomes_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Someone else's service runs as he does, and a setting that says otherwise is no silent wish."""
    monkeypatch.setattr(os, "geteuid", lambda: 61_300)
    assert accounts(Settings(user="61300")) == Accounts()
    with pytest.raises(InvalidSetting, match="only root"):
        accounts(Settings(user="61200"))


def test_production_does_not_run_as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the service nor a single process of it."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for refused in (refuse_root, accounts):
        with pytest.raises(InvalidSetting, match="does not run as root"):
            refused(Settings(production=True))
    refuse_root(Settings())
    monkeypatch.setattr(os, "geteuid", lambda: 61_300)
    refuse_root(Settings(production=True))


@as_root
@pytest.mark.parametrize("module", ["api", "facilitator", "compose.processes"])
def test_each_process_refuses(module: str) -> None:
    """With a sentence, and no traceback."""
    environment = {**os.environ, "COINSLOT_PRODUCTION": "1"}
    run = subprocess.run(
        [sys.executable, "-m", module],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 1
    assert "does not run as root" in run.stderr
    assert "Traceback" not in run.stderr


@as_root
def test_keys_are_readable_for_those_who_need_them(tmp_path: Path) -> None:
    """The sealing key for a group that cannot change it, the settlers' for one user; files of the operator stay as they are."""
    made = {
        "COINSLOT_KEY_FILE": "seal",
        "COINSLOT_EVM_SETTLER_KEY_FILE": "settler",
        "COINSLOT_METRICS_DIR": "metrics",
    }
    for name in ("seal", "settler", "own"):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(0o600)
    service, facilitator = Account("a", 61_200, 61_200, "/"), Account("b", 61_201, 61_201, "/")

    share_files(Accounts(service, facilitator), tmp_path, {name: str(tmp_path / path) for name, path in made.items()})

    states = {name: (tmp_path / name).stat() for name in ("seal", "settler", "metrics", "own")}
    assert {name: (state.st_uid, state.st_gid, stat.S_IMODE(state.st_mode)) for name, state in states.items()} == {
        "seal": (0, 61_200, 0o440),
        "settler": (61_201, 61_201, 0o400),
        "metrics": (61_200, 61_200, 0o700),
        "own": (0, 0, 0o600),
    }
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o711


@as_root
def test_a_user_that_cannot_run_python_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An interpreter below a home folder of mode 0700 is the usual reason."""
    monkeypatch.undo()
    tmp_path.chmod(0o700)
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(InvalidSetting, match="cannot run"):
        accounts(Settings(user="61200"))
