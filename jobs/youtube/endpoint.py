"""youtube: returns the transcript of a video, made from its captions.

- jobs/youtube/videos.py finds the video in the URL without the network, so a URL of no video is refused before the payment.
- `lang` selects the track of exactly this language, else one of the same language without a region, else one with any other
  region. In each step, captions by people come before generated ones (jobs/youtube/tracks.py). Nothing is translated.
- A video without captions, or not in this language, and one that is not available are final answers.
- YouTube refuses many addresses of data centres (`rate_limited`). The caller may repeat the same payment, free.
"""

import time
from typing import Annotated

import msgspec

from jobs.fields import Ok, doc
from jobs.hosts import MAX_URL
from jobs.ports import Context
from jobs.site import Site, SiteRequest
from jobs.youtube import tracks, transcript
from jobs.youtube.transcript import Segment
from jobs.youtube.videos import NotAVideo, video_id, watch_url
from shared.endpoint import Category, Endpoint, Example, Flavour, InvalidField, Pool
from shared.money import Price
from shared.outcome import UpstreamFailed

TIMEOUT_S = 15.0
"""For all requests to YouTube together: three, or four when a page asks for consent."""
READING_LIMIT_S = 4.0
"""CPU time. The worst 2 MB take 0.3 s."""
CHILD_WAIT_S = 8.0
"""Until a child was free and has answered, on a busy machine."""


class Request(SiteRequest, frozen=True, kw_only=True, rename="camel"):
    url: Annotated[
        str,
        msgspec.Meta(
            description="Video URL on youtube.com or youtu.be: watch, shorts, live, embed, v or attribution link.",
            extra_json_schema={"maxLength": MAX_URL},
        ),
    ]
    lang: (
        Annotated[
            str,
            msgspec.Meta(
                description="ISO 639-1 code, with or without a region (pt-BR), of another track than the default one.",
                extra_json_schema={"pattern": f"^{tracks.LANGUAGE}$"},
            ),
        ]
        | None
    ) = None

    def check(self, site: Site) -> None:
        try:
            video_id(self.url, site)
        except NotAVideo as refused:
            raise InvalidField(str(refused), field="url", code="invalid_url") from None
        if self.lang is not None and not tracks.is_language(self.lang):
            raise InvalidField("A language code has the form en or pt-BR.", field="lang")


class Language(msgspec.Struct, frozen=True, rename="camel"):
    """A caption track."""

    code: Annotated[str, doc("The language code, as YouTube writes it.")]
    name: Annotated[str, doc("The language's name, as YouTube writes it.")]
    is_generated: Annotated[bool, doc("True when speech recognition made the captions, false when people wrote them.")]


class Response(msgspec.Struct, frozen=True, rename="camel"):
    ok: Ok
    video_id: Annotated[str, doc("YouTube's id of the video.")]
    url: Annotated[str, doc("The video's usual address.")]
    title: Annotated[str | None, doc("The video's title. Null when YouTube does not state it.")]
    language: Annotated[str, doc("The code of the language of the captions, as YouTube writes it.")]
    language_name: Annotated[str, doc("The language's name, as YouTube writes it.")]
    is_generated: Annotated[bool, doc("True when speech recognition made the captions, false when people wrote them.")]
    segments: Annotated[list[Segment], doc("The captions in their order.")]
    segment_count: Annotated[int, doc("The number of `segments`.")]
    duration_seconds: Annotated[float, doc("The end of the last segment, in seconds from the start of the video.")]
    text: Annotated[str, doc("The text of all segments, one per line.")]
    available_languages: Annotated[list[Language], doc("The caption tracks of the video. `lang` accepts each `code`.")]


def run(request: Request, context: Context) -> Response:
    """Fetch the captions, choose a track and read it."""
    deadline = time.monotonic() + TIMEOUT_S
    video = video_id(request.url, context.site)
    found = context.ports.captions.fetch(video, lambda offered: tracks.chosen(offered, request.lang), deadline=deadline)
    track = found.tracks[found.chosen]
    segments = transcript.decode(
        context.ports.calculations.run(
            transcript.NAME, found.document, limit_s=READING_LIMIT_S, deadline=time.monotonic() + CHILD_WAIT_S
        )
    )
    if not segments:
        raise UpstreamFailed("There is no text in the captions of this video.", reason="no_captions", is_final=True)
    return Response(
        ok=True,
        video_id=video,
        url=watch_url(video),
        title=found.title,
        language=track.code,
        language_name=track.name,
        is_generated=track.is_generated,
        segments=segments,
        segment_count=len(segments),
        duration_seconds=round(max(segment.start + segment.dur for segment in segments), 3),
        text="\n".join(segment.text for segment in segments),
        available_languages=[Language(track.code, track.name, track.is_generated) for track in found.tracks],
    )


ENDPOINT = Endpoint(
    name="youtube",
    price=Price.of("0.015"),
    category=Category.DATA,
    pool=Pool.YOUTUBE,
    deadline_s=25,
    flavour=Flavour.NEWER,
    request=Request,
    response=Response,
    failures=(
        *("captions_disabled", "no_captions", "language_not_available", "video_unavailable", "rate_limited", "timeout"),
        *("dns_failure", "connection_refused", "tls_failure", "too_large", "bad_content", "http_status"),
    ),
    target_failures=("captions_disabled", "no_captions", "language_not_available", "video_unavailable", "too_large"),
    summary=(
        "The transcript of a YouTube video from its captions, in its own or another of their languages: segments with start "
        "and duration, the text, and which languages there are. People's captions are preferred to generated ones."
    ),
    example=Example(
        request={"url": "https://youtu.be/coinslot-01", "lang": "en"},
        response={
            "ok": True,
            "videoId": "coinslot-01",
            "url": "https://www.youtube.com/watch?v=coinslot-01",
            "title": "How a Coin Slot Works",
            "language": "en",
            "languageName": "English",
            "isGenerated": False,
            "segments": [
                {"start": 0.0, "dur": 2.4, "text": "A coin goes in,"},
                {"start": 2.4, "dur": 3.1, "text": "and that's all there is to it."},
            ],
            "segmentCount": 2,
            "durationSeconds": 5.5,
            "text": "A coin goes in,\nand that's all there is to it.",
            "availableLanguages": [
                {"code": "en", "name": "English", "isGenerated": False},
                {"code": "pt-BR", "name": "Portuguese (Brazil)", "isGenerated": False},
                {"code": "en", "name": "English (auto-generated)", "isGenerated": True},
            ],
        },
    ),
    run=run,
)
