"""A small YouTube: video pages, player data and caption documents, with one video for each behaviour.

coinslot-01  English and Brazilian Portuguese by people, English generated; English is spoken
coinslot-02  generated only, in German
coinslot-03  captions are disabled
coinslot-04  no captions
coinslot-05  there is no such video (as for every other id)
coinslot-06  for adults
coinslot-07  YouTube suspects a robot
coinslot-08  the page is a captcha
coinslot-09  too many calls, 429
coinslot-10  captions that only YouTube's own apps get
coinslot-11  asks for consent first
coinslot-12  the caption document is not XML
coinslot-13  private
"""

import asyncio
import html
import json
from typing import Any
from xml.sax.saxutils import escape

import msgspec
from aiohttp import web

from compose.sandbox.upstreams.place import Place, document
from compose.sandbox.upstreams.ports import HTTPS_PORT

HOST = "captions.example.com"
KEY = "sandbox-innertube-key"

Line = tuple[float, float, str]


class Track(msgspec.Struct, frozen=True):
    """A caption track. `lines`: start, duration and HTML; None: a document that is not XML."""

    code: str
    name: str
    lines: list[Line] | None
    is_generated: bool = False
    more: str = ""


class Video(msgspec.Struct, frozen=True):
    """A video. `status`: what the player says of it. `page`: instead of a page with a key."""

    title: str = ""
    tracks: tuple[Track, ...] | None = ()
    status: dict[str, Any] | None = None
    page: str = ""
    needs_consent: bool = False


NO_VIDEO = Video(tracks=None, status={"status": "ERROR", "reason": "This video is unavailable"})
VIDEOS = msgspec.json.decode(document("videos.json"), type=dict[str, Video])


async def start_captions(place: Place) -> None:
    """Add the site, and the setting that makes it YouTube."""
    place.add_site(HOST, answer)
    place.settings["YOUTUBE_URL"] = f"https://{HOST}:{HTTPS_PORT}"


async def answer(request: web.Request) -> web.StreamResponse:
    """Answers the three kinds of requests."""
    await asyncio.sleep(0)
    match request.method, request.path:
        case "GET", "/watch":
            return _page(request)
        case "POST", "/youtubei/v1/player" if request.query.get("key") == KEY:
            video_id = (await request.json()).get("videoId", "")
            return web.json_response(_player(video_id, VIDEOS.get(video_id, NO_VIDEO)))
        case "GET", "/api/timedtext":
            return _document(request)
    return web.Response(status=404, text="not found")


def _page(request: web.Request) -> web.Response:
    video = VIDEOS.get(request.query.get("v", ""), NO_VIDEO)
    if video.page == "429":
        return web.Response(status=429, text="Too Many Requests")
    if video.page:
        return web.Response(text=video.page, content_type="text/html")
    if video.needs_consent and not request.cookies.get("CONSENT", "").startswith("YES+"):
        return web.Response(
            text='<html><form action="https://consent.youtube.com/s"><input name="v" value="cb.1"></form></html>',
            content_type="text/html",
        )
    settings = json.dumps({"INNERTUBE_API_KEY": KEY})
    text = f"<html><title>{html.escape(video.title)}</title><script>ytcfg.set({settings});</script></html>"
    return web.Response(text=text, content_type="text/html")


def _player(video_id: str, video: Video) -> dict[str, Any]:
    """The player's data."""
    player: dict[str, Any] = {"playabilityStatus": video.status or {"status": "OK"}}
    if video.status:
        return player
    player["videoDetails"] = {"videoId": video_id, "title": video.title}
    if video.tracks is not None:
        player["captions"] = {
            "playerCaptionsTracklistRenderer": {
                "captionTracks": [_listed(video_id, track) for track in video.tracks],
                "translationLanguages": [{"languageCode": "fr", "languageName": {"runs": [{"text": "French"}]}}],
            }
        }
    return player


def _listed(video_id: str, track: Track) -> dict[str, Any]:
    kind = {"kind": "asr"} if track.is_generated else {}
    query = f"v={video_id}&lang={track.code}" + ("&kind=asr" if track.is_generated else "") + track.more
    return {
        "baseUrl": f"https://www.youtube.com/api/timedtext?{query}&fmt=srv3",
        "name": {"runs": [{"text": track.name}]},
        "languageCode": track.code,
        "isTranslatable": True,
        **kind,
    }


def _document(request: web.Request) -> web.Response:
    wanted = request.query.get("lang"), request.query.get("kind") == "asr"
    for track in VIDEOS.get(request.query.get("v", ""), NO_VIDEO).tracks or ():
        if (track.code, track.is_generated) == wanted:
            return web.Response(text=_written(track), content_type="text/xml")
    return web.Response(status=404)


def _written(track: Track) -> str:
    """The caption document. Its text is HTML that is escaped once more."""
    if track.lines is None:
        return "<transcript><text start="
    lines = (f'<text start="{start:g}" dur="{dur:g}">{escape(text)}</text>' for start, dur, text in track.lines)
    return f'<?xml version="1.0" encoding="utf-8" ?><transcript>{"".join(lines)}</transcript>'
