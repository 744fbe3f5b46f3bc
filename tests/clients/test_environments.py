"""The locks of the clients."""

import json

from tests.clients import environments


def test_the_locks_pin_by_hash_and_name_no_registry() -> None:
    """Each machine chooses its registry."""
    for folder in (environments.LOCKS, environments.LOCKS.with_name("pages")):
        packages = json.loads((folder / "package-lock.json").read_text())["packages"]
        del packages[""]
        assert all(one["integrity"].startswith("sha512-") and "resolved" not in one for one in packages.values())
    for lock in environments.LOCKS.glob("*.lock"):
        assert "://" not in lock.read_text()
