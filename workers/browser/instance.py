"""One running browser: its processes, the connection to it, and the slots of its pages."""

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from shared.observability.metrics import metrics
from workers.browser import launcher
from workers.browser.cdp import Cdp, CdpError
from workers.browser.flags import FIRST_PORT
from workers.browser.process import BrowserProcess, NotStarted, start_browser
from workers.egress.allowance import Slot
from workers.egress.proxy import Proxy

FIRST_ANSWER_S = 15.0
"""Seconds until a started browser answers, on a busy machine."""
ATTACH_S = 5.0
MAX_JOBS = 200
"""Jobs after which a browser is replaced, so that what it leaks stays bounded."""


class Owner(Protocol):
    """What a browser context belongs to."""

    def adopts(self, target: dict[str, Any], session: str) -> bool:
        """Whether a new target of the context may live. It waits before its first request."""
        ...

    def loses(self, session: str) -> None:
        """Called when a target is gone, of any context."""
        ...


class RunningBrowser:
    """A browser and its slots. It belongs to one event loop.

    Attributes:
        cdp: the connection.
        user_agent: what its pages say they are.
        owners: the job of each browser context.
        free: slots without a job.
        jobs: how many it has begun.
        is_spent: it gets no more jobs, and ends with its last one.
    """

    def __init__(self, process: BrowserProcess) -> None:
        self._process = process
        self._slots: list[Slot] = []
        self._serving = 0
        self.cdp = Cdp(self._on_event)
        self.user_agent = ""
        self.owners: dict[str, Owner] = {}
        self.free: list[int] = []
        self.jobs = 0
        self.is_spent = False

    @classmethod
    async def start(
        cls, program: Path, proxy: Proxy, *, slots: int, agent: str, authorities: Sequence[str]
    ) -> "RunningBrowser":
        """Start a browser and wait until it answers.

        Args:
            agent: who sends the requests, behind what the browser says of itself.
            authorities: certificates in PEM that it trusts beside its own.

        Raises:
            NotStarted: it cannot be started, or does not answer.
        """
        metrics.browser_started()
        process = await asyncio.to_thread(start_browser, program, slots=slots, authorities=authorities)
        browser = cls(process)
        try:
            await browser.cdp.connect(process.commands, process.events)
            for listening in process.listening:
                browser._slots.append(await proxy.listen(listening))
            asyncio.get_running_loop().add_reader(process.control, browser._hear_launcher)
            version = await browser.cdp.send("Browser.getVersion", limit_s=FIRST_ANSWER_S)
            browser.user_agent = f"{version['userAgent'].replace('HeadlessChrome', 'Chrome')} {agent}".strip()
            attach = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
            await browser.cdp.send("Target.setAutoAttach", limit_s=ATTACH_S, **attach)
        except (OSError, TimeoutError, CdpError) as error:
            await browser.kill()
            raise NotStarted(f"the browser did not answer: {error}") from None
        except BaseException:
            await browser.kill()
            raise
        browser.free = list(range(slots))
        process.set_busy(False)
        return browser

    @property
    def pid(self) -> int:
        """Of the launcher."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether it can answer no more."""
        return self.cdp.ended.done()

    @property
    def is_idle(self) -> bool:
        """Whether all its slots are free."""
        return not self._serving

    def take(self) -> tuple[Slot, str]:
        """A free slot and the address of its proxy, as the browser reaches it. `give_back` when its job has ended."""
        number = self.free.pop()
        self.jobs += 1
        self._serving += 1
        self.is_spent = self.is_spent or self.jobs >= MAX_JOBS
        self._process.set_busy(True)
        return self._slots[number], f"http://127.0.0.1:{FIRST_PORT + number}"

    def give_back(self, slot: Slot) -> None:
        """Free a slot."""
        self.free.append(self._slots.index(slot))
        self._serving -= 1
        if self.is_idle:
            self._process.set_busy(False)

    async def kill(self) -> None:
        """End all its processes. It may be called again."""
        self.is_spent = True
        if self._process.control.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._process.control)
        self.cdp.close()
        for slot in self._slots:
            slot.close()
        await asyncio.to_thread(self._process.kill)

    def _hear_launcher(self) -> None:
        with contextlib.suppress(OSError):
            if self._process.control.recv(16) == launcher.TOO_MUCH_MEMORY:
                self.is_spent = True
                return
        asyncio.get_running_loop().remove_reader(self._process.control)
        self.is_spent = True

    def _on_event(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Target.detachedFromTarget":
            for each in list(self.owners.values()):
                each.loses(parameters["sessionId"])
        if method != "Target.attachedToTarget":
            return
        target, session = parameters["targetInfo"], parameters["sessionId"]
        owner = self.owners.get(target.get("browserContextId", ""))
        if owner is None or not owner.adopts(target, session):
            # Closed while it waits. Without going on, it would not end.
            self.cdp.post("Target.closeTarget", targetId=target["targetId"])
            self.cdp.post("Runtime.runIfWaitingForDebugger", session)
