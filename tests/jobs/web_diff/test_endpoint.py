"""web-diff: first new, then what changed."""

import json
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from jobs.engines.page.diff import Hunk
from jobs.engines.page.ignoring import Ignore, compared_lines
from jobs.engines.page.text import normalised, sha256
from jobs.observation import Previous
from jobs.render_pro.endpoint import ENDPOINT as RENDER_PRO
from jobs.web_diff.endpoint import ENDPOINT, MAX_PREVIOUS, Request, run
from shared.outcome import UpstreamFailed
from tests.each import each
from tests.jobs.engines.page.site import URL, Site, html_of
from tests.jobs.engines.page.test_diff import applied
from tests.sites import PUBLIC, decoded

LONG = "The harbour has forty berths for visitors, and every one of them has water and power. "


def call(site: Site, **request: Any) -> dict[str, Any]:
    response = site.call(run, decoded(Request, {"url": URL} | request))
    answer: dict[str, Any] = json.loads(msgspec.json.encode(response))
    return answer


def test_example_is_what_the_call_gives() -> None:
    """With the clock at the example's time."""
    assert call(Site(), **ENDPOINT.example.request) == ENDPOINT.example.response


def test_first_new_then_changed_with_the_right_lines() -> None:
    """The hunks, applied to the first text, give the second."""
    site = Site(html=html_of(LONG, LONG + "A night costs 24 euros.", LONG))
    first = call(site)
    assert (first["status"], first["changed"], first["diff"], first["baseline"]) == ("new", False, None, "none")
    assert first["lastCheckedAt"] is None
    site.html = html_of(LONG, LONG + "A night costs 26 euros.", LONG)
    second = call(site)
    assert (second["status"], second["changed"], second["baseline"]) == ("changed", True, "stored")
    assert second["previousHash"] == first["markdownHash"] == sha256(first["markdown"])
    assert second["lastCheckedAt"] == first["checkedAt"]
    diff = second["diff"]
    assert [(hunk["removed"], hunk["added"]) for hunk in diff["hunks"]] == [
        ([LONG + "A night costs 24 euros."], [LONG + "A night costs 26 euros."])
    ]
    assert diff["hunks"][0]["words"].endswith("A night costs [-24-]{+26+} euros.")
    assert 0.9 < diff["similarity"] < 1
    assert applied(msgspec.convert(diff["hunks"], list[Hunk]), first["markdown"]) == second["markdown"]


def test_nothing_changed() -> None:
    """There is a comparison, and it is empty."""
    site = Site()
    call(site)
    again = call(site)
    assert (again["status"], again["changed"]) == ("same", False)
    assert again["diff"] == {"addedLines": 0, "removedLines": 0, "similarity": 1.0, "hunks": [], "unified": ""}
    assert site.calculated == ["read_page", "read_page"]


def test_a_supplied_text_wins_and_the_page_is_stored_all_the_same() -> None:
    """The next call without one compares with what this one saw."""
    site = Site()
    call(site)
    supplied = call(site, previousMarkdown="Something else.\r\n")
    assert (supplied["baseline"], supplied["status"]) == ("supplied", "changed")
    assert supplied["previousHash"] == sha256("Something else.")
    assert supplied["lastCheckedAt"] is not None
    assert call(site)["status"] == "same"


def test_a_supplied_text_on_the_first_call() -> None:
    """What was observed before is unknown, and yet there is a comparison."""
    site = Site()
    first = call(site, previousMarkdown="")
    assert (first["baseline"], first["status"], first["lastCheckedAt"]) == ("supplied", "changed", None)
    assert first["diff"]["hunks"][0]["oldStart"] == 0
    assert call(site)["status"] == "same"
    assert call(Site(), previousMarkdown=first["markdown"])["status"] == "same"


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_went_is_removed_once(status: int) -> None:
    """Then it stays gone, and when it comes back it has changed."""
    site = Site()
    there = call(site)
    html = site.html
    site.status, site.html = status, html_of("There is no such page here.", LONG)
    gone = call(site)
    assert (gone["status"], gone["changed"], gone["httpStatus"]) == ("removed", True, status)
    assert call(site)["status"] == "same"
    site.status, site.html = 200, html
    back = call(site)
    assert (back["status"], back["markdownHash"]) == ("changed", there["markdownHash"])


def test_a_page_that_never_was_is_not_removed() -> None:
    """There is nothing to compare with."""
    assert call(Site(status=404))["status"] == "new"


def test_the_last_five_observations_are_kept() -> None:
    """Each can be named by its cursor."""
    site = Site()
    cursors = []
    for version in range(6):
        site.html = html_of(LONG, f"Version {version}. {LONG}")
        cursors.append(call(site)["cursor"])
    assert call(site, sinceCursor=cursors[0])["sinceCursorFound"] is False
    found = call(site, sinceCursor=cursors[1])
    assert found["sinceCursorFound"] is True
    assert "Version 1." in found["diff"]["hunks"][0]["removed"][0]


@each("cut", [0, 3, 10, -1])
def test_an_observation_that_was_cut_loses_the_oldest(cut: int) -> None:
    """What is whole is used; of nothing whole, the page is new."""
    site = Site()
    first = call(site)
    site.html = html_of(LONG, "Another text. " + LONG)
    call(site)
    assert site.left is not None
    raw = site.left.observation
    site.left = Previous(raw[:cut], site.time, is_truncated=True)
    answer = call(site)
    assert answer["status"] == ("same" if cut < 0 else "new")
    assert call(site, sinceCursor=first["cursor"])["sinceCursorFound"] is False


@each("raw", [b"\0\0\0\1x", b"\xff" * 50, b"\0\0\0\0", b"\0\0\0\2\x80\x80"])
def test_a_damaged_observation_is_none(raw: bytes) -> None:
    """The call is answered, as the first one."""
    assert call(Site(left=Previous(raw, Site().time)))["status"] == "new"


def test_texts_that_are_too_much_to_compare_are_replaced_as_a_whole() -> None:
    """When the comparison takes too long, one exact hunk replaces the lines that differ."""
    site = Site(html=html_of(*(f"{LONG} {number}" for number in range(9))), failing=frozenset({"compare_texts"}))
    first = call(site)
    site.html = html_of(*(f"{LONG} {number}" for number in (0, 1, 5, 3, 7, 8)))
    second = call(site)
    hunks = msgspec.convert(second["diff"]["hunks"], list[Hunk])
    assert len(hunks) == 1
    assert applied(hunks, first["markdown"]) == second["markdown"]


def test_a_supplied_text_may_be_long() -> None:
    """200,000 code points, and no more."""
    longest = "\U0001f6a2" * MAX_PREVIOUS
    assert len(json.dumps({"previousMarkdown": longest})) < ENDPOINT.max_body_bytes
    assert call(Site(), previousMarkdown=longest)["status"] == "changed"
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"url": URL, "previousMarkdown": longest + "x"}, Request)


def test_the_baselines_of_render_pro_are_separate() -> None:
    """A call of render-pro for the same page is not a check of web-diff."""
    request = msgspec.convert({"url": URL}, Request)
    other = msgspec.convert({"url": URL}, RENDER_PRO.request)
    assert ENDPOINT.subject is not None
    assert RENDER_PRO.subject is not None
    assert ENDPOINT.subject(request, PUBLIC) != RENDER_PRO.subject(other, PUBLIC)


def test_time_of_checks() -> None:
    """Each check is compared with the one before it, also when nothing changed in between."""
    site = Site()
    times = [call(site)["checkedAt"] for _ in range(3)]
    site.time += timedelta(days=1)
    assert call(site)["lastCheckedAt"] == times[-1]


def test_normalised_pages_are_the_same_page() -> None:
    """Blanks at the ends of lines and composed characters change nothing."""
    assert normalised("Cafe\u0301 \r\nau lait\n\n") == "Caf\u00e9\nau lait"


VISITS = '<p class="visits">Visitors so far: {}</p>'


def page_of(number: int, text: str = LONG) -> str:
    """A page with an advertisement, a time and a number, each of which changes at every load."""
    return html_of(
        text,
        f"Updated {number} minutes ago, on Monday, {number} November 2026 at 10:{10 + number}.",
        f"Advertisement number {number}: buy more rope, there are {number} kinds.",
        LONG + f"A night costs {number}.50 euros.",
    ).replace("</article>", VISITS.format(number) + "</article>")


ALL = {"selectors": [".visits"], "texts": ["advertisement NUMBER"], "numbersAndDates": True}


def test_what_is_ignored_is_no_change() -> None:
    """All that changes at every load is ignored, and a change beside it is found, to the line."""
    site = Site(html=page_of(1))
    call(site, ignore=ALL)
    site.html = page_of(2).replace("10:12", "11:00")
    second = call(site, ignore=ALL)
    assert (second["status"], second["changed"], second["diff"]["hunks"]) == ("same", False, [])
    assert (second["ignoredElements"], second["markdownHash"] == second["previousHash"]) == (1, False)
    assert "Visitors so far" not in second["markdown"]
    assert "Advertisement number 2" in second["markdown"]
    site.html = page_of(3, LONG + "The harbour is closed.")
    third = call(site, ignore=ALL)
    assert [(hunk["removed"], hunk["added"]) for hunk in third["diff"]["hunks"]] == [
        ([LONG.strip()], [LONG + "The harbour is closed."])
    ]


@each(
    ("old", "new"),
    [
        ("24-Nov-2026", "01-Dec-2026"),
        ("Nov. 24th, 2026 at 3pm", "Dec. 1st, 2026 at 11am"),
        ("3d ago", "5h ago"),
        ("24 nov 2026", "3 dic 2026"),
        ("24 \u043d\u043e\u044f\u0431\u0440\u044f 2026", "2 \u0434\u0435\u043a\u0430\u0431\u0440\u044f 2026"),
    ],
)
def test_dates_of_many_forms_are_ignored(old: str, new: str) -> None:
    """In either version of a line."""
    one, other = (compared_lines(f"Changed {date}", Ignore(numbers_and_dates=True)).keys for date in (old, new))
    assert one == other


@each("without", [None, *ALL])
def test_each_kind_of_ignoring_is_needed_for_its_change(without: str | None) -> None:
    """And all together are enough."""
    site = Site(html=page_of(1))
    ignore = {kind: value for kind, value in ALL.items() if kind != without}
    call(site, ignore=ignore, extract="full")
    number = 2
    site.html = page_of(number) if without != "selectors" else page_of(1).replace("so far: 1", "so few")
    if without == "texts":
        site.html = page_of(1).replace("more rope", "less rope")
    assert call(site, ignore=ignore, extract="full")["changed"] is (without is not None)


def test_a_baseline_serves_calls_that_ignore_other_texts() -> None:
    """Only selectors are another view of the page, whatever their order."""

    def of(**ignore: Any) -> str:
        assert ENDPOINT.subject is not None
        return ENDPOINT.subject(decoded(Request, {"url": URL, "ignore": ignore}), PUBLIC)

    assert of() == of(texts=["a"], numbersAndDates=True) == ENDPOINT.subject(decoded(Request, {"url": URL}), PUBLIC)  # type: ignore[misc]
    assert of(selectors=["a", ".b"]) == of(selectors=[".b", "a", "a "]) != of()


@each(
    "ignore",
    [
        {"selectors": ["p::before"]},
        {"selectors": [""]},
        {"selectors": ["a["]},
        {"selectors": ["a"] * 21},
        {"selectors": ["a" * 201]},
        {"texts": [""]},
        {"texts": ["x"] * 21},
        {"selector": "a"},
        {"numbersAndDates": "yes"},
    ],
)
def test_what_cannot_be_ignored_is_refused(ignore: Any) -> None:
    """Before the payment, and with the field's name."""
    with pytest.raises(msgspec.ValidationError, match=r"ignore|selector|unknown field|bool"):
        decoded(Request, {"url": URL, "ignore": ignore})


def test_a_page_that_takes_too_much_is_not_compared_without_its_selectors() -> None:
    """All its text would differ from the baseline."""
    site = Site(failing=frozenset({"read_page"}))
    with pytest.raises(UpstreamFailed):
        call(site, ignore={"selectors": ["nav"]})
