"""YouTube's captions, read with youtube-transcript-api, whose every request goes through the guarded client.

The library requests a video's page (twice, when YouTube asks for consent), the player's data, and a caption document, whose
URL is in that data. Requests go to YouTube's hosts only, whatever the URL. With COINSLOT_YOUTUBE_URL all of them go there
instead; a URL that lies there already is used as it is.

Of several tracks with the same language and kind (a commentary, say) the library keeps the last one.
"""

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import ada_url
from requests import PreparedRequest, Response, Session
from requests.adapters import BaseAdapter
from requests.exceptions import RequestException
from requests.structures import CaseInsensitiveDict
from youtube_transcript_api import YouTubeTranscriptApi, YouTubeTranscriptApiException
from youtube_transcript_api import _errors as errors

from jobs.hosts import PublicUrl
from jobs.ports import CaptionedVideo, CaptionTrack, Pages
from jobs.youtube.videos import SITE
from shared.outcome import BlockedAddress, UpstreamFailed
from workers.egress.exits import Route
from workers.egress.upstreams import FAILING, Upstreams

MAX_PAGE_BYTES = 4 << 20
"""A video's page has about 1.5 MB."""
MAX_DOCUMENT_BYTES = 2 << 20
"""Limit of a caption document. Three hours of speech have 0.5 MB."""
MAX_TRACKS = 1000
MAX_TEXT = 200
"""Characters of a title, a name, a code or a sentence that are kept."""
MAX_ADDRESS = 8 * 1024
MAX_REDIRECTS = 3
AT_ONCE = 4

ORIGINS = frozenset(
    f"https://{host}"
    for host in ("www.youtube.com", "youtube.com", "m.youtube.com", "consent.youtube.com", "video.google.com")
)
"""The sites of pages, player data and captions."""

REASONS: Mapping[type[YouTubeTranscriptApiException], tuple[str, str]] = {
    errors.TranscriptsDisabled: ("captions_disabled", "Captions are disabled for this video."),
    errors.NoTranscriptFound: ("language_not_available", "The video has no captions in this language."),
    errors.NotTranslatable: ("language_not_available", "The captions cannot be translated."),
    errors.TranslationLanguageNotAvailable: ("language_not_available", "The captions cannot be translated."),
    errors.VideoUnavailable: ("video_unavailable", "The video is not available."),
    errors.VideoUnplayable: ("video_unavailable", "The video cannot be played."),
    errors.AgeRestricted: ("video_unavailable", "The video is for signed-in adults."),
    errors.InvalidVideoId: ("video_unavailable", "There is no such video."),
    errors.RequestBlocked: ("rate_limited", "YouTube wants this service to prove that it is no robot."),
    errors.IpBlocked: ("rate_limited", "YouTube has had too many calls from this service."),
    errors.PoTokenRequired: ("rate_limited", "YouTube gives these captions to its own apps alone."),
    errors.YouTubeRequestFailed: ("http_status", "YouTube answered with an error."),
    errors.YouTubeDataUnparsable: ("bad_content", "YouTube's page is not as expected."),
    errors.FailedToCreateConsentCookie: ("bad_content", "YouTube's page of consent is not as expected."),
    errors.CookieError: ("bad_content", "The captions could not be asked for."),
    errors.CookiePathInvalid: ("bad_content", "The captions could not be asked for."),
    errors.CookieInvalid: ("bad_content", "The captions could not be asked for."),
    errors.CouldNotRetrieveTranscript: ("bad_content", "YouTube's answer is not as expected."),
    YouTubeTranscriptApiException: ("bad_content", "YouTube's answer is not as expected."),
}
"""Reason and sentence for each exception of the library. A test checks that none is missing."""

FINAL = frozenset({"captions_disabled", "language_not_available", "no_captions", "video_unavailable"})
"""Reasons that YouTube gives for one video, again whenever it is asked."""
_BLOCKED = "blocked"
"""YouTube refuses this service's address, not one video's captions. Callers see `rate_limited`. Other videos may still work: as
with other failures, several in a row open the circuit."""
_REFUSALS = frozenset({_BLOCKED, "rate_limited"})
_DEFAULT_PORTS = {"http": 80, "https": 443}
_FORWARDED = ("Accept-Language", "Content-Type", "Cookie")


class YouTubeCaptions:
    """Implements jobs.ports.Captions.

    Args:
        base: the URL that replaces https://www.youtube.com.
        route: gives the route of the next requests. A fetch that YouTube refuses is made once more by the next exit
            (workers/egress/exits.py).
    """

    def __init__(
        self,
        pages: Pages,
        *,
        base: str,
        route: Callable[[], Route],
        upstreams: Upstreams | None = None,
        on_open: Callable[[float], None] | None = None,
    ) -> None:
        self._pages = pages
        self._base = base
        self._route = route
        self._upstreams = upstreams or Upstreams(
            at_once=AT_ONCE,
            failures=8,
            pause_s=10.0,
            longest_pause_s=300.0,
            failing={*FAILING, _BLOCKED},
            on_open=on_open,
        )

    def fetch(
        self, video_id: str, choose: Callable[[Sequence[CaptionTrack]], int], *, deadline: float
    ) -> CaptionedVideo:
        """The tracks of a video, and the captions of the track whose index `choose` returns.

        Raises:
            UpstreamFailed: with a reason of `REASONS` or of the guarded client.
        """
        try:
            with self._upstreams.slot("YouTube", deadline=deadline):
                route = self._route()
                try:
                    return _fetched(_GuardedAdapter(self._pages, self._base, deadline), video_id, choose)
                except UpstreamFailed as refused:
                    if refused.reason not in _REFUSALS or not route.refused():
                        raise
                return _fetched(_GuardedAdapter(self._pages, self._base, deadline), video_id, choose)
        except UpstreamFailed as failure:
            if failure.reason == _BLOCKED:
                raise UpstreamFailed(failure.detail, reason="rate_limited") from None
            raise


def _fetched(
    adapter: "_GuardedAdapter", video_id: str, choose: Callable[[Sequence[CaptionTrack]], int]
) -> CaptionedVideo:
    session = Session()
    session.trust_env = False
    session.max_redirects = MAX_REDIRECTS
    session.adapters.clear()
    session.mount("", adapter)
    with _library_errors(adapter):
        found = list(YouTubeTranscriptApi(http_client=session).list(video_id))[:MAX_TRACKS]
        player = adapter.player_data()
        default = _default_track(player)
        tracks = [
            CaptionTrack(code, _text(track.language), is_generated, (code, is_generated) == default)
            for track in found
            if (code := _text(track.language_code), is_generated := bool(track.is_generated))
        ]
    chosen = choose(tracks)
    with _library_errors(adapter):
        adapter.expect_document()
        found[chosen].fetch()
    return CaptionedVideo(_title(player), tracks, chosen, adapter.document())


class _GuardedAdapter(BaseAdapter):
    """Sends the requests of one call's session through the guarded client."""

    def __init__(self, pages: Pages, base: str, deadline: float) -> None:
        super().__init__()
        self._pages = pages
        self._base = ada_url.URL(base)
        self._deadline = deadline
        self._player = b""
        self._document: bytes | None = None
        self._is_for_document = False
        self.status = 0

    def send(self, request: PreparedRequest, *_: object, **__: object) -> Response:
        """Send a request through the guarded client. Raises UpstreamFailed."""
        content = request.body.encode() if isinstance(request.body, str) else request.body
        assert content is None or isinstance(content, bytes)
        try:
            page = self._pages.exchange(
                request.method or "GET",
                self._address(str(request.url)),
                limit_bytes=MAX_DOCUMENT_BYTES if self._is_for_document else MAX_PAGE_BYTES,
                deadline=self._deadline,
                headers={name: str(request.headers[name]) for name in _FORWARDED if name in request.headers},
                content=content,
            )
        except UpstreamFailed as failure:
            raise failure.passing() from None
        except BlockedAddress:
            raise UpstreamFailed(
                "YouTube's name leads to an address that is not public.", reason="dns_failure"
            ) from None
        self.status = page.status
        body = page.body
        if request.method == "POST":
            self._player = body
        elif self._is_for_document:
            # The library would parse it here, which may take for ever (jobs/youtube/transcript.py).
            self._document, body = body if page.status == 200 else None, b"<transcript/>"
        location = page.header("location")
        response = Response()
        response.request = request
        response.url = str(request.url)
        response.status_code = page.status
        response.headers = CaseInsensitiveDict({"Location": location} if location else {})
        response.encoding = "utf-8"  # otherwise requests guesses it, which takes long
        response.raw = io.BytesIO(body)
        return response

    def close(self) -> None:
        """Do nothing: no connection is kept open."""

    def expect_document(self) -> None:
        """Treat the following responses as caption documents."""
        self._is_for_document = True

    def document(self) -> bytes:
        """The captions. Raises UpstreamFailed."""
        if not self._document:
            # YouTube refuses suspected robots like this, without saying so.
            raise UpstreamFailed("YouTube sent captions without content.", reason="rate_limited")
        return self._document

    def player_data(self) -> dict[str, Any]:
        """The player's data, of which the library returns only a part."""
        data: dict[str, Any] = json.loads(self._player)
        return data

    def _address(self, text: str) -> PublicUrl:
        try:
            url = ada_url.URL(text) if len(text) <= MAX_ADDRESS else None
        except ValueError:
            url = None
        if url is None or url.username or url.password:
            raise UpstreamFailed("YouTube's answer leads to what is no address.", reason="bad_content")
        if url.origin == self._base.origin or (url.origin in ORIGINS and self._base.origin == SITE):
            return _named(url, url.pathname + url.search)
        if url.origin in ORIGINS:
            return _named(self._base, self._base.pathname.rstrip("/") + url.pathname + url.search)
        if url.hostname.endswith(".google.com") and url.pathname.startswith("/sorry"):
            raise UpstreamFailed(REASONS[errors.RequestBlocked][1], reason=_BLOCKED)
        raise UpstreamFailed("YouTube's answer leads to another host than YouTube's.", reason="bad_content")


def _named(site: ada_url.URL, target: str) -> PublicUrl:
    scheme = site.protocol.removesuffix(":")
    return PublicUrl(scheme, site.hostname, int(site.port) if site.port else _DEFAULT_PORTS[scheme], target)


@contextmanager
def _library_errors(adapter: _GuardedAdapter) -> Iterator[None]:
    """Translate the library's exceptions to UpstreamFailed."""
    try:
        yield
    except YouTubeTranscriptApiException as error:
        raise _failure(error, adapter.status) from None
    except (RequestException, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        # The library does not check types and keys of the data.
        raise UpstreamFailed("YouTube's answer is not as expected.", reason="bad_content") from None


def _failure(error: YouTubeTranscriptApiException, status: int) -> UpstreamFailed:
    reason, sentence = next(REASONS[kind] for kind in type(error).__mro__ if kind in REASONS)
    if isinstance(error, errors.VideoUnplayable) and isinstance(error.reason, str):
        why = " ".join(_text(error.reason).split())
        if "not a bot" in why:  # the library knows one spelling of it
            return UpstreamFailed(REASONS[errors.RequestBlocked][1], reason=_BLOCKED)
        sentence = f"The video cannot be played. YouTube says: {why}"
    elif isinstance(error, errors.RequestBlocked):
        reason = _BLOCKED
    elif isinstance(error, errors.YouTubeRequestFailed):
        sentence = f"YouTube answered with status {status}."
    return UpstreamFailed(sentence, reason=reason, is_final=reason in FINAL)


def _default_track(player: dict[str, Any]) -> tuple[str, bool] | None:
    """Language and kind of the track that the video names as its default, if any."""
    try:
        listed = player["captions"]["playerCaptionsTracklistRenderer"]
        heard = listed["audioTracks"][listed.get("defaultAudioTrackIndex", 0)]
        track = listed["captionTracks"][heard["defaultCaptionTrackIndex"]]
        return track["languageCode"], track.get("kind") == "asr"
    except (LookupError, TypeError, AttributeError):
        return None


def _title(player: dict[str, Any]) -> str | None:
    try:
        return _text(player["videoDetails"]["title"])
    except (LookupError, TypeError):
        return None


def _text(value: object) -> str:
    """A short text of the upstream, without characters that JSON cannot write. Raises TypeError when it is no text."""
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value[:MAX_TEXT].encode("utf-8", "replace").decode()
