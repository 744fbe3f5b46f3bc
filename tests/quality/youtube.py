"""youtube: which video an address names, over every host, scheme and form."""

import itertools
from collections.abc import Iterator

from jobs.youtube.videos import NotAVideo, video_id
from tests.quality.scorer import Measure
from tests.sites import PUBLIC

_ID = "aB3-_dE5fG7"
_OPEN = ("/watch?v={}", "/shorts/{}", "/live/{}", "/embed/{}", "/v/{}", "/user/somebody#p/u/1/{}", "/?v={}")
_SET_ASIDE = (
    *("/watch?list=PL1&v={}&t=3s", "/e/{}?rel=0", "/user/a.b#p/c/1234ABCD/0/{}", "/watch_popup?v={}&x=1", "/vi/{}/"),
    *("/attribution_link?u=/watch%3Fv%3D{}", "/movie?v={}", "/watch/{}?feature=share"),
)
_NO_VIDEOS = ("/", "/channel/{}", "/playlist?list={}", "/@{}", "/feed/{}", "/watch?v={}x", "/c/{}", "/user/{}")


def measures(held_out: bool) -> Iterator[Measure]:
    """Addresses of videos, and others."""
    hosts = ("www.youtube.com", "m.youtube.com", "youtube.com", "music.youtube.com")
    paths = _SET_ASIDE if held_out else _OPEN
    urls = [
        f"{scheme}://{host}{path.format(_ID)}"
        for scheme, host, path in itertools.product(("http", "https"), hosts, paths)
    ]
    yield Measure("videos", len(urls), sum(_video(url) == _ID for url in urls))
    others = [f"https://{host}{path.format(_ID)}" for host, path in itertools.product(hosts, _NO_VIDEOS)]
    yield Measure("others", len(others), sum(_video(url) is None for url in others))


def _video(url: str) -> str | None:
    try:
        return video_id(url, PUBLIC)
    except NotAVideo:
        return None
