"""web-diff: lines that are the same but for numbers and dates, and lines that are not; texts that are to be ignored."""

from collections.abc import Iterator

from jobs.engines.page.ignoring import Ignore, compared_lines
from tests.quality.scorer import Measure

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


def measures(held_out: bool) -> Iterator[Measure]:
    """Each pair is two versions of a line."""
    same, changed = (_SAME_SET_ASIDE, _CHANGED_SET_ASIDE) if held_out else (_SAME, _CHANGED)
    yield Measure("same but for numbers", len(same), sum(_keys(one) == _keys(other) for one, other in same))
    yield Measure("changed", len(changed), sum(_keys(one) != _keys(other) for one, other in changed))


def _keys(text: str) -> list[str]:
    return compared_lines(text, Ignore(numbers_and_dates=True)).keys
