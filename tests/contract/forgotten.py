"""What a new endpoint needs beside its declaration, and a sentence for what is not there. The sources are read and not run."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from jobs.catalogue import CATALOGUE
from shared.endpoint import Endpoint
from tests.contract.endpoints import ENDPOINTS, Row


def declarations(root: Path) -> dict[str, Path]:
    """The modules below jobs/ that declare an endpoint, by their dotted names."""
    return {name: path for name, path in _modules(root).items() if _assigns(path, "ENDPOINT")}


def unsold(root: Path) -> Iterator[str]:
    """Endpoints that no line of the catalogue names."""
    named = {module for path in _modules(root).values() for module in _named_in(path)}
    for module, path in declarations(root).items():
        if module not in named:
            folder, _, name = module.rpartition(".")
            alias = f" as {folder.rpartition('.')[2]}" if name == "endpoint" else ""
            chain = folder == "jobs.chain"
            place, table = ("jobs/chain/endpoints.py", "ENDPOINTS") if chain else ("jobs/catalogue.py", "CATALOGUE")
            yield (
                f"{path.relative_to(root)} declares an endpoint that is not sold. Write into {place} "
                f"`from {folder} import {name}{alias}`, and its ENDPOINT into {table}."
            )


def untested(root: Path) -> Iterator[str]:
    """Endpoints without a file or a folder of tests."""
    tests = root / "tests" / "jobs"
    for module, path in declarations(root).items():
        name = module.split(".")[1]
        if not (tests / f"test_{name}.py").exists() and not list((tests / name).glob("test_*.py")):
            yield (
                f"{path.relative_to(root)} has no test. Write tests/jobs/test_{name}.py, or tests/jobs/{name}/ for several: a "
                "happy call, every bound, every documented error, the worst input."
            )


def without_row(catalogue: Iterable[Endpoint], rows: Iterable[Row]) -> Iterator[str]:
    """Endpoints that the literal table does not have, and rows of what is not sold."""
    sold, told = [endpoint.name for endpoint in catalogue], [row.name for row in rows]
    for name in (name for name in sold if name not in told):
        yield (
            f"{name} is sold and has no row. Write one by hand into ADDED of tests/contract/endpoints.py, from what you want "
            "to sell: Row(name, path, price, the same in units of 0.000001 USDC, category, pool, flavour)."
        )
    for name in (name for name in told if name not in sold):
        yield f"tests/contract/endpoints.py has a row for {name}, which jobs/catalogue.py does not name."


def undeclared(root: Path, module: str, failures: Iterable[str]) -> Iterator[str]:
    """Reasons of a 502 that the modules of an endpoint raise and that its declaration does not have."""
    modules = _modules(root)
    reached, found = [module], {module}
    for name in reached:  # it grows
        news = {used for used in _imported(modules[name], modules) if used not in found and used != "jobs.ports"}
        found |= news
        reached += sorted(news)
    for name in sorted(found):
        for line, reason in _raised(modules[name]):
            if reason not in failures:
                yield (
                    f"{modules[name].relative_to(root)}:{line} raises UpstreamFailed(reason={reason!r}), which {module} does "
                    "not declare: add it to its `failures`, and to `target_failures` if it comes from what the caller named."
                )


def without_words(catalogue: Iterable[Endpoint], words: Iterable[str]) -> Iterator[str]:
    """Reasons that the pages have no sentence for."""
    for endpoint in catalogue:
        for reason in endpoint.failures:
            if reason not in words:
                yield f"{endpoint.name} declares the reason {reason!r}: add a sentence to REASONS in jobs/reasons.py."


def _modules(root: Path) -> dict[str, Path]:
    paths = sorted((root / "jobs").rglob("*.py"))
    names = (path.relative_to(root).with_suffix("").as_posix().replace("/", ".") for path in paths)
    return {name.removesuffix(".__init__"): path for name, path in zip(names, paths, strict=True)}


def _assigns(path: Path, name: str) -> bool:
    return any(
        isinstance(target, ast.Name) and target.id == name
        for statement in ast.parse(path.read_text()).body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for target in (statement.targets if isinstance(statement, ast.Assign) else (statement.target,))
    )


def _aliases(tree: ast.AST) -> dict[str, str]:
    """What `from ... import ...` brings, by the name that it gets."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _named_in(path: Path) -> Iterator[str]:
    """The modules whose `ENDPOINT` a module names."""
    tree = ast.parse(path.read_text())
    aliases = _aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "ENDPOINT" and isinstance(node.value, ast.Name):
            yield aliases.get(node.value.id, "")


def _imported(path: Path, modules: Iterable[str]) -> set[str]:
    """The modules below jobs/ that a module imports, or names of."""
    brought = _aliases(ast.parse(path.read_text())).values()
    return {name for place in brought for name in (place, place.rpartition(".")[0]) if name in modules}


def _raised(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "UpstreamFailed":
            for keyword in node.keywords:
                if keyword.arg == "reason" and isinstance(keyword.value, ast.Constant):
                    yield node.lineno, str(keyword.value.value)


NEEDS_ROWS = pytest.mark.skipif(
    any(without_row(CATALOGUE, ENDPOINTS)),
    reason="a row is missing, or one too many: tests/contract/test_forgotten.py says which",
)
"""For tests that compare with the rows. They would fail in many ways for one reason."""
