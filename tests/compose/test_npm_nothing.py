"""npm that fetches nothing does not count as done."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from compose.sandbox.npm import NpmFailed, install


def test_an_optional_package_that_was_not_fetched_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """npm ends well without it; the next run has to try again, and the person has to hear of it."""
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(
        """#!/bin/sh
for word; do
    if [ -d "$word" ]; then mkdir -p "$word/node_modules"; echo "{}" > "$word/node_modules/.package-lock.json"; fi
done
"""
    )
    npm.chmod(npm.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{npm.parent}:/usr/bin:/bin")
    manifest, prefix = tmp_path / "manifest", tmp_path / "prefix"
    manifest.mkdir()
    for name in ("package.json", "package-lock.json"):
        (manifest / name).write_text("{}")
    for _ in range(2):
        with pytest.raises(NpmFailed, match="fetched nothing"):
            install(manifest, prefix)
