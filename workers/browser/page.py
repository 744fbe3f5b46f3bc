"""One page in its own context: what its targets do is bounded here, and noted.

Every target waits when it is attached, before its first request: popups are closed, workers beyond a few never run, frames get
the same bounds as the page. Events are of the whole context; only the document that the main frame shows at the end counts, by
its loader's id.
"""

import asyncio
import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from workers.browser.cdp import CdpError
from workers.browser.instance import RunningBrowser

MAX_POPUPS = 10
MAX_NAVIGATIONS = 10
"""Redirects, reloads and navigations of the main frame, beside its first request."""
MAX_DIALOGS = 50
MAX_WORKERS = 8
MAX_FRAMES = 50
"""Frames in processes of their own. More of them never run."""
MAX_REQUESTS = 200
MAX_EVENTS = 20_000
"""A page of 200 requests makes about 2,000. Each costs the worker 20 us."""
OPEN_S = 9.0
"""Seconds for each command that opens a page. On a busy machine one may take long; mostly a call's deadline is earlier."""
CLOSE_S = 3.0
MAX_SOURCE_BYTES = 4 << 20
"""Of the response that the browser keeps, for the source of the main document."""

_BLOCKED_KINDS = ("Image", "Media", "Font")
_NETWORK = {"maxTotalBufferSize": 2 * MAX_SOURCE_BYTES, "maxResourceBufferSize": MAX_SOURCE_BYTES, "maxPostDataSize": 0}
_ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}


class Stop(StrEnum):
    """Why a page is not waited for any longer."""

    RESTED = "rested"
    """Its virtual time is over: it had its five seconds, and nothing is loading."""
    CRASHED = "crashed"
    LOOPED = "looped"
    TOO_BUSY = "too_busy"
    """It opened more popups or dialogs, or made more events, than a page does that wants to be read."""


@dataclass(slots=True)
class Response:
    """The response that brought a document of the main frame."""

    url: str
    status: int
    mime: str
    is_loaded: bool = False
    failure: str = ""
    """The browser's error when only a part of the document came."""


@dataclass(slots=True)
class Document:
    """What the main frame shows.

    Attributes:
        unreachable: the URL that could not be loaded, when this is the browser's own page about that; "" otherwise.
    """

    loader: str = ""
    url: str = "about:blank"
    unreachable: str = ""


@dataclass(eq=False)
class Page:
    """A page and what it has done.

    Args:
        with_images: whether images, media and fonts are loaded.

    Attributes:
        target: id of the page, which is the id of its main frame.
        stop: done when the page need not be waited for any longer.
        crash: done when its process has ended, or the page has closed itself.
        shown: done when the main frame shows the first document that was requested.
        asked: the URL of the main frame's last request.
        responses: by the loader's id.
        is_loaded: the main document and what it needs is loaded.
        is_halted: its scripts and its loading were stopped.
        active_at: when something was asked for, or came, last; monotonic seconds.
    """

    browser: RunningBrowser
    with_images: bool
    context: str = ""
    target: str = ""
    session: str = ""
    document: Document = field(default_factory=Document)
    asked: str = ""
    responses: dict[str, Response] = field(default_factory=dict)
    requests: int = 0
    is_loaded: bool = False
    is_halted: bool = False
    active_at: float = 0.0
    stop: asyncio.Future[Stop] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    crash: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    shown: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def __post_init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._loaders: set[str] = set()

    async def open(self, proxy: str) -> None:
        """Make the context and an empty page in it. Raises CdpError, also when the page's process has ended, and TimeoutError.

        Args:
            proxy: the address of its proxy, as the browser reaches it.
        """
        cdp = self.browser.cdp
        made = await cdp.send(
            "Target.createBrowserContext",
            disposeOnDetach=True,
            proxyServer=proxy,
            proxyBypassList="<-loopback>",
            limit_s=OPEN_S,
        )
        self.context = made["browserContextId"]
        self.browser.owners[self.context] = self
        cdp.post("Browser.setDownloadBehavior", behavior="deny", browserContextId=self.context)
        cdp.post("Browser.grantPermissions", permissions=[], browserContextId=self.context)  # all others are denied
        created = await cdp.send(
            "Target.createTarget",
            url="about:blank",
            browserContextId=self.context,
            width=1280,
            height=800,
            limit_s=OPEN_S,
        )
        self.target = created["targetId"]
        for result in self._set_up(self.session, "page"):
            await self._unless_crashed(result, OPEN_S)
        # Until there is a document: otherwise the empty page uses the time up.
        await self.send("Emulation.setVirtualTimePolicy", limit_s=OPEN_S, policy="pause")

    async def close(self) -> None:
        """Dispose of the context. Raises CdpError, TimeoutError: then the browser has to end."""
        for session in self._kinds:
            self.browser.cdp.sessions.pop(session, None)
        if self.context:
            await self.browser.cdp.send("Target.disposeBrowserContext", browserContextId=self.context, limit_s=CLOSE_S)
            self.browser.owners.pop(self.context, None)

    def adopts(self, target: dict[str, Any], session: str) -> bool:
        """Implements workers.browser.instance.Owner. Only the first page lives; service workers and shared ones do not."""
        if self.session or target["type"] != "page":
            self._count("popup", MAX_POPUPS, Stop.TOO_BUSY)
            return False
        self.session = session
        self._add(session, "page")
        return True

    def loses(self, session: str) -> None:
        """Implements workers.browser.instance.Owner: a page may close itself."""
        if session == self.session:
            self._set_crashed()

    async def send(self, method: str, /, *, limit_s: float, **parameters: Any) -> dict[str, Any]:
        """Send a command to the page. Raises CdpError, at once when the page has crashed, and TimeoutError."""
        return await self._unless_crashed(self.browser.cdp.post(method, self.session, **parameters), limit_s)

    async def _unless_crashed(self, result: asyncio.Future[dict[str, Any]], limit_s: float) -> dict[str, Any]:
        # A command to a process that has ended is never answered.
        waited: set[asyncio.Future[Any]] = {result, self.crash}
        await asyncio.wait(waited, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        if result.done():
            return result.result()
        if self.crash.done():
            raise CdpError("the page has crashed")
        raise TimeoutError

    @property
    def response(self) -> Response | None:
        """The response that brought the document."""
        return self.responses.get(self.document.loader)

    def _add(self, session: str, kind: str) -> None:
        self._kinds[session] = kind
        self.browser.cdp.sessions[session] = lambda method, parameters: self._on_event(session, method, parameters)

    def _set_up(self, session: str, kind: str) -> list[asyncio.Future[dict[str, Any]]]:
        """Send the set-up of a target, which waits for it, and let the target run."""
        post = self.browser.cdp.post
        results = [post("Target.setAutoAttach", session, **_ATTACH)]
        if kind in ("page", "iframe"):
            results += [
                post("Page.enable", session),
                post("Network.enable", session, **_NETWORK),
                post("Network.setBypassServiceWorker", session, bypass=True),
                post("Inspector.enable", session),
                post("Emulation.setUserAgentOverride", session, userAgent=self.browser.user_agent),
            ]
            if not self.with_images:
                patterns = [{"resourceType": kind} for kind in _BLOCKED_KINDS]
                results.append(post("Fetch.enable", session, patterns=patterns))
        results.append(post("Runtime.runIfWaitingForDebugger", session))
        return results

    def _end(self, why: Stop) -> None:
        if not self.stop.done():
            self.stop.set_result(why)

    def _count(self, what: str, limit: int, why: Stop) -> None:
        self._counts[what] = self._counts.get(what, 0) + 1
        if self._counts[what] > limit:
            self._end(why)

    def _on_event(self, session: str, method: str, parameters: dict[str, Any]) -> None:
        self._count("event", MAX_EVENTS, Stop.TOO_BUSY)
        if self._counts["event"] == MAX_EVENTS:
            self.browser.cdp.post("Network.disable", session)
            self.browser.cdp.post("Page.disable", session)
        if method in _ACTIVE:
            self.active_at = time.monotonic()
        handle = _HANDLERS.get(method)
        if handle is not None:
            handle(self, session, parameters)

    def _on_attached(self, session: str, parameters: dict[str, Any]) -> None:
        target, attached = parameters["targetInfo"], parameters["sessionId"]
        kind = target["type"]
        if kind == "page":
            self._count("popup", MAX_POPUPS, Stop.TOO_BUSY)
            self.browser.cdp.post("Target.closeTarget", targetId=target["targetId"])
            self.browser.cdp.post("Runtime.runIfWaitingForDebugger", attached)
            return
        limit = MAX_FRAMES if kind == "iframe" else MAX_WORKERS
        self._counts[kind] = self._counts.get(kind, 0) + 1
        if self._counts[kind] <= limit:  # others wait for ever
            self._add(attached, kind)
            self._set_up(attached, kind)

    def _on_request(self, session: str, parameters: dict[str, Any]) -> None:
        url: str = parameters["request"]["url"]
        if parameters.get("type") == "Document" and parameters.get("frameId") == self.target:
            self.asked = url
            self._loaders.add(parameters["loaderId"])
            self._count("navigation", 1 + MAX_NAVIGATIONS, Stop.LOOPED)
        if url.startswith(("http:", "https:")):
            self.requests += 1
            if self.requests == MAX_REQUESTS:
                # The proxy counts connections; in a tunnel it does not see requests.
                for each, kind in self._kinds.items():
                    if kind in ("page", "iframe"):
                        self._go_offline(each)

    def _go_offline(self, session: str) -> None:
        conditions = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.browser.cdp.post("Network.emulateNetworkConditions", session, **conditions)

    def _on_response(self, session: str, parameters: dict[str, Any]) -> None:
        if parameters.get("type") != "Document" or parameters.get("frameId") != self.target:
            return
        response = parameters["response"]
        self.responses[parameters["loaderId"]] = Response(response["url"], response["status"], response["mimeType"])

    def _on_loaded(self, session: str, parameters: dict[str, Any]) -> None:
        if response := self.responses.get(parameters["requestId"]):  # a navigation's request has its loader's id
            response.is_loaded = True

    def _on_failed(self, session: str, parameters: dict[str, Any]) -> None:
        response = self.responses.get(parameters["requestId"])
        # A page may stop loading itself, and it goes offline when it has made all its requests.
        is_stopped = parameters.get("canceled") or parameters["errorText"] == "net::ERR_INTERNET_DISCONNECTED"
        if response is not None and not is_stopped and not self.is_halted:
            response.failure = parameters["errorText"]

    def _on_navigated(self, session: str, parameters: dict[str, Any]) -> None:
        frame = parameters["frame"]
        if frame["id"] != self.target:
            return
        self.is_loaded = False
        self.document = Document(frame["loaderId"], frame["url"], frame.get("unreachableUrl", ""))
        if frame["loaderId"] not in self._loaders:  # not by a request: about:blank, blob:
            self._count("navigation", 1 + MAX_NAVIGATIONS, Stop.LOOPED)
        elif not self.shown.done():
            self.shown.set_result(None)

    def _on_load_event(self, session: str, parameters: dict[str, Any]) -> None:
        self.is_loaded = self.is_loaded or session == self.session

    def _on_paused(self, session: str, parameters: dict[str, Any]) -> None:
        if parameters["request"]["url"].startswith(("http:", "https:")):
            self.requests -= 1
        self.browser.cdp.post(
            "Fetch.failRequest", session, requestId=parameters["requestId"], errorReason="BlockedByClient"
        )

    def _on_dialog(self, session: str, parameters: dict[str, Any]) -> None:
        self._count("dialog", MAX_DIALOGS, Stop.TOO_BUSY)
        # A page that asks whether it may be left is left.
        self.browser.cdp.post("Page.handleJavaScriptDialog", session, accept=parameters["type"] == "beforeunload")

    def _on_crash(self, session: str, parameters: dict[str, Any]) -> None:
        self.browser.is_spent = True
        if session == self.session:
            self._set_crashed()

    def _set_crashed(self) -> None:
        if not self.crash.done():
            self.crash.set_result(None)
        self._end(Stop.CRASHED)

    def _on_rest(self, session: str, parameters: dict[str, Any]) -> None:
        if session == self.session:
            self._end(Stop.RESTED)

    def _on_detached(self, session: str, parameters: dict[str, Any]) -> None:
        gone = parameters["sessionId"]
        self._kinds.pop(gone, None)
        self.browser.cdp.sessions.pop(gone, None)


_ACTIVE = frozenset(
    {f"Network.{name}" for name in ("requestWillBeSent", "responseReceived", "dataReceived", "loadingFinished")}
)

_HANDLERS = {
    "Target.attachedToTarget": Page._on_attached,
    "Target.detachedFromTarget": Page._on_detached,
    "Network.requestWillBeSent": Page._on_request,
    "Network.responseReceived": Page._on_response,
    "Network.loadingFinished": Page._on_loaded,
    "Network.loadingFailed": Page._on_failed,
    "Page.frameNavigated": Page._on_navigated,
    "Page.loadEventFired": Page._on_load_event,
    "Page.javascriptDialogOpening": Page._on_dialog,
    "Fetch.requestPaused": Page._on_paused,
    "Inspector.targetCrashed": Page._on_crash,
    "Emulation.virtualTimeBudgetExpired": Page._on_rest,
}


def host_of(url: str) -> str:
    """The host of a URL, as the proxy names it; "" when there is none."""
    try:
        return (urlsplit(url).hostname or "").removesuffix(".")
    except ValueError:
        return ""
