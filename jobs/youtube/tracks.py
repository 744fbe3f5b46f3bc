"""Chooses a caption track. In every step, captions by people come before generated ones."""

import re
from collections.abc import Sequence

from jobs.ports import CaptionTrack
from shared.outcome import UpstreamFailed

LANGUAGE = "[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}"
"""Pattern of a language code, as a caller may write it."""

_MAX_NAMED = 20

# YouTube writes codes that ISO 639-1 has replaced, and writes some languages with two different codes.
_SAME = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "nb": "no", "tl": "fil"}
_SCRIPTS = {
    **dict.fromkeys(("zh-cn", "zh-sg", "zh-my"), "zh-hans"),
    **dict.fromkeys(("zh-tw", "zh-hk", "zh-mo"), "zh-hant"),
}
_SAME_LANGUAGE = 100


def is_language(code: str) -> bool:
    """Whether a text has the form of a language code, with or without a region."""
    return re.fullmatch(LANGUAGE, code, re.ASCII) is not None


def chosen(tracks: Sequence[CaptionTrack], lang: str | None) -> int:
    """Choose a track and return its index.

    Args:
        lang: a language code; None selects the video's own language.

    Raises:
        UpstreamFailed: `no_captions`, or `language_not_available`.
    """
    if not tracks:
        raise UpstreamFailed("The video has no captions.", reason="no_captions", is_final=True)
    if lang is None:
        return _default(tracks)
    wanted = _canonical(lang)
    ranks = [
        (distance, track.is_generated, index)
        for index, track in enumerate(tracks)
        if (distance := _distance(_canonical(track.code), wanted)) is not None
    ]
    if ranks:
        return min(ranks)[-1]
    codes = list(dict.fromkeys(track.code for track in tracks))
    named = ", ".join(codes[:_MAX_NAMED]) + (", ..." if len(codes) > _MAX_NAMED else "")
    detail = f"The video has no captions in {lang}, but in: {named}."
    raise UpstreamFailed(detail, reason="language_not_available", is_final=True)


def _distance(code: str, wanted: str) -> int | None:
    """How far a code is from the wanted one; None when it is another language. For `pt-BR`: `pt-BR`, then `pt`, then any `pt-`.
    For `zh-TW`: `zh-TW`, then other codes of the same script, ..."""
    if code == wanted:
        return 0
    if _script(code) == _script(wanted):
        return 1
    subtags = wanted.split("-")
    for left_out in range(1, len(subtags)):
        if code == "-".join(subtags[:-left_out]):
            return 1 + left_out
    return _SAME_LANGUAGE if _language(code) == subtags[0] else None


def _default(tracks: Sequence[CaptionTrack]) -> int:
    """The default track. Of the tracks by people: the video's default track, else the one in the spoken language (that of the
    generated track), else the first. If there are none: the generated track."""
    spoken = {_canonical(track.code) for track in tracks if track.is_generated}
    languages = {_language(code) for code in spoken}

    def rank(index: int) -> tuple[bool, bool, bool, bool, int]:
        track = tracks[index]
        code = _canonical(track.code)
        return track.is_generated, not track.is_default, code not in spoken, _language(code) not in languages, index

    return min(range(len(tracks)), key=rank)


def _canonical(code: str) -> str:
    first, hyphen, rest = code.lower().partition("-")
    return _SAME.get(first, first) + hyphen + rest


def _language(code: str) -> str:
    return code.partition("-")[0]


def _script(code: str) -> str:
    return _SCRIPTS.get(code, code)
