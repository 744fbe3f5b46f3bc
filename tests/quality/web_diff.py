"""web-diff: lines that are the same but for numbers and dates, and lines that are not; texts that are to be ignored."""

from collections.abc import Iterator
from typing import Any

from jobs.engines.page.ignoring import Ignore, compared_lines
from jobs.web_diff.endpoint import Request, run
from tests.jobs.engines.page.site import URL, Site
from tests.quality.scorer import Measure
from tests.sites import decoded

_SAME = [
    ("Updated 3 minutes ago", "Updated 2 hours ago"),
    ("Posted on Nov 24, 2026", "Posted on December 1, 2026"),
    ("Price: $1,299.00", "Price: $1,349.99"),
    ("Stand: 24.11.2026 um 15:04 Uhr", "Stand: 25.11.2026 um 9:15 Uhr"),
    ("1 comment", "27 comments"),
    ("Last login: 2026-11-24T15:04:05Z", "Last login: 2026-11-25T08:00:00Z"),
    ("Monday, 24 November 2026", "Tuesday, 25 November 2026"),
    ("Mis à jour le 24 novembre 2026 à 15h04", "Mis à jour le 3 décembre 2026 à 8h15"),
    ("publicado hace 3 días", "publicado hace 5 días"),
    ("Version 1.2.3", "Version 1.3.0"),
    ("1.2k views", "3.4k views"),
    ("12 % off", "15 % off"),
    ("24-Nov-2026", "01-Dec-2026"),
    ("Nov. 24th, 2026 at 3pm", "Dec. 1st, 2026 at 11am"),
    ("3d ago", "5h ago"),
    ("24 nov 2026", "3 dic 2026"),
    ("24 ноября 2026", "2 декабря 2026"),
]
_SAME_SET_ASIDE = [
    ("yesterday", "2 days ago"),
    ("Nov 24", "Nov 25"),
    ("15:04", "3:04 pm"),
    ("€ 24,90", "€ 31,00"),
    ("Aggiornato il 24 novembre 2026", "Aggiornato il 2 dicembre 2026"),
    ("5 stars (120)", "4 stars (98)"),
    ("#1024", "#1025"),
    ("24 Nov 2026 10:00 UTC", "25 Nov 2026 11:30 UTC"),
    ("1st place", "2nd place"),
    ("2h", "3h"),
]
_CHANGED = [
    ("In stock", "Sold out"),
    ("A night costs 24 euros", "A night costs 24 dollars"),
    ("May we help", "March we help"),
    ("The second harbour", "The first harbour"),
    ("Version 1.2 beta", "Version 1.2"),
    ("open", "closed on Monday"),
    ("5am", "5 amps"),
]
_CHANGED_SET_ASIDE = [
    ("24 berths", "24 boats"),
    ("Mars is a planet", "Mai is a planet"),
    ("Today we are open", "Today we are closed"),
    ("H2O", "CO2"),
    ("", "1"),
    ("Sunday roast", "Sunday lunch"),
]


_TEXT = "<p>The harbour has forty berths for visitors, and every one of them has water and power.</p>" * 3
# Two versions of a page's end, and what a caller ignores.
_PAGES: list[tuple[str, str, dict[str, Any]]] = [
    ("<p class='ad'>Buy rope</p>", "<p class='ad'>Buy paint</p>", {"selectors": [".ad"]}),
    ("<div id='n'><b>1</b></div>", "<div id='n'><b>one</b> more</div>", {"selectors": ["#n"]}),
    ("<aside>Rain</aside>", "", {"selectors": ["main > aside"]}),
    ("<p>Sponsored: rope</p>", "<p>Sponsored: paint</p>", {"texts": ["sponsored"]}),
    ("<p>Online now: Ann</p>", "<p>Nobody is online now</p>", {"texts": ["online NOW"]}),
    (
        "<p class='a'>x</p><p>Ad: y</p><p>1 boat</p>",
        "<p>Ad: z</p><p>2 boats</p>",
        {"selectors": [".a"], "texts": ["ad:"], "numbersAndDates": True},
    ),
]
_PAGES_SET_ASIDE: list[tuple[str, str, dict[str, Any]]] = [
    ("<p data-x='1'>Rope</p>", "<p data-x='2'>Paint</p>", {"selectors": ["[data-x]"]}),
    ("<ul><li>a<li>b</ul>", "<ul><li>a<li>c</ul>", {"selectors": ["li:last-child"]}),
    ("<p>Token a1b2</p>", "<p>Token c3d4</p>", {"texts": ["Token "]}),
    ("<p>Réclame : corde</p>", "<p>RÉCLAME : peinture</p>", {"texts": ["réclame"]}),
]


def measures(held_out: bool) -> Iterator[Measure]:
    """Each pair is two versions of a line."""
    same, changed = (_SAME_SET_ASIDE, _CHANGED_SET_ASIDE) if held_out else (_SAME, _CHANGED)
    yield Measure("same but for numbers", len(same), sum(_keys(one) == _keys(other) for one, other in same))
    yield Measure("changed", len(changed), sum(_keys(one) != _keys(other) for one, other in changed))
    pages = _PAGES_SET_ASIDE if held_out else _PAGES
    ignored = [_has_changed(before, after, ignore) is False for before, after, ignore in pages]
    yield Measure("elements and texts ignored", len(ignored), sum(ignored))
    found = [_has_changed(before, after + "<p>The harbour is closed.</p>", ignore) for before, after, ignore in pages]
    yield Measure("a change beside them", len(found), sum(found))


def _has_changed(before: str, after: str, ignore: dict[str, Any]) -> bool:
    """Whether the second version of a page is a change for a caller who ignores this."""
    site = Site()
    answers: list[Any] = []
    for body in (before, after):
        site.html = f"<html><head><title>Berths</title></head><body><main>{_TEXT}{body}</main></body></html>"
        answers.append(site.call(run, decoded(Request, {"url": URL, "extract": "full", "ignore": ignore})))
    has_changed: bool = answers[1].changed
    return has_changed


def _keys(text: str) -> list[str]:
    return compared_lines(text, Ignore(numbers_and_dates=True)).keys
