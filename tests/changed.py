"""The tests of what changed, as arguments of pytest: `scripts/test --fast` runs them.

A change in `jobs/rss/` is tested by `tests/jobs/rss`, one in `shared/money.py` by `tests/shared/test_money.py`. Outside `jobs`
a test with the changed file's name is enough; where there is none, the tests of its folder run.
"""

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_FOLDERS = ("api", "client", "compose", "facilitator", "jobs", "ops", "shared", "workers")


def changed_files() -> list[str]:
    """What differs from the last commit; in a clean work tree, what that commit changed. Paths are relative to the root."""
    return _git("diff", "--name-only", "HEAD") + _git("ls-files", "--others", "--exclude-standard") or _git(
        "diff", "--name-only", "HEAD~1"
    )


def tests_of(files: Iterable[str]) -> list[str]:
    """The folders and files of tests to run, each once, without those that lie in another of them."""
    found = {test for file in files for test in _tests_of(Path(file))}
    return sorted(str(test) for test in found if not found & set(test.parents))


def _tests_of(file: Path) -> Iterator[Path]:
    top = file.parts[0]
    if top == "jobs":  # declarations are held against the table of endpoints
        yield Path("tests/contract")
    if top == "tests" and file.suffix == ".py":
        if file.name.startswith("test_") and (ROOT / file).exists():
            yield file
        elif len(file.parts) > 2:
            yield _existing(file.parent)
    elif top in _FOLDERS:
        inside = file.parts[2:-1] if top == "client" else file.parts[1:-1]  # client/coinslot/ is tests/client
        folder = Path("tests", top, *inside)
        named = folder / f"test_{file.stem}.py"
        yield named if top != "jobs" and (ROOT / named).exists() else _existing(folder)


def _existing(folder: Path) -> Path:
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    return folder


def _git(*arguments: str) -> list[str]:
    run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


if __name__ == "__main__":
    print(*tests_of(changed_files()))
