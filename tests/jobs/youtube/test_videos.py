"""Which video a URL names."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.youtube.videos import NotAVideo, video_id, watch_url
from tests.each import each
from tests.sites import PUBLIC

ID = "dQw4w9WgXcQ"

ACCEPTED = [
    f"https://www.youtube.com/watch?v={ID}",
    f"http://youtube.com/watch?v={ID}",
    f"HTTPS://WWW.YouTube.COM/watch?v={ID}",
    f"https://www.youtube.com.:443/watch?v={ID}",
    f"https://m.youtube.com/watch?v={ID}&list=PL123&index=2#t=5s",
    f"https://music.youtube.com/watch?list=PL123&v={ID}",
    f"https://www.youtube.com/watch/?feature=share&v={ID}",
    f"https://www.youtube.com/watch?v={ID}&v=aaaaaaaaaaa",
    f"https://www.youtube.com/watch?vi={ID}",
    f"https://www.youtube.com/watch?vi=aaaaaaaaaaa&v={ID}",
    f"https://www.youtube.com/?v={ID}",
    f"https://youtube.com?v={ID}",
    f"https://www.youtube.com/?vi={ID}",
    "https://www.youtube.com/watch?v=dQw4w9WgXc%51",
    f"https://www.youtube.com/watch/{ID}",
    f"https://www.youtube.com/shorts/{ID}?feature=share",
    f"https://www.youtube.com/live/{ID}",
    f"https://www.youtube.com/embed/{ID}?autoplay=1",
    f"https://www.youtube-nocookie.com/embed/{ID}/",
    f"https://youtube-nocookie.com/embed/{ID}",
    f"https://www.youtube.com/v/{ID}&hl=en_US&fs=1",
    f"https://www.youtube.com/vi/{ID}",
    f"https://www.youtube.com/e/{ID}",
    f"https://youtu.be/{ID}",
    f"https://youtu.be/{ID}?t=42&v=aaaaaaaaaaa",
    f"http://www.youtu.be/{ID}/",
    f"https://www.youtube.com/attribution_link?a=x&u=%2Fwatch%3Fv%3D{ID}%26feature%3Dshare",
    f"https://www.youtube.com/attribution_link?u=https%3A%2F%2Fwww.youtube.com%2Fwatch%3Fv%3D{ID}",
    f"https://www.youtube.com/attribution_link?u=%2Fshorts%2F{ID}",
    # The site's own past.
    f"https://www.youtube.com/user/TEDtalksDirector#p/u/11/{ID}",
    f"http://www.youtube.com/user/somebody#p/a/u/2/{ID}",
    f"http://www.youtube.com/somebody#p/c/54B8C800269D7C1B/1/{ID}",
    f"https://www.youtube.com/user/somebody?v={ID}",
    f"https://www.youtube.com/watch_popup?v={ID}",
    f"https://www.youtube.com/ytscreeningroom?v={ID}&feature=x",
    f"https://www.youtube.com/WATCH?v={ID}",
    f"https://www.youtube.com//watch?v={ID}",
]

REFUSED = [
    f"https://example.com/user/somebody#p/u/11/{ID}",
    "https://www.youtube.com/user/somebody#p/u/11/short",
    f"https://www.youtube.com/user/somebody#x/{ID}",
    "",
    ID,
    f"youtube.com/watch?v={ID}",
    f"//www.youtube.com/watch?v={ID}",
    f"ftp://www.youtube.com/watch?v={ID}",
    f" https://www.youtube.com/watch?v={ID}",
    f"https://www.youtube.com/watch?v={ID}\n",
    "https://www.youtube.com/",
    "https://www.youtube.com/watch",
    "https://www.youtube.com/watch?v=",
    "https://www.youtube.com/watch?v=dQw4w9WgXc",
    f"https://www.youtube.com/watch?v={ID}Q",
    "https://www.youtube.com/watch?v=dQw4w9WgXc!",
    "https://www.youtube.com/watch?v=dQw4w9WgXc%D9%A1",
    f"https://www.youtube.com/watch?v=&v={ID}",
    f"https://www.youtube.com/watch?v=short&v={ID}",
    f"https://www.youtube.com/watch#v={ID}",
    f"https://www.youtube.com/channel/{ID}",
    f"https://www.youtube.com/shorts/{ID}/more",
    "https://www.youtube.com/shorts/",
    "https://www.youtube.com/playlist?list=PL123",
    "https://www.youtube.com/@somebody",
    "https://www.youtube.com/embed/videoseries?list=PL123",
    "https://www.youtube.com/embed/live_stream?channel=UC123",
    "https://youtu.be/",
    f"https://youtu.be/watch?v={ID}",
    f"https://youtu.be/{ID}/{ID}",
    f"https://example.com/watch?v={ID}",
    f"https://www.youtube.com.example.com/watch?v={ID}",
    f"https://notyoutube.com/watch?v={ID}",
    f"https://studio.youtube.com/watch?v={ID}",
    f"https://www.youtube.com:8443/watch?v={ID}",
    f"https://www.youtube.com:22/watch?v={ID}",
    f"https://user@www.youtube.com/watch?v={ID}",
    f"https://www.youtube.com@127.0.0.1/watch?v={ID}",
    f"https://www.youtube.com\\@127.0.0.1/watch?v={ID}",
    f"http://127.0.0.1/watch?v={ID}",
    f"http://[::1]/watch?v={ID}",
    f"https://localhost/watch?v={ID}",
    "https://www.youtube.com/attribution_link?u=https%3A%2F%2Fexample.com%2Fwatch%3Fv%3DdQw4w9WgXcQ",
    f"https://example.com/attribution_link?u=%2Fwatch%3Fv%3D{ID}",
    "https://www.youtube.com/attribution_link",
    "https://www.youtube.com/attribution_link?u=%2Fattribution_link%3Fu%3D%252Fwatch%253Fv%253DdQw4w9WgXcQ",
    "https://www.youtube.com/attribution_link?u=javascript%3Aalert(1)",
    f"https://www.youtube.com/watch?{'a=1&' * 200}v={ID}",
    f"https://www.youtube.com/watch?v={ID}&{'x' * 2048}",
]


@each("url", ACCEPTED)
def test_every_form_that_there_is(url: str) -> None:
    """Hosts, paths and parameters in which YouTube writes a video."""
    assert video_id(url, PUBLIC) == ID


@each("url", REFUSED)
def test_what_names_no_video(url: str) -> None:
    """Other hosts, playlists, channels, ids of another form, and ids that are no URL."""
    with pytest.raises(NotAVideo, match=r"\.$"):
        video_id(url, PUBLIC)


@given(st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", min_size=11, max_size=11))
def test_the_canonical_address_names_the_same_video(video: str) -> None:
    """Whatever the id."""
    if video not in ("videoseries", "live_stream"):
        assert video_id(watch_url(video), PUBLIC) == video


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing else is raised."""
    for url in (text, "https://www.youtube.com/" + text, "https://www.youtube.com/attribution_link?u=" + text):
        with contextlib.suppress(NotAVideo):
            assert len(video_id(url, PUBLIC)) == 11
