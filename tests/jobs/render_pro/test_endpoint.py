"""render-pro: its requests, the renderings that it orders, and its answers."""

import base64
import hashlib
import json
import struct
import zlib
from typing import Any

import msgspec
import pytest

from jobs.engines.page.visit import RENDER_S
from jobs.ports.browser import Area, Screenshot
from jobs.render_pro.endpoint import ENDPOINT, Request, run
from shared.endpoint import InvalidField
from shared.outcome import BlockedAddress, UpstreamFailed
from tests.each import each
from tests.jobs.engines.page.site import BERTHS, URL, Site, html_of
from tests.sites import PUBLIC, decoded

LONG = "The harbour has forty berths for visitors, and every one of them has water and power. "


def call(site: Site, **request: Any) -> dict[str, Any]:
    response = site.call(run, decoded(Request, {"url": URL} | request))
    answer: dict[str, Any] = json.loads(msgspec.json.encode(response))
    return answer


def png(*, level: int = 6, text: bytes = b"") -> bytes:
    """A picture of 2 x 1 pixels, packed in one of several ways."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 8, 2, 0, 0, 0))
    comment = chunk(b"tEXt", text) if text else b""
    data = chunk(b"IDAT", zlib.compress(b"\0" + bytes(range(6)), level))
    return b"\x89PNG\r\n\x1a\n" + header + comment + data + chunk(b"IEND", b"")


def test_example_is_what_the_call_gives() -> None:
    """With the clock at the example's time."""
    assert call(Site(), **ENDPOINT.example.request) == ENDPOINT.example.response


@pytest.mark.parametrize(
    ("url", "code"),
    [("ftp://example.com/", "invalid_url"), ("http://127.0.0.1/", "blocked_address"), ("x", "invalid_url")],
)
def test_a_url_that_is_not_public_is_refused_before_the_payment(url: str, code: str) -> None:
    """As by every endpoint that takes a URL."""
    with pytest.raises(InvalidField) as refused:
        decoded(Request, {"url": url})
    assert (refused.value.code, refused.value.field) == (code, "url")


@each("field", [{"extract": "pdf"}, {"focus": "x" * 501}, {"sinceCursor": "cur_1"}, {"screenshot": 1}])
def test_a_field_of_the_wrong_form_is_refused(field: dict[str, Any]) -> None:
    """Before the payment."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"url": URL} | field, Request)


def test_the_browser_is_asked_once_and_in_time() -> None:
    """A picture is drawn only if it is asked for."""
    site = Site()
    call(site)
    call(site, screenshot=True)
    call(site, screenshot=True, fullPage=True)
    assert [(url, area) for url, area, _ in site.asked] == [
        (URL, None),
        (URL, Area.VIEWPORT),
        (URL, Area.FULL_PAGE),
    ]
    assert all(0 < left <= RENDER_S for _, _, left in site.asked)


def test_a_payer_sees_what_changed_since_the_last_call() -> None:
    """First new, then the same, then changed; the cursor stays while the page says the same."""
    site = Site(html=html_of(LONG, LONG + "A night costs 24 euros."))
    first, second = call(site), call(site)
    site.html = html_of(LONG, LONG + "A night costs 26 euros.")
    third = call(site)
    assert [answer["comparison"]["status"] for answer in (first, second, third)] == ["new", "same", "changed"]
    assert first["cursor"] == second["cursor"] != third["cursor"]
    assert first["observationId"] == second["observationId"] != third["observationId"]
    assert third["comparison"] == {
        "status": "changed",
        "previousObservationId": first["observationId"],
        "previousObservedAt": second["observedAt"],
        "addedLines": 1,
        "removedLines": 1,
        "sinceCursorFound": None,
    }


def test_an_older_observation_can_be_compared_with() -> None:
    """While it is one of the last five; afterwards the last one is, and the answer says so."""
    site = Site(html=html_of(LONG, "Version 0. " + LONG))
    first = call(site)
    for version in range(1, 5):
        site.html = html_of(LONG, f"Version {version}. " + LONG)
        call(site)
    site.html = html_of(LONG, "Version 0. " + LONG)
    again = call(site, sinceCursor=first["cursor"])
    assert again["comparison"]["status"] == "same"
    assert again["comparison"]["sinceCursorFound"] is True
    assert again["observationId"] == first["observationId"]
    assert again["cursor"] != first["cursor"]
    lost = call(site, sinceCursor=first["cursor"])
    assert lost["comparison"]["sinceCursorFound"] is False
    assert lost["comparison"]["status"] == "same"


def test_the_picture_is_hashed_by_its_pixels() -> None:
    """Two files of the same picture have the same visual hash."""
    answers = []
    for data in (png(), png(level=0, text=b"Software\0x")):
        answers.append(call(Site(picture=Screenshot("png", 2, 1, data)), screenshot=True))
    one, two = answers
    assert one["hashes"]["visual"] == two["hashes"]["visual"]
    assert one["snapshot"]["sha256"] != two["snapshot"]["sha256"]
    assert base64.b64decode(one["snapshot"]["dataBase64"]) == png()
    assert one["snapshot"]["bytes"] == len(png())


@pytest.mark.parametrize("why", ["timeout", "too_large", "not_drawn"])
def test_a_picture_that_is_missing_says_why(why: Any) -> None:
    """Only where one was asked for."""
    answers = [call(Site(picture=why), screenshot=asked) for asked in (True, False)]
    assert [(answer["snapshot"], answer["snapshotMissing"]) for answer in answers] == [(None, why), (None, None)]
    assert answers[0]["hashes"]["visual"] is None


@pytest.mark.parametrize("data", [b"RIFF", b"\x89PNG\r\n\x1a\n", png()[:40]])
def test_a_picture_that_cannot_be_read_is_hashed_as_a_file(data: bytes) -> None:
    """As one of another format is."""
    answer = call(Site(picture=Screenshot("png", 2, 1, data)), screenshot=True)
    assert answer["hashes"]["visual"] == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("focus", [None, "", "  "])
def test_without_focus_there_is_no_evidence(focus: str | None) -> None:
    """A blank text asks for nothing."""
    assert call(Site(), focus=focus)["focus"] is None


def test_what_the_page_does_not_say_is_not_found() -> None:
    """Nothing is paraphrased."""
    answer = call(Site(), focus="mooring fees")
    assert answer["focus"] == {"query": "mooring fees", "found": False, "matchCount": 0, "matches": []}


@pytest.mark.parametrize("extract", ["article", "full", "text"])
def test_the_text_is_what_extract_names(extract: str) -> None:
    """Only the article is without the menu, and only the text without Markdown."""
    markdown = call(Site(), extract=extract)["markdown"]
    assert ("Contact" in markdown) == (extract != "article")
    assert ("## Prices" in markdown) == (extract != "text")
    assert "A night costs 24 euros" in markdown


@each("status", [301, 401, 403, 429, 500, 503])
def test_an_error_of_the_site_is_not_the_page(status: int) -> None:
    """It is a 502, and the baseline stays."""
    site = Site()
    call(site)
    left = site.left
    site.status = status
    with pytest.raises(UpstreamFailed) as failed:
        call(site)
    assert failed.value.reason == "http_status"
    assert site.left is left


@pytest.mark.parametrize("failure", [BlockedAddress("no"), UpstreamFailed("gone", reason="page_crashed")])
def test_the_browsers_failures_are_the_calls(failure: Any) -> None:
    """As they are."""
    with pytest.raises(type(failure)) as failed:
        call(Site(failure=failure))
    assert failed.value is failure


def test_a_page_that_takes_too_much_to_read_gives_the_text_of_its_body() -> None:
    """Without what it says of itself; the title is the browser's."""
    answer = call(Site(failing=frozenset({"read_page"})), focus="24 euros")
    assert answer["method"] == "body"
    assert answer["title"] == "Berths and their prices"
    assert answer["focus"]["found"] is True
    assert answer["hashes"]["html"] is None


def test_a_page_that_blanks_itself_is_read_from_its_source() -> None:
    """And the answer says so."""
    answer = call(Site(html="<html><body>Bye</body></html>", source=BERTHS))
    assert answer["fromSource"] is True
    assert "A night costs 24 euros" in answer["markdown"]


def test_subjects_differ_by_page_and_extract_alone() -> None:
    """A fragment, a default port and an upper-case host are the same page; another query is another one."""
    subject = ENDPOINT.subject
    assert subject is not None

    def of(url: str, **fields: Any) -> str:
        return subject(msgspec.convert({"url": url} | fields, Request), PUBLIC)

    assert of("https://Example.com:443/a#b") == of("https://example.com/a", focus="x", screenshot=True)
    assert of("https://example.com/a") != of("https://example.com/a?b")
    assert of("https://example.com/a") != of("https://example.com/a", extract="full")


def test_a_page_of_surrogates_and_zeros_is_answered() -> None:
    """A DOM may hold what UTF-8 cannot."""
    answer = call(Site(html=html_of(LONG + "\ud800 \x00 end", LONG), title="\ud800"), extract="full")
    assert "end" in answer["markdown"]
