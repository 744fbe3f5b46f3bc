"""Which modules of a package import what opens connections or starts processes. The sources are read and not run.

It finds what an author does without thinking of ports. One who wants to can evade it: `importlib`, an extension module, another
package that opens connections.
"""

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path

_NETWORK = (
    *("aiohttp", "asyncio", "asyncore", "dramatiq", "ftplib", "granian", "grpc", "http.client", "http.server"),
    *("httpcore", "httpx", "imaplib", "litestar", "multiprocessing", "nntplib", "paramiko", "playwright", "poplib"),
    *("pycurl", "redis", "requests", "selectors", "smtplib", "socket", "socketserver", "ssl", "subprocess"),
    *("telnetlib", "urllib.request", "urllib3", "web3", "websocket", "websockets", "xmlrpc"),
)
"""What opens connections, or starts processes that may."""
_PROCESSES = ("api", "compose", "coinslot", "facilitator", "ops", "shared.nodes", "shared.servers", "workers")
"""Of ours, all but `jobs` and `shared`: endpoints know nothing of the processes that run them."""


def forbidden_imports(module: str) -> Iterator[str]:
    """A sentence for each, in every module below the top-level package of `module`."""
    top = module.partition(".")[0]
    spec = importlib.util.find_spec(top)
    if spec is None:
        return  # the import says so
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    paths = sorted(path for folder in folders for path in folder.rglob("*.py")) or [Path(spec.origin or "")]
    root = (folders[0] if folders else paths[0]).parent
    if not all(path.suffix == ".py" and path.is_file() for path in paths):
        yield f"the sources of {top} cannot be read, so nobody knows whether it opens connections"
        return
    for path in paths:
        shown = path.relative_to(root) if path.is_relative_to(root) else path
        for line, name in _imports(path):
            if _is_below(name, _NETWORK):
                yield f"{shown}:{line} imports {name}: what is outside comes through ports (jobs/ports)"
            elif _is_below(name, _PROCESSES):
                yield f"{shown}:{line} imports {name}: of Coinslot an endpoint may import jobs and shared alone"


def _is_below(name: str, modules: tuple[str, ...]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    """The absolute imports of a module: each with its line, and `from a import b` as `a.b`."""
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:
        return  # the import says so, if it is ever imported
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
