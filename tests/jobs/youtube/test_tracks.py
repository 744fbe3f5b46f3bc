"""Which caption track is meant."""

import pytest

from jobs.ports import CaptionTrack
from jobs.youtube.tracks import chosen, is_language
from shared.outcome import UpstreamFailed
from tests.each import each


def offered(codes: str) -> list[CaptionTrack]:
    """`en` is a track that people wrote, `en*` a generated one, `en!` the video's own."""
    return [CaptionTrack(code.strip("*!"), code, "*" in code, "!" in code) for code in codes.split()]


@each(
    ("codes", "lang", "expected"),
    [
        ("en pt pt-BR", "pt-BR", "pt-BR"),
        ("en pt pt-BR", "pt-br", "pt-BR"),
        ("en pt-PT pt", "pt-BR", "pt"),
        ("en pt-PT", "pt-BR", "pt-PT"),
        ("en pt-PT", "pt", "pt-PT"),
        ("pt* pt-BR", "pt", "pt*"),
        ("pt-PT pt*", "pt-BR", "pt*"),
        ("pt-BR* pt", "pt-BR", "pt-BR*"),
        ("en* en", "en", "en"),
        ("en-US* en-GB", "en", "en-GB"),
        ("en-US* en-GB", "en-US", "en-US*"),
        ("en-GB en-nP7-2PuUl7o", "en", "en-GB"),
        ("iw", "he", "iw"),
        ("he", "iw", "he"),
        ("id", "in", "id"),
        ("zh-Hans zh-Hant", "zh-TW", "zh-Hant"),
        ("zh-CN zh-TW", "zh-Hant", "zh-TW"),
        ("zh-Hans", "zh-TW", "zh-Hans"),
        ("zh zh-Hant", "zh-Hant-TW", "zh-Hant"),
        ("es-419 es", "es-419", "es-419"),
        ("en fil", "fil-PH", "fil"),
        ("pta pt", "pt-BR", "pt"),
    ],
)
def test_a_language_that_is_asked_for(codes: str, lang: str, expected: str) -> None:
    """Exactly that, then without the region, then any region; in each step what people wrote first."""
    tracks = offered(codes)
    assert tracks[chosen(tracks, lang)].name == expected


@each(
    ("codes", "expected"),
    [
        ("en de en*", "en"),
        ("de en en*", "en"),
        ("de en-GB en*", "en-GB"),
        ("de en-GB en en*", "en"),
        ("de en en-US*", "en"),
        ("de fr! en en*", "fr!"),
        ("de fr", "de"),
        ("de fr en*", "de"),
        ("de en*!", "de"),
        ("en*", "en*"),
        ("en* de*!", "de*!"),
        ("en* de*", "en*"),
    ],
)
def test_the_videos_own(codes: str, expected: str) -> None:
    """Of what people wrote: what the video names, what is spoken, the first; else what was generated."""
    tracks = offered(codes)
    assert tracks[chosen(tracks, None)].name == expected


@pytest.mark.parametrize("lang", [None, "en"])
def test_no_tracks(lang: str | None) -> None:
    """Whatever is asked for."""
    with pytest.raises(UpstreamFailed) as caught:
        chosen([], lang)
    assert caught.value.reason == "no_captions"


def test_a_language_that_is_not_there() -> None:
    """The sentence says which are, each once and not for ever."""
    with pytest.raises(UpstreamFailed, match=r"in ja, but in: pt-BR, en\.$") as caught:
        chosen(offered("pt-BR en en*"), "ja")
    assert caught.value.reason == "language_not_available"
    with pytest.raises(UpstreamFailed) as caught:
        chosen(offered(" ".join(f"a{number}" for number in range(1000))), "ja")
    assert len(caught.value.detail) < 200


@each("code", ["en", "pt-BR", "zh-Hant-TW", "es-419", "fil", "PT-br"])
def test_language_codes(code: str) -> None:
    assert is_language(code)


@each("code", ["", "e", "english", "en-", "-en", "en_US", "en US", "en\n", "é", "en-US-x-y-z-abc", "*"])
def test_what_is_no_language_code(code: str) -> None:
    assert not is_language(code)
