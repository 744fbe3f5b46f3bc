"""YouTube's captions over real connections, from a YouTube that does what a test tells it to."""

import asyncio
import gzip
import json
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
import youtube_transcript_api
from aiohttp import web
from anyio.from_thread import BlockingPortal, start_blocking_portal
from youtube_transcript_api import _errors

from jobs.hosts import PublicUrl
from jobs.ports import CaptionedVideo, Context, Page
from jobs.youtube.endpoint import ENDPOINT, Request, run
from jobs.youtube.tracks import chosen
from shared.outcome import Failed, UpstreamFailed
from shared.pools import Pool
from shared.settings.service import Settings
from tests.time_limits import SLACK_S
from tests.workers.egress.hostile import Canary
from tests.workers.egress.proxy_server import real_proxy
from tests.workers.warm_pool import warm_pool
from workers.adapters.captions import MAX_DOCUMENT_BYTES, REASONS, YouTubeCaptions
from workers.children import ChildPool
from workers.egress.exits import Exits
from workers.execute import execute
from workers.ports import WorkerPorts

OTHER = "127.77.31.2"
ID = "aaaaaaaaaaa"
PATIENCE_S = 10.0
KEY_PAGE = '<script>ytcfg.set({"INNERTUBE_API_KEY": "k"})</script>'

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@pytest.fixture(scope="module")
def children() -> Iterator[ChildPool]:
    pool = warm_pool(1, Pool.YOUTUBE)
    yield pool
    pool.close()


class Rogue:
    """A YouTube of which every answer can be another one."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[web.Request] = []
        self.together = self.most_together = 0
        self.page: Answer = self.says(text=KEY_PAGE)
        self.player: Answer = self._player
        self.document: Answer = self.says(text='<transcript><text start="1" dur="2">a</text></transcript>')
        self.data: Any = {}
        self.offer([self.track()])

    def offer(self, tracks: Any, **more: Any) -> None:
        """What the player is told."""
        self.data = {
            "playabilityStatus": {"status": "OK"},
            "captions": {"playerCaptionsTracklistRenderer": {"captionTracks": tracks, **more}},
            "videoDetails": {"title": "T"},
        }

    def track(
        self, code: str = "en", url: str = "https://www.youtube.com/api/timedtext?v=a&fmt=srv3", **more: Any
    ) -> Any:
        return {"baseUrl": url, "name": {"runs": [{"text": code}]}, "languageCode": code, **more}

    def says(self, **response: Any) -> Answer:
        async def answer(request: web.Request) -> web.StreamResponse:
            return web.Response(**response)

        return answer

    async def _player(self, request: web.Request) -> web.StreamResponse:
        return web.Response(text=self.data if isinstance(self.data, str) else json.dumps(self.data))

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request)
        self.together += 1
        self.most_together = max(self.most_together, self.together)
        try:
            match request.path.rpartition("/")[2]:
                case "watch":
                    return await self.page(request)
                case "player":
                    return await self.player(request)
                case "timedtext":
                    return await self.document(request)
            return web.Response(status=404)
        finally:
            self.together -= 1


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    """An event loop in a thread."""
    with start_blocking_portal() as running:
        yield running


@pytest.fixture
def rogue(portal: BlockingPortal) -> Iterator[Rogue]:
    """On plain HTTP, at an address instead of a name."""
    rogue = Rogue()

    async def start() -> web.ServerRunner:
        runner = web.ServerRunner(web.Server(rogue.handle), shutdown_timeout=0.1)  # type: ignore[arg-type]
        await runner.setup()
        await web.TCPSite(runner, OTHER, 0).start()
        rogue.url = f"http://{OTHER}:{runner.addresses[0][1]}"
        return runner

    runner = portal.call(start)
    yield rogue
    portal.call(runner.cleanup)


@pytest.fixture
def captions(rogue: Rogue, children: ChildPool) -> YouTubeCaptions:
    return real(rogue.url, children).captions


@pytest.fixture
def canary(rogue: Rogue) -> Iterator[Canary]:
    """Listens where nobody may connect to.

    On all addresses, after `rogue`: so its port is never that of `rogue`, who may be connected to.
    """
    with Canary(("0.0.0.0", 0)) as listening:
        yield listening
        assert listening.calls == 0


def real(url: str, children: ChildPool, proxies: str = "") -> WorkerPorts:
    settings = Settings(youtube_url=url, egress_allow=f"{OTHER}/32", egress_proxy_file=proxies)
    return WorkerPorts(settings, children)


def fetch(captions: YouTubeCaptions, *, limit_s: float = PATIENCE_S, lang: str | None = None) -> CaptionedVideo:
    return captions.fetch(ID, lambda tracks: chosen(tracks, lang), deadline=time.monotonic() + limit_s)


def failure(captions: YouTubeCaptions, **more: Any) -> UpstreamFailed:
    with pytest.raises(UpstreamFailed) as caught:
        fetch(captions, **more)
    assert caught.value.reason in ENDPOINT.failures
    return caught.value


def call(ports: WorkerPorts, video_id: str, lang: str | None = None) -> dict[str, Any]:
    request = Request(url=f"https://youtu.be/{video_id}", lang=lang)
    answer: dict[str, Any] = json.loads(msgspec.json.encode(run(request, Context("0x0", ports))))
    return answer


# What the library says.


def test_every_exception_of_the_library_has_a_reason() -> None:
    """A version that adds one, or takes one away, fails here."""

    def tree(kind: type[Exception]) -> set[type[Exception]]:
        return {kind}.union(*(tree(child) for child in kind.__subclasses__()))

    raised = tree(_errors.YouTubeTranscriptApiException)
    assert raised == set(REASONS)
    exported = {getattr(youtube_transcript_api, name) for name in youtube_transcript_api.__all__}
    assert {kind for kind in exported if issubclass(kind, Exception)} <= set(REASONS)
    assert {reason for reason, _ in REASONS.values()} <= set(ENDPOINT.failures)


@pytest.mark.parametrize(
    ("status", "reason", "says"),
    [
        ({"status": "LOGIN_REQUIRED", "reason": "Sign in to confirm you're not a bot"}, "rate_limited", "robot"),
        ({"status": "LOGIN_REQUIRED", "reason": "Sign in to confirm your age"}, "video_unavailable", "your age"),
        ({"status": "ERROR", "reason": "This video is private"}, "video_unavailable", "private"),
        ({"status": "UNPLAYABLE"}, "video_unavailable", "cannot be played"),
        ({"status": "LIVE_STREAM_OFFLINE", "reason": "Premieres in\n3 hours"}, "video_unavailable", "in 3 hours"),
        ({"status": "UNPLAYABLE", "reason": "x" * 10_000}, "video_unavailable", "xxx"),
        ({"status": "UNPLAYABLE", "reason": ["x"]}, "video_unavailable", "cannot be played"),
        ({"status": "UNPLAYABLE", "reason": "a \ud800"}, "video_unavailable", "a ?"),
        (None, "bad_content", "expected"),
        ([], "bad_content", "expected"),
    ],
)
def test_what_the_player_says(captions: YouTubeCaptions, rogue: Rogue, status: Any, reason: str, says: str) -> None:
    """In whatever words."""
    rogue.data["playabilityStatus"] = status
    failed = failure(captions)
    assert failed.reason == reason
    assert says in failed.detail
    assert len(failed.detail) < 300


BAD_PLAYERS: dict[str, Any] = {
    "no JSON": "<html>",
    "nothing": "",
    "a list": [],
    "null": "null",
    "depth": '{"a":' * 50_000,
    "digits": '{"a":' + "9" * 5000 + "}",
    "no status": {"captions": {}},
    "captions": {"playabilityStatus": {"status": "OK"}, "captions": []},
}


@pytest.mark.parametrize("data", BAD_PLAYERS.values(), ids=BAD_PLAYERS)
def test_player_data_that_is_none(captions: YouTubeCaptions, rogue: Rogue, data: Any) -> None:
    rogue.data = data
    assert failure(captions).reason == "bad_content"


@pytest.mark.parametrize(
    "track",
    [
        {},
        [],
        None,
        {"baseUrl": "https://www.youtube.com/api/timedtext", "languageCode": "en", "name": {"simpleText": "English"}},
        {"baseUrl": 5, "languageCode": "en", "name": {"runs": [{"text": "English"}]}},
        {"baseUrl": "x", "languageCode": ["en"], "name": {"runs": [{"text": "English"}]}},
        {"baseUrl": "x", "languageCode": 5, "name": {"runs": [{"text": "English"}]}},
        {"baseUrl": "x", "languageCode": "en", "name": {"runs": [{"text": None}]}},
    ],
)
def test_tracks_that_are_none(captions: YouTubeCaptions, rogue: Rogue, track: Any) -> None:
    rogue.offer([track])
    assert failure(captions).reason == "bad_content"


def test_texts_of_the_upstream_can_be_written(captions: YouTubeCaptions, rogue: Rogue) -> None:
    """Halves of a character, long ones, and a title that is none."""
    rogue.offer([rogue.track("en\ud800" + "x" * 1000)])
    rogue.data["videoDetails"] = {"title": "a\udfffb"}
    found = fetch(captions)
    assert found.title == "a?b"
    assert len(found.tracks[0].code) == 200
    for details in (None, [], {}, {"title": 5}, {"title": None}):
        rogue.data["videoDetails"] = details
        assert fetch(captions).title is None


def test_the_track_that_the_video_names(captions: YouTubeCaptions, rogue: Rogue) -> None:
    """Among those of the sound that it starts with; what is not as expected is not asked."""
    tracks = [rogue.track("de"), rogue.track("fr"), rogue.track("en", kind="asr")]
    rogue.offer(tracks, audioTracks=[{"defaultCaptionTrackIndex": 1}, {}])
    found = fetch(captions)
    assert found.tracks[found.chosen].code == "fr"
    for audio in ([], None, [{}], [{"defaultCaptionTrackIndex": 9}], [{"defaultCaptionTrackIndex": "1"}], "x"):
        rogue.offer(tracks, audioTracks=audio)
        assert fetch(captions).chosen == 0
    rogue.offer(tracks, audioTracks=[{}, {"defaultCaptionTrackIndex": 1}], defaultAudioTrackIndex=1)
    assert fetch(captions).chosen == 1


# Where it goes.


def test_what_is_sent(
    captions: YouTubeCaptions, rogue: Rogue, canary: Canary, monkeypatch: Any, tmp_path: Path
) -> None:
    """Three requests, with nothing of the environment and no cookies, whatever was set."""
    proxy = f"http://127.0.0.1:{canary.ports[0]}"
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy)
    netrc = tmp_path / "netrc"
    netrc.write_text(f"machine {OTHER} login me password secret\nmachine www.youtube.com login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    rogue.page = rogue.says(text=KEY_PAGE, headers={"Set-Cookie": "a=b; Path=/"})
    fetch(captions)
    assert [(request.method, request.path_qs) for request in rogue.asked] == [
        ("GET", f"/watch?v={ID}"),
        ("POST", "/youtubei/v1/player?key=k"),
        ("GET", "/api/timedtext?v=a"),
    ]
    for request in rogue.asked:
        assert request.headers["Host"] == rogue.url.removeprefix("http://")
        assert request.headers["User-Agent"].startswith("coinslot")
        assert request.headers["Accept-Language"] == "en-US"
        assert not {"Cookie", "Authorization", "Proxy-Authorization"} & set(request.headers)
    assert rogue.asked[1].content_type == "application/json"


def test_consent_is_given_once(captions: YouTubeCaptions, rogue: Rogue) -> None:
    """And when that does not help, or cannot be done, it is over."""
    page = '<form action="https://consent.youtube.com/s"><input name="v" value="cb.2">'
    rogue.page = rogue.says(text=page)
    assert failure(captions).reason == "bad_content"
    assert [request.headers.get("Cookie") for request in rogue.asked] == [None, "CONSENT=YES+cb.2"]
    pages = iter((page, KEY_PAGE))
    rogue.page = lambda request: rogue.says(text=next(pages))(request)
    assert fetch(captions).title == "T"
    for value in ("é€", "a\rX-Injected: 1", "a; b=c"):
        rogue.page = rogue.says(text=page.replace("cb.2", value))
        assert failure(captions).reason == "bad_content"
    assert not any("X-Injected" in request.headers for request in rogue.asked)


def inside(port: int) -> list[str]:
    return [
        f"http://127.0.0.1:{port}/api/timedtext",
        f"https://127.0.0.1:{port}/api/timedtext",
        f"https://www.youtube.com@127.0.0.1:{port}/api/timedtext",
        f"https://www.youtube.com:{port}/api/timedtext",
        f"http://{OTHER}:{port}/api/timedtext",
        f"http://localhost:{port}/api/timedtext",
        f"http://[::ffff:127.0.0.1]:{port}/api/timedtext",
        "http://www.youtube.com/api/timedtext",
        "http://169.254.169.254/latest/meta-data/",
        "https://www.youtube.com.example.com/api/timedtext",
        "https://example.com/www.youtube.com/api/timedtext",
        "file:///etc/passwd",
        "ftp://www.youtube.com/api/timedtext",
        "gopher://127.0.0.1/",
        "https://user:password@www.youtube.com/api/timedtext",
        "https://",
        "https://www.youtube.com/" + "x" * 10_000,
    ]


@pytest.mark.parametrize("number", range(len(inside(1))))
def test_captions_elsewhere_are_not_asked_for(
    captions: YouTubeCaptions, rogue: Rogue, canary: Canary, number: int
) -> None:
    """An address in the player's data is the upstream's word: nothing but YouTube's hosts is connected to."""
    rogue.offer([rogue.track(url=inside(canary.ports[0])[number])])
    assert failure(captions).reason == "bad_content"
    assert len(rogue.asked) == 2


def test_what_parsers_disagree_on_stays_with_youtube(captions: YouTubeCaptions, rogue: Rogue, canary: Canary) -> None:
    """A backslash ends the host, as in every browser."""
    rogue.offer([rogue.track(url=f"https://www.youtube.com\\@127.0.0.1:{canary.ports[0]}/api/timedtext")])
    fetch(captions)
    assert rogue.asked[2].path.startswith("/\\@127.0.0.1:")


@pytest.mark.parametrize("step", ["page", "player", "document"])
@pytest.mark.parametrize("number", range(len(inside(1)) - 2))
def test_redirects_elsewhere_are_not_followed(
    captions: YouTubeCaptions, rogue: Rogue, canary: Canary, step: str, number: int
) -> None:
    """Of any of the three requests."""
    location = inside(canary.ports[0])[number]
    setattr(rogue, step, rogue.says(status=302, headers={"Location": location}))
    assert failure(captions).reason == "bad_content"
    assert len(rogue.asked) == ["page", "player", "document"].index(step) + 1


def test_redirects_within_youtube(captions: YouTubeCaptions, rogue: Rogue) -> None:
    """To YouTube's hosts and to the base itself; the base stands for all of them."""
    locations = ["https://consent.youtube.com/m/watch", "/other/watch", f"{rogue.url}/third/watch"]

    async def page(request: web.Request) -> web.StreamResponse:
        if locations:
            return web.Response(status=302, headers={"Location": locations.pop(0)})
        return web.Response(text=KEY_PAGE)

    rogue.page = page
    assert fetch(captions).title == "T"
    assert [request.path for request in rogue.asked][:4] == ["/watch", "/m/watch", "/other/watch", "/third/watch"]


@pytest.mark.parametrize("step", ["page", "player", "document"])
def test_redirects_without_end(captions: YouTubeCaptions, rogue: Rogue, step: str) -> None:
    path = {"page": "/watch", "player": "/youtubei/v1/player", "document": "/api/timedtext"}[step]
    setattr(rogue, step, rogue.says(status=307, headers={"Location": path}))
    assert failure(captions).reason == "bad_content"
    assert len(rogue.asked) <= 6


def test_the_search_engine_says_sorry(captions: YouTubeCaptions, rogue: Rogue) -> None:
    """Where YouTube sends robots. Nobody goes there."""
    rogue.page = rogue.says(status=302, headers={"Location": "https://www.google.com/sorry/index?continue=x"})
    assert failure(captions).reason == "rate_limited"
    assert len(rogue.asked) == 1


def test_a_base_that_is_not_public(rogue: Rogue, canary: Canary, children: ChildPool) -> None:
    """Also the operator's own base must be allowed."""
    url = f"http://127.0.0.1:{canary.ports[0]}"
    assert failure(real(url, children).captions).reason == "dns_failure"


def test_a_base_with_a_path(rogue: Rogue, children: ChildPool) -> None:
    """It comes before every path; an address that is there already has it."""
    rogue.offer([rogue.track(url=f"{rogue.url}/deep/api/timedtext?v=a")])
    fetch(real(f"{rogue.url}/deep/", children).captions)
    assert [request.path for request in rogue.asked] == [
        "/deep/watch",
        "/deep/youtubei/v1/player",
        "/deep/api/timedtext",
    ]


@pytest.mark.parametrize("block", ["robot", "429", "nothing"])
def test_a_fetch_that_youtube_refuses_is_made_once_more_through_a_proxy(
    rogue: Rogue, children: ChildPool, tmp_path: Path, block: str
) -> None:
    """Whole, by one exit, which the next fetch keeps. The circuit sees the second one alone."""
    player, document = rogue.player, rogue.document
    robot = {"playabilityStatus": {"status": "LOGIN_REQUIRED", "reason": "Sign in to confirm you're not a bot"}}
    refuses = {
        "robot": ("player", rogue.says(text=json.dumps(robot))),
        "429": ("page", rogue.says(status=429)),
        "nothing": ("document", rogue.says(text="")),
    }
    with real_proxy() as proxy:

        def first(refusal: Answer, usual: Answer) -> Answer:
            async def answer(request: web.Request) -> web.StreamResponse:
                return await (usual if proxy.asked else refusal)(request)

            return answer

        step, refusal = refuses[block]
        usual = {"player": player, "document": document, "page": rogue.page}[step]
        setattr(rogue, step, first(refusal, usual))
        captions = real(rogue.url, children, proxy.file(tmp_path, "youtube", "http", "after_refusal")).captions
        assert fetch(captions).title == "T"
        assert len(proxy.asked) == 3
        direct = {"robot": 2, "429": 1, "nothing": 3}[block]
        assert len(rogue.asked) == direct + 3
        fetch(captions)
        assert len(proxy.asked) == 6
        assert captions._upstreams._upstreams["YouTube"].failures == 0


def test_a_video_that_has_no_captions_is_not_asked_for_through_a_proxy(
    rogue: Rogue, children: ChildPool, tmp_path: Path
) -> None:
    """Its refusal is the video's, not of our address."""
    rogue.data = {"playabilityStatus": {"status": "OK"}, "videoDetails": {"title": "T"}}
    with real_proxy() as proxy:
        captions = real(rogue.url, children, proxy.file(tmp_path, "youtube", "socks5", "after_refusal")).captions
        assert failure(captions).reason == "captions_disabled"
        assert proxy.connections == 0


def test_proxies_that_do_not_work_are_our_fault(rogue: Rogue, children: ChildPool, tmp_path: Path) -> None:
    """The call may be repeated, free, and the pool takes no more of them. Nobody is called directly."""
    with real_proxy() as proxy:
        ports = real(rogue.url, children, proxy.file(tmp_path, "youtube", "http", "always"))
        proxy.credentials = ("another", "password")
        request = Request(url=f"https://youtu.be/{ID}")
        result = execute(ENDPOINT, msgspec.json.encode(request), Context("0x0", ports))
        assert isinstance(result, Failed)
        assert (result.code, result.reason, result.retryable) == ("unavailable", None, True)
        assert ENDPOINT.fault_of(result.code, result.reason) == "ours"
        assert ports.live_ports(Pool.YOUTUBE)[0].unavailable_reason() == "no_proxy"
    assert rogue.asked == []


class Recorder:
    """jobs.ports.Pages, without a network."""

    def __init__(self, rogue: Rogue) -> None:
        self.asked: list[str] = []
        self._data = json.dumps(rogue.data).encode()

    def get(self, url: PublicUrl, **_: Any) -> Page:
        raise AssertionError("redirects are not followed here")

    def exchange(self, method: str, url: PublicUrl, **_: Any) -> Page:
        self.asked.append(str(url))
        if method == "POST":
            return Page(str(url), 200, (), self._data)
        return Page(str(url), 200, (), KEY_PAGE.encode() if "/watch" in url.target else b"<transcript/>")


def test_the_real_youtube(rogue: Rogue) -> None:
    """Without a base of its own every host is asked where it is."""
    rogue.offer([rogue.track(url="https://video.google.com/timedtext?v=a")])
    pages = Recorder(rogue)
    fetch(YouTubeCaptions(pages, base=Settings().youtube_url, route=lambda: Exits().route("www.youtube.com")))
    assert pages.asked == [
        f"https://www.youtube.com/watch?v={ID}",
        "https://www.youtube.com/youtubei/v1/player?key=k",
        "https://video.google.com/timedtext?v=a",
    ]


# When it goes wrong.


async def stall(request: web.Request) -> web.StreamResponse:
    """Say nothing."""
    await asyncio.sleep(60)
    return web.Response()


async def drip(request: web.Request) -> web.StreamResponse:
    """Send a byte now and then, which is no progress."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("step", ["page", "player", "document"])
@pytest.mark.parametrize("slow", [stall, drip])
def test_an_upstream_that_is_slow(captions: YouTubeCaptions, rogue: Rogue, step: str, slow: Answer) -> None:
    """One deadline for all requests together."""
    setattr(rogue, step, slow)
    began = time.monotonic()
    assert failure(captions, limit_s=0.5).reason == "timeout"
    assert time.monotonic() - began < SLACK_S


@pytest.mark.parametrize("step", ["page", "player", "document"])
def test_a_body_without_end(captions: YouTubeCaptions, rogue: Rogue, step: str) -> None:
    """Each has its limit."""

    async def pour(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" " * 65536)

    setattr(rogue, step, pour)
    assert failure(captions).reason == "too_large"


def test_a_body_that_unfolds(captions: YouTubeCaptions, rogue: Rogue) -> None:
    bomb = gzip.compress(b"<transcript>" + b" " * (4 * MAX_DOCUMENT_BYTES))
    assert len(bomb) < 20_000
    rogue.document = rogue.says(body=bomb, headers={"Content-Encoding": "gzip"})
    assert failure(captions).reason == "too_large"
    rogue.document = rogue.says(body=bomb[:1000], headers={"Content-Encoding": "gzip"})
    assert failure(captions).reason == "bad_content"


@pytest.mark.parametrize(
    ("step", "status", "reason"),
    [
        ("page", 500, "http_status"),
        ("page", 404, "http_status"),
        ("page", 429, "rate_limited"),
        ("page", 304, "bad_content"),
        ("player", 403, "http_status"),
        ("player", 429, "rate_limited"),
        ("player", 204, "bad_content"),
        ("document", 404, "http_status"),
        ("document", 503, "http_status"),
        ("document", 429, "rate_limited"),
        ("document", 204, "rate_limited"),
        ("document", 304, "rate_limited"),
    ],
)
def test_other_statuses(captions: YouTubeCaptions, rogue: Rogue, step: str, status: int, reason: str) -> None:
    """The number is told where it says something."""
    setattr(rogue, step, rogue.says(status=status))
    failed = failure(captions)
    assert failed.reason == reason
    assert reason != "http_status" or str(status) in failed.detail


def test_captions_without_content(captions: YouTubeCaptions, rogue: Rogue) -> None:
    """200 and nothing is how robots are refused."""
    rogue.document = rogue.says(body=b"")
    assert failure(captions).reason == "rate_limited"


def test_a_page_without_a_key(captions: YouTubeCaptions, rogue: Rogue) -> None:
    for text in (
        "",
        "hello",
        '"INNERTUBE_API_KEY": "',
        "&#" + "9" * 5000 + ";",
        "\ud83d".encode("utf-8", "surrogatepass"),
    ):
        rogue.page = rogue.says(body=text if isinstance(text, bytes) else text.encode())
        assert failure(captions).reason == "bad_content"


def test_nobody_there(children: ChildPool, rogue: Rogue) -> None:
    """A closed port, and a server that speaks no TLS."""
    with socket.create_server((OTHER, 0)) as closed:
        url = f"http://{OTHER}:{closed.getsockname()[1]}"
    assert failure(real(url, children).captions).reason == "connection_refused"
    assert failure(real(rogue.url.replace("http:", "https:"), children).captions).reason == "tls_failure"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b'<transcript><text start="1"><![CDATA[' + b"<" * 2_000_000 + b"]]></text></transcript>", None),
        (b"<transcript>" + b'<text start="1" dur="1">a</text>' * 60_000 + b"</transcript>", "too_large"),
        (b"<a>" * 600_000, "bad_content"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><transcript><text start="1">&b;</text></transcript>', "bad_content"),
        (b'<transcript><text start="NaN">a</text></transcript>', "bad_content"),
        (b'<transcript><text start="1" dur="-1">a</text></transcript>', "bad_content"),
        (b"<transcript> </transcript>", "no_captions"),
    ],
    ids=["quadratic", "many", "depth", "entity", "NaN", "negative", "empty"],
)
def test_hostile_documents(rogue: Rogue, children: ChildPool, document: bytes, reason: str | None) -> None:
    """Read in a child, in time."""
    rogue.document = rogue.says(body=document)
    ports = real(rogue.url, children)
    began = time.monotonic()
    if reason is None:
        assert len(call(ports, ID)["text"]) == 2_000_000
    else:
        with pytest.raises(UpstreamFailed) as caught:
            call(ports, ID)
        assert caught.value.reason == reason
    assert time.monotonic() - began < PATIENCE_S


def test_no_more_than_four_at_once(captions: YouTubeCaptions, rogue: Rogue) -> None:
    """Of eight threads, so that YouTube is not asked more than it likes."""

    async def slow(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.1)
        return web.Response(text=KEY_PAGE)

    rogue.page = slow
    with ThreadPoolExecutor(8) as threads:
        assert all(video.title == "T" for video in threads.map(lambda _: fetch(captions), range(8)))
    assert rogue.most_together == 4


def test_youtube_is_left_alone_when_it_wants_to_be(captions: YouTubeCaptions, rogue: Rogue) -> None:
    """After eight refusals in a row nothing is sent for a while. What is wrong with one video does not count."""
    rogue.page = rogue.says(status=429)
    for _ in range(7):
        assert failure(captions).reason == "rate_limited"
    rogue.page = rogue.says(text=KEY_PAGE)
    rogue.offer([])
    assert failure(captions).reason == "no_captions"
    rogue.offer([rogue.track(url="https://www.youtube.com/api/timedtext?v=a&exp=xpe")])
    for _ in range(9):
        assert failure(captions).reason == "rate_limited"
    rogue.page = rogue.says(status=429)
    for _ in range(8):
        assert failure(captions).reason == "rate_limited"
    asked = len(rogue.asked)
    assert "left alone" in failure(captions).detail
    assert len(rogue.asked) == asked
