"""render-pro: the words of pages of each kind, on the layouts of tests/quality/layouts.py, of which none is set aside; and
walls of bot filters, which are no pages."""

from collections.abc import Iterator

from lxml.html import fromstring

from jobs.engines.page.bot_wall import bot_wall
from tests.quality.layouts import LAYOUTS
from tests.quality.scorer import Measure
from tests.quality.test_extraction import reading, score

_WALLS = (
    "Verify you are human by completing the action below.",
    "Press & Hold to confirm you are a human",
    "Access to this page has been denied.",
    "Checking your browser before accessing shop.example.",
    "Please enable JS and disable any ad blocker",
    "Performing security verification",
    "Drag the slider to verify",
    "Sorry, you have been blocked",
    "Bestätigen Sie, dass Sie ein Mensch sind.",
    "请完成安全验证",
)
_WALLS_SET_ASIDE = (
    "Are you a robot?",
    "Please complete the security check to access shop.example",
    "Let's make sure you're not a bot",
    "Human verification required",
    "Vérifiez que vous êtes humain",
    "Confirma que eres humano",
    "Verifica di essere umano",
    "We need to verify that you're human",
    "Swipe to confirm",
    "This request was blocked by our security service",
)
_PAGES = (
    "In stock: 24 jars",
    "Your order has been confirmed. Thank you!",
    "Please enter your e-mail address to continue",
    'This article explains what "Verify you are human" means.',
    "The film I, Robot is shown at eight.",
)
_PAGES_SET_ASIDE = (
    "Access is free for members.",
    "Please wait for the crew on the pier",
    "The robot and the human are friends",
    "Page not found",
    "Security checks at the airport take an hour",
)


def measures(held_out: bool) -> Iterator[Measure]:
    """The mean F1 of each kind's layouts, and how many kinds were recognised."""
    walls, pages = (_WALLS_SET_ASIDE, _PAGES_SET_ASIDE) if held_out else (_WALLS, _PAGES)
    yield Measure("walls", len(walls), sum(map(_is_wall, walls)))
    yield Measure("no walls", len(pages), sum(not _is_wall(text) for text in pages))
    if held_out:
        return
    for kind in sorted({layout.kind for layout in LAYOUTS}):
        layouts = [layout for layout in LAYOUTS if layout.kind == kind]
        yield Measure(f"F1 of words, {kind}", len(layouts), sum(score(layout).f1 for layout in layouts))
    yield Measure("kind", len(LAYOUTS), sum(reading(layout).kind == layout.kind for layout in LAYOUTS))


def _is_wall(text: str) -> bool:
    root = fromstring(f"<html><head><title>site.example</title></head><body><h1>{text}</h1></body></html>")
    return bot_wall(root, None, text, status=200) is not None
