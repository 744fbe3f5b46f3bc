"""One version everywhere: of the distributions, the commands, the images and the changelog."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from shared.version import VERSION

ROOT = Path(__file__).parents[2]
COMMANDS = (
    *(["-m", module] for module in ("api", "facilitator", "facilitator.claimer", "workers", "ops.exporter")),
    *(["-m", module] for module in ("ops.dashboard", "compose.processes", "compose.serve", "coinslot.main")),
    ["-c", "import sys; from ops.main import main; sys.exit(main())"],
)


def test_every_command_says_the_version() -> None:
    """--version needs no setting and starts no process."""
    running = [
        subprocess.Popen(
            [sys.executable, *command, "--version"],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT / "client")},
            stdout=subprocess.PIPE,
            text=True,
        )
        for command in COMMANDS
    ]
    said = [process.communicate()[0] for process in running]
    assert [text.split()[-1:] for text in said] == [[VERSION]] * len(COMMANDS)


def test_it_is_named_once() -> None:
    """Distributions read the module; the texts that name a version, such as the images' tags, name this one."""
    for project in ("pyproject.toml", "client/pyproject.toml"):
        assert "version" in tomllib.loads((ROOT / project).read_text())["project"]["dynamic"]
    tags = {
        "Containerfile": r"coinslot-api:([0-9.]+)|image\.version=\"([0-9.]+)\"",
        "compose/compose.yaml": r"COINSLOT_VERSION:-([0-9.]+)",
        "compose/kubernetes/base/kustomization.yaml": r"newTag: ([0-9.]+)",
        "docs/mcp.md": r"coinslot-mcp:([0-9.]+)",
        "docs/scaling.md": r"coinslot-api:([0-9.]+)",
    }
    for name, pattern in tags.items():
        found = re.findall(pattern, (ROOT / name).read_text())
        named = {number for one in found for number in ((one,) if isinstance(one, str) else one) if number}
        assert named == {VERSION}, name


def test_the_changelog_has_a_section_for_it() -> None:
    """Sections are releases, the newest first, each with its day; above them, what is not released yet."""
    heads = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert heads[0] == "Unreleased"
    releases = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+) - \d{4}-\d{2}-\d{2}", head) for head in heads[1:]]
    numbers = [tuple(map(int, release.groups())) for release in releases if release]
    assert len(numbers) == len(releases)
    assert numbers == sorted(numbers, reverse=True)
    assert ".".join(map(str, numbers[0])) == VERSION
