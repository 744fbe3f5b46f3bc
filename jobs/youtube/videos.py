"""Finds the video that a URL names, without the network."""

import re
from urllib.parse import parse_qsl

from jobs.hosts import NotPublic, PublicUrl, public_url
from jobs.site import Site

SITE = "https://www.youtube.com"

_SITES = ("youtube.com", "youtube-nocookie.com")
_HOSTS = frozenset(prefix + site for site in _SITES for prefix in ("", "www.", "m.", "music."))
_SHORT_HOSTS = frozenset({"youtu.be", "www.youtu.be"})
_KINDS = frozenset({"watch", "shorts", "live", "embed", "v", "vi", "e"})
_ID = re.compile(r"[A-Za-z0-9_-]{11}", re.ASCII)
_OLD_PLAYER = re.compile(r"p/(?:[A-Za-z0-9_-]{1,40}/){1,4}([A-Za-z0-9_-]{11})/?", re.ASCII)
_NOT_VIDEOS = frozenset({"videoseries", "live_stream"})
"""They have the form of an id, but /embed/videoseries is a playlist and /embed/live_stream is a channel."""
_MAX_PARAMETERS = 100

ACCEPTED = "The URL must be that of one video on youtube.com or youtu.be."


class NotAVideo(ValueError):
    """The URL does not name a video. The text is a sentence for the caller."""


def video_id(url: str, site: Site) -> str:
    """The id of a video, eleven characters.

    Raises:
        NotAVideo: this is not a URL, not one of YouTube, or not one of a video.
    """
    address = _address(url, site)
    parameters = _parameters(address)
    if _is_site(address) and _path(address) == ["attribution_link"] and (inner := parameters.get("u")):
        # The link target is a path or a whole URL. It must not be another link of this kind.
        address = _address(inner, site, base=address)
        parameters = _parameters(address)
    found = _found(address, parameters) or _in_fragment(url, address)
    if found is None or not _ID.fullmatch(found) or found in _NOT_VIDEOS:
        raise NotAVideo(ACCEPTED)
    return found


def watch_url(video: str) -> str:
    """The canonical address of a video."""
    return f"{SITE}/watch?v={video}"


def _found(address: PublicUrl, parameters: dict[str, str]) -> str | None:
    path = _path(address)
    if address.host in _SHORT_HOSTS:
        return _cut(path[0]) if len(path) == 1 else None
    if not _is_site(address):
        return None
    match path:
        case [] | ["watch"]:
            return parameters.get("v", parameters.get("vi"))
        case [kind, found] if kind in _KINDS:
            return _cut(found)
    return parameters.get("v")


def _in_fragment(url: str, address: PublicUrl) -> str | None:
    """The id in the address of an old channel page, which named its player's video after `#p/`: `/user/NAME#p/u/3/ID`."""
    match = _OLD_PLAYER.fullmatch(url.partition("#")[2])
    return match[1] if match is not None and _is_site(address) else None


def _cut(segment: str) -> str:
    """Cut parameters that follow without a question mark, as in addresses of old players: `/v/ID&hl=en`."""
    return segment.partition("&")[0]


def _address(text: str, site: Site, base: PublicUrl | None = None) -> PublicUrl:
    try:
        address = public_url(text, site, base=base)
    except NotPublic as refused:
        raise NotAVideo(refused.detail if refused.code == "invalid_url" else ACCEPTED) from None
    if address.port not in (80, 443):
        raise NotAVideo(ACCEPTED)
    return address


def _is_site(address: PublicUrl) -> bool:
    return address.host in _HOSTS


def _path(address: PublicUrl) -> list[str]:
    """The segments of the path, without an empty one at the end."""
    path = address.target.partition("?")[0].removeprefix("/").removesuffix("/")
    return path.split("/") if path else []


def _parameters(address: PublicUrl) -> dict[str, str]:
    """The first value of each name."""
    query = address.target.partition("?")[2]
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_MAX_PARAMETERS)
    except ValueError:
        raise NotAVideo(f"The URL has more than {_MAX_PARAMETERS} parameters.") from None
    return dict(reversed(pairs))
