"""Forks the processes of tests/chaos in milliseconds, API and worker with a failpoint or a piece of their source replaced.

`python -m tests.chaos.forking_parent` has loaded all that they need. What a failpoint decides at import is decided after
the fork; a module with a replaced piece is imported again there, with all that may hold on to it; a script with one is
loaded again by its module. One line of JSON on stdin is one process, whose pid is the answer. All of them end with it.
"""

import asyncio
import ctypes
import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import msgspec
from aiohttp import web

from compose.sandbox.child import ROOT
from shared import failpoints, lua_script
from shared.settings.rails import EvmRailSettings
from shared.settings.service import Settings

PATIENCE_S = 0.3
BASE_URL = "http://shop.test"
"""Of every application: their templates are compiled for it."""
_OWN = (
    "api",
    "workers",
    "workers.queue.consumer",
    "workers.queue.broker",
    "tests.chaos.shop",
    "tests.workers.browser.limits",
)
_PR_SET_PDEATHSIG = 1
_CLONE_NEWNET = 0x4000_0000


class Patch(msgspec.Struct, frozen=True):
    """A piece of a source file that is replaced by another. It must be there exactly once."""

    path: str
    old: str
    new: str

    @property
    def module(self) -> str:
        """The module of the file."""
        return self.path.removesuffix(".py").replace("/", ".")

    def apply(self, source: str) -> str:
        """Raises AssertionError when the source is not what this patch was written for."""
        count = source.count(self.old)
        assert count == 1, f"{self.path}: found {count} times: {self.old}"
        return source.replace(self.old, self.new)


class ForkRequest(msgspec.Struct, frozen=True):
    """A process to be.

    Args:
        role: ``api``, ``worker``, or a module of this folder whose `main` is run.
        log: where its output goes.
        arguments: of the module's command line.
        namespace: the file of the network namespace that it lives in; empty for ours.
    """

    role: str
    environment: dict[str, str]
    log: str
    patches: tuple[Patch, ...] = ()
    arguments: tuple[str, ...] = ()
    namespace: str = ""


def _replaced(file: Path, patches: Sequence[Patch]) -> str:
    source = file.read_text()
    for patch in patches:
        if file == ROOT / patch.path:
            source = patch.apply(source)
    return source


class _Patched(importlib.machinery.SourceFileLoader):
    """Compiles a module from its replaced source."""

    def __init__(self, patches: Sequence[Patch]) -> None:
        super().__init__(patches[0].module, str(ROOT / patches[0].path))
        self._patches = patches

    def get_code(self, fullname: str) -> CodeType:
        """Without a cache."""
        return compile(_replaced(Path(self.path), self._patches), self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, patches: Sequence[Patch]) -> None:
        self._modules = {patch.module for patch in patches}
        self._patches = patches

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Importlib's question."""
        if name not in self._modules:
            return None
        loader = _Patched([patch for patch in self._patches if patch.module == name])
        return importlib.util.spec_from_file_location(name, loader.path, loader=loader)


_armed = failpoints.reach


def _reach(name: str) -> None:
    _armed(name)


def preload() -> None:
    """Import all, and build an application once, for what that leaves in caches: compiled templates, half of a fork's work."""
    failpoints.reach = _reach  # before anybody imports it
    import anyio._backends._asyncio  # noqa: F401 - which it would import in each fork

    import api.app
    import tests.chaos.facilitator
    import tests.chaos.shop  # noqa: F401 - with everything below it
    from tests.chaos.probe import CATALOGUE

    with tempfile.NamedTemporaryFile("w") as key:
        key.write("1" * 64)
        key.flush()
        evm = EvmRailSettings(pay_to="0x" + "11" * 20)
        api.app.create_app(Settings(key_file=Path(key.name), base_url=BASE_URL, evm=evm), CATALOGUE)
    assert threading.active_count() == 1, "a thread would be missing after a fork"
    gc.collect()
    gc.freeze()  # no collector of a fork looks at what is shared, let alone copies it


def become(request: ForkRequest) -> None:
    """Be the process until it is killed."""
    global _armed
    os.environ.update(request.environment)
    if failpoint := request.environment.get("COINSLOT_FAILPOINT"):
        _armed = failpoints.deadly(*failpoints.parse(failpoint))
    if request.patches:
        sys.meta_path.insert(0, _Finder([patch for patch in request.patches if patch.path.endswith(".py")]))
        lua_script.read = lambda file: _replaced(file, request.patches)
        for name in list(sys.modules):
            if any(name == own or name.startswith(own + ".") for own in _OWN):
                del sys.modules[name]
    sys.argv = [request.role, *request.arguments]
    if own := {"api": be_api, "worker": be_worker}.get(request.role):
        own()
    else:
        importlib.import_module(request.role).main()


def be_api() -> None:
    """The real application on a simple server, for granian takes a second to start."""
    import api.app
    from tests.chaos.probe import CATALOGUE
    from tests.chaos.shop import hurry

    hurry(PATIENCE_S)
    asyncio.run(_serve(api.app.create_app(catalogue=CATALOGUE), int(os.environ["COINSLOT_PORT"])))


def be_worker() -> None:
    """The real worker without Dramatiq's master, which only watches it."""
    import dramatiq

    from tests.chaos.shop import create_broker

    worker = dramatiq.Worker(create_broker(), queues={"micro"}, worker_threads=1, worker_timeout=100)
    worker.start()
    while True:
        signal.pause()


async def _serve(front: Any, port: int) -> None:
    async def handle(request: web.Request) -> web.Response:
        received = [{"type": "http.request", "body": await request.read(), "more_body": False}]
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return received.pop() if received else {"type": "http.disconnect"}

        async def send(event: dict[str, Any]) -> None:
            sent.append(event)

        await front(_scope(request), receive, send)
        start, *bodies = sent
        headers = [(name.decode(), value.decode()) for name, value in start["headers"]]
        content = b"".join(body["body"] for body in bodies)
        return web.Response(status=start["status"], headers=headers, body=content)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    async with front.lifespan():
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
        await asyncio.Event().wait()


def _scope(request: web.Request) -> Mapping[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "query_string": request.query_string.encode(),
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.raw_headers],
        "client": None,
        "server": None,
        "state": {},
    }


def _fork(request: ForkRequest) -> int:
    if pid := os.fork():
        return pid
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        log = os.open(request.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        null = os.open(os.devnull, os.O_RDONLY)
        for descriptor, copy in ((null, 0), (log, 1), (log, 2)):
            os.dup2(descriptor, copy)
        if request.namespace:
            _enter(request.namespace)
        become(request)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(1)


def _enter(namespace: str) -> None:
    """What os.setns does in Python 3.12."""
    file = os.open(namespace, os.O_RDONLY | os.O_CLOEXEC)
    if ctypes.CDLL(None, use_errno=True).setns(file, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")


def main() -> None:
    """Fork until stdin ends."""
    preload()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries the dead
    decoder = msgspec.json.Decoder(ForkRequest)
    print("ready", flush=True)
    for line in sys.stdin.buffer:
        print(_fork(decoder.decode(line)), flush=True)


if __name__ == "__main__":
    main()
