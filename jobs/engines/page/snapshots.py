"""What one call leaves for the next: the last observations of a page, the newest first.

Each observation is 4 bytes of big-endian length and MessagePack. What is too large to be kept is cut off at its end
(jobs/observation.py), so the oldest are lost, never the newest.
"""

import hashlib
import json
import struct
from collections.abc import Sequence

import msgspec

from jobs.engines.page.reading import Reading
from jobs.observation import Previous

MOST = 5
"""Observations that are kept. The newest counts as one."""
VERSION = 2
"""Another one when pages are read in another way: an old text would differ from a new one where the page has not changed."""
_LENGTH = struct.Struct(">I")


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A page as it was in one or more calls in a row that saw the same.

    Attributes:
        cursor: names this observation for the same payer, page and endpoint.
        observation_id: names its content, for everybody.
        first_at, last_at: of the calls that saw it, ISO 8601 in UTC.
        is_gone: the site answered 404 or 410.
    """

    version: int = VERSION
    cursor: str
    observation_id: str
    first_at: str
    last_at: str
    is_gone: bool
    markdown_hash: str
    markdown: str


def read(previous: Previous | None) -> list[Snapshot]:
    """The observations that an earlier call left, the newest first. What is damaged, or of another version, is not there."""
    found: list[Snapshot] = []
    raw, at = (previous.observation if previous else b""), 0
    while at + _LENGTH.size <= len(raw):
        (size,) = _LENGTH.unpack_from(raw, at)
        at += _LENGTH.size
        if at + size > len(raw):
            break
        try:
            snapshot = msgspec.msgpack.decode(raw[at : at + size], type=Snapshot)
        except msgspec.DecodeError:
            break
        if snapshot.version != VERSION:
            break
        found.append(snapshot)
        at += size
    return found


def write(snapshots: Sequence[Snapshot]) -> bytes:
    """The observation's bytes: the newest, and those before it that are kept."""
    frames = (msgspec.msgpack.encode(snapshot) for snapshot in snapshots[:MOST])
    return b"".join(_LENGTH.pack(len(frame)) + frame for frame in frames)


def noted(seen: Reading, earlier: Sequence[Snapshot], *, observation_id: str, at: str, is_gone: bool) -> list[Snapshot]:
    """The observations with a new one in front. While the page says the same, its cursor stays."""
    newest = earlier[0] if earlier else None
    if newest is not None and (newest.markdown_hash, newest.is_gone) == (seen.markdown_hash, is_gone):
        same = msgspec.structs.replace(newest, observation_id=observation_id, last_at=at)
        return [same, *earlier[1:MOST]]
    snapshot = Snapshot(
        cursor=_cursor(observation_id, at),
        observation_id=observation_id,
        first_at=at,
        last_at=at,
        is_gone=is_gone,
        markdown_hash=seen.markdown_hash,
        markdown=seen.markdown,
    )
    return [snapshot, *earlier[: MOST - 1]]


def observation_id(*, final_url: str, extract: str, markdown_hash: str, text_hash: str) -> str:
    """A name for content: equal content has equal names, for every caller and at any time.

    It is ``obs_`` and the SHA-256 of the canonical JSON (RFC 8785) of these four.
    """
    content = {"extract": extract, "finalUrl": final_url, "markdownHash": markdown_hash, "textHash": text_hash}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "obs_" + hashlib.sha256(canonical.encode("utf-8", "replace")).hexdigest()


def _cursor(observation_id: str, at: str) -> str:
    return "cur_" + hashlib.sha256(f"{observation_id}\n{at}".encode()).hexdigest()[:24]
