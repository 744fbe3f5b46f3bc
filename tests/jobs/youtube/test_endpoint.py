"""The endpoint: what a request may be, and what comes back."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from jobs.calculations import CALCULATIONS
from jobs.ports import CaptionedVideo, CaptionTrack, Context
from jobs.youtube.endpoint import CHILD_WAIT_S, ENDPOINT, TIMEOUT_S, Request, run
from shared.endpoint import InvalidField
from shared.outcome import UpstreamFailed
from tests.each import each
from tests.sites import PUBLIC, decoded

URL = "https://youtu.be/coinslot-01"
EN = CaptionTrack("en", "English", False)
PT = CaptionTrack("pt-BR", "Portuguese (Brazil)", False)
GENERATED = CaptionTrack("en", "English (auto-generated)", True)
DOCUMENT = b'<transcript><text start="0.1" dur="0.2">a &amp;amp;</text><text start="0">b</text></transcript>'


class FakeCaptions:
    """One video."""

    def __init__(self, tracks: Sequence[CaptionTrack], document: bytes = DOCUMENT, title: str | None = "T") -> None:
        self._video = tracks, document, title
        self.asked: list[tuple[str, float]] = []

    def fetch(
        self, video_id: str, choose: Callable[[Sequence[CaptionTrack]], int], *, deadline: float
    ) -> CaptionedVideo:
        self.asked.append((video_id, deadline))
        tracks, document, title = self._video
        return CaptionedVideo(title, tracks, choose(tracks), document)


class Here:
    """Calculations without a child."""

    def run(self, name: str, argument: bytes, *, limit_s: float, deadline: float | None = None) -> bytes:
        assert 0 < limit_s <= 5
        assert deadline is not None
        return CALCULATIONS[name].calculate(argument)


def request(body: Any) -> Request:
    return decoded(Request, body)


def answer(captions: FakeCaptions, **body: Any) -> dict[str, Any]:
    ports: Any = SimpleNamespace(captions=captions, calculations=Here(), site=PUBLIC)
    found: dict[str, Any] = json.loads(msgspec.json.encode(run(request({"url": URL, **body}), Context("0x0", ports))))
    return found


def refusal(body: Any) -> InvalidField:
    with pytest.raises(InvalidField) as caught:
        request(body)
    return caught.value


def test_an_answer() -> None:
    """Every field, in the form that is documented."""
    captions = FakeCaptions([EN, PT, GENERATED])
    assert answer(captions, lang="pt") == {
        "ok": True,
        "videoId": "coinslot-01",
        "url": "https://www.youtube.com/watch?v=coinslot-01",
        "title": "T",
        "language": "pt-BR",
        "languageName": "Portuguese (Brazil)",
        "isGenerated": False,
        "segments": [{"start": 0.1, "dur": 0.2, "text": "a &"}, {"start": 0.0, "dur": 0.0, "text": "b"}],
        "segmentCount": 2,
        "durationSeconds": 0.3,
        "text": "a &\nb",
        "availableLanguages": [
            {"code": "en", "name": "English", "isGenerated": False},
            {"code": "pt-BR", "name": "Portuguese (Brazil)", "isGenerated": False},
            {"code": "en", "name": "English (auto-generated)", "isGenerated": True},
        ],
    }
    assert [video_id for video_id, _ in captions.asked] == ["coinslot-01"]


def test_null_is_the_same_as_nothing() -> None:
    """The video's own language, and null for a title that is not known."""
    found = answer(FakeCaptions([GENERATED, PT], title=None), lang=None)
    assert (found["language"], found["isGenerated"], found["title"]) == ("pt-BR", False, None)
    assert found == answer(FakeCaptions([GENERATED, PT], title=None))


def test_the_duration_is_that_of_what_ends_last() -> None:
    """Which is not always what comes last."""
    document = b'<t><text start="0" dur="9.5">a</text><text start="1.1" dur="2.2">b</text></t>'
    assert answer(FakeCaptions([EN], document))["durationSeconds"] == 9.5


@each(
    ("captions", "lang", "reason"),
    [
        (FakeCaptions([]), None, "no_captions"),
        (FakeCaptions([EN]), "ja", "language_not_available"),
        (FakeCaptions([EN], b"<transcript/>"), None, "no_captions"),
        (FakeCaptions([EN], b"<html>"), None, "bad_content"),
    ],
)
def test_failures(captions: FakeCaptions, lang: str | None, reason: str) -> None:
    """Each is one that the endpoint documents."""
    with pytest.raises(UpstreamFailed) as caught:
        answer(captions, lang=lang)
    assert caught.value.reason == reason
    assert reason in ENDPOINT.failures


def test_the_reasons_of_the_specification_come_first() -> None:
    """Clients know these five."""
    captions = ("captions_disabled", "no_captions", "language_not_available", "video_unavailable", "rate_limited")
    assert ENDPOINT.failures[:5] == captions


@each("url", ["", "coinslot-01", "http://127.0.0.1/watch?v=coinslot-01", "https://youtu.be/x"])
def test_what_names_no_video_is_refused_before_it_is_paid_for(url: str) -> None:
    """With the one code, also for hosts that are never called."""
    refused = refusal({"url": url})
    assert (refused.field, refused.code) == ("url", "invalid_url")


@each("lang", ["", "english", "pt_BR", "en\n"])
def test_what_is_no_language_is_refused_before_it_is_paid_for(lang: str) -> None:
    assert refusal({"url": URL, "lang": lang}).field == "lang"


@each("body", [{}, {"url": 5}, {"url": None}, {"url": URL, "lang": 5}, {"url": URL, "lang": ["en"]}, []])
def test_wrong_types(body: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        request(body)


def test_all_of_it_ends_before_the_deadline() -> None:
    """Requests, a wait for a child, and the reading."""
    assert ENDPOINT.deadline_s > TIMEOUT_S + CHILD_WAIT_S


def test_the_declaration_loads_no_library() -> None:
    """The API imports it to sell it."""
    names = ("requests", "youtube_transcript_api", "lxml")
    code = f"import sys, jobs.youtube.endpoint; print([n for n in {names} if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
