"""Builds coinslot-client: the package `coinslot`, and inside it, as `coinslot.shared`, the modules of shared/ that it imports.

The checkout has one copy of each module, which the service shares. A wheel cannot bring a package with a name as common as
`shared`, so the copies in it have another name, and every import of them is rewritten.
"""

import ast
import re
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).parent
ROOT = HERE if (HERE / "shared").is_dir() else HERE.parent
"""Of the unpacked source distribution, or of the checkout."""

VERSION = Path("shared", "version.py")
_IMPORT = re.compile(r"^(\s*)(from|import) shared(?=[.\s])", re.MULTILINE)


def shared_modules() -> list[Path]:
    """The modules of shared/ that the package needs, directly or through each other, relative to ROOT."""
    found: set[Path] = set()
    todo = list((HERE / "coinslot").glob("*.py"))
    while todo:
        for name in _imported(todo.pop().read_text()):
            path = Path(*name.split(".")).with_suffix(".py")
            if path.parts[0] == "shared" and (ROOT / path).is_file() and path not in found:
                found.add(path)
                todo.append(ROOT / path)
    return sorted(found)


def rewritten(source: str) -> str:
    """The source with `coinslot.shared` instead of `shared`. Raises ValueError when an import is left over."""
    text = _IMPORT.sub(r"\1\2 coinslot.shared", source)
    left = [name for name in _imported(text) if name.split(".")[0] == "shared"]
    if left:
        raise ValueError(f"an import of {left[0]} has a form that is not rewritten")
    return text


def _imported(source: str) -> Iterator[str]:
    """Every name that could be a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def complete(package: Path) -> None:
    """Add the modules of shared/ to a copy of the package, and rewrite their imports."""
    for path in shared_modules():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, package / path)
        # Empty: what the checkout's own ones do is for the processes of the service.
        for folder in path.parents[:-1]:
            (package / folder / "__init__.py").touch()
    for path in package.rglob("*.py"):
        path.write_text(rewritten(path.read_text()))


class _BuildPackage(build_py):
    def run(self) -> None:
        super().run()
        complete(Path(self.build_lib, "coinslot"))


class _SourceDistribution(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        for path in (*shared_modules(), Path("docs", "client.md")):
            (Path(base_dir) / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, Path(base_dir) / path)


if __name__ == "__main__":
    setup(
        version=runpy.run_path(str(ROOT / VERSION))["VERSION"],
        cmdclass={"build_py": _BuildPackage, "sdist": _SourceDistribution},
        long_description=(ROOT / "docs" / "client.md").read_text(),
        long_description_content_type="text/markdown",
    )
