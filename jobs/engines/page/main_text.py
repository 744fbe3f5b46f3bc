"""The main text of a page by its structure: what is left without menus, notices, controls and what leads to other pages.

trafilatura looks for one run of prose. Forums, listings, shops and landing pages have none: their text is in many short blocks.
"""

import re
from collections.abc import Iterable
from copy import deepcopy
from typing import NamedTuple

from jobs.engines.page.controls import SHORT, leads_elsewhere, without_controls
from jobs.engines.page.text import normalised
from jobs.engines.page.tree import Element, body_of, walk
from jobs.engines.page.writer import body_text
from jobs.engines.text.names import names

MOST_OF_TEXT = 0.5
"""Share of the page's text. What holds more is no menu, however it is called."""
_MENU_LINK = 25
"""Code points. Links of menus are shorter on average, headlines are longer."""
_LONG = 600
_LEAST_LINKED = 0.2
"""Code points, and the share of links: a long block with few links is text, whatever its name."""

_TAGS = names("nav aside button select option textarea label dialog menu form-field")
_ROLES = names(
    "navigation banner contentinfo complementary search dialog alertdialog menu menubar tablist toolbar button status tooltip"
)
_WORDS = names(
    """
    nav navbar navigation menu menubar breadcrumb breadcrumbs sidebar sidenav footer foot cookie cookies consent gdpr share
    sharing social related recommendations recommended recommendation upsell crosssell newsletter subscribe signup pagination
    pager paging toc advert advertisement ads sponsored skip searchbox toolbar popup modal login filters facets filter
    sort jumpbox signature headerlink copyright votecell votelinks suggested suggestions trending taglist searches subtext
    stats buybox online breadcrumblist navs carousel sims masthead buttons
    """
)
_GROUPS = frozenset(
    {"div", "section", "ul", "ol", "table", "tbody", "tr", "td", "p", "dl", "span", "header", "center", "dd", "h4"}
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5")
_CONTROL_WORDS = names("btn button cta more headerlink permalink anchor")
_PROFILES = names("postprofile userinfo userdetails authorinfo")
_NAMES = names("user username author hnuser nick")
_PARTED = ("a", "time", "small", "span")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


class Size(NamedTuple):
    """What an element holds, in code points without white space around its texts."""

    text: int
    linked: int
    links: int
    headings: int
    images: int
    has_title: bool


def main_tree(root: Element) -> Element:
    """A copy of the page's body without what is no main text."""
    body = deepcopy(body_of(root))
    sizes = sizes_of(body)
    total = max(1, sizes.get(body, _NO_SIZE).text)
    for element in _unwanted(body, sizes, total):
        if element.getparent() is not None:
            element.drop_tree()
    _shorten_profiles(body)
    _part_inline(body)
    return _container(body)


def main_text(main: Element) -> str:
    """A main tree as Markdown, normalised."""
    return without_controls(normalised(body_text(main, is_markdown=True)))


def words_of(element: Element) -> frozenset[str]:
    """The words of an element's class and id in lower case: `postBody-text` has three."""
    named = f"{element.get('class') or ''} {element.get('id') or ''}"[:500]
    return frozenset(word.lower() for word in _CAMEL.findall(named))


def sizes_of(body: Element) -> dict[Element, Size]:
    """The size of each element that is seen, from the inside out."""
    sizes: dict[Element, Size] = {}
    for event, element in walk(body):
        if event != "end":
            continue
        text, linked, links, headings, images = len((element.text or "").strip()), 0, 0, 0, 0
        has_title = element.tag == "h1"
        for child in element:
            size = sizes.get(child, _NO_SIZE)
            text += size.text + len((child.tail or "").strip())
            linked, links = linked + size.linked, links + size.links
            headings, images = headings + size.headings, images + size.images
            has_title |= size.has_title
        if element.tag == "a":
            linked, links = text, 1
        headings += element.tag in ("h1", "h2", "h3", "h4")
        images += element.tag in ("img", "picture")
        sizes[element] = Size(text, linked, links, headings, images, has_title)
    return sizes


_NO_SIZE = Size(0, 0, 0, 0, 0, False)


def _unwanted(body: Element, sizes: dict[Element, Size], total: int) -> list[Element]:
    found: list[Element] = []
    for element, size in sizes.items():
        if element is body or size.text > MOST_OF_TEXT * total:
            continue
        if _is_elsewhere(element):
            found += _led_by(element, sizes, total)
        elif _is_control(element) or (not size.has_title and (_is_named(element, size) or _is_menu(element, size))):
            found.append(element)
    return found


def _is_control(element: Element) -> bool:
    if element.tag in _TAGS or (element.get("role") or "").lower() in _ROLES:
        return True
    return element.tag == "a" and bool(words_of(element) & _CONTROL_WORDS)


def _is_named(element: Element, size: Size) -> bool:
    """Whether its name or its kind says that it is no main text."""
    if element.tag == "footer":
        return not any(above.tag == "blockquote" for above in element.iterancestors())
    if element.tag == "header":
        return size.links > 1 and not any(above.tag in ("main", "article") for above in element.iterancestors())
    if size.text > _LONG and size.linked < _LEAST_LINKED * size.text:
        return False  # the menu of a restaurant is text
    return element.tag not in ("p", "h1", "h2", "h3", "article", "main") and bool(words_of(element) & _WORDS)


def _is_menu(element: Element, size: Size) -> bool:
    """Whether it is nothing but short links."""
    if element.tag not in _GROUPS or size.headings or size.links < 2:
        return False
    if size.linked < 0.8 * size.text or size.linked >= _MENU_LINK * size.links:
        return False
    return size.text > SHORT or not any(words_of(inner) & _NAMES for inner in element.iter("a", "span", "div"))


def _is_elsewhere(element: Element) -> bool:
    return element.tag in _HEADINGS and leads_elsewhere("".join(element.itertext()))


def _led_by(heading: Element, sizes: dict[Element, Size], total: int) -> Iterable[Element]:
    """What belongs to a heading: its section when it is the first there, else all that follows it up to the next heading."""
    above = heading.getparent()
    size = sizes.get(above, _NO_SIZE) if above is not None else _NO_SIZE
    is_first = (
        above is not None
        and not (above.text or "").strip()
        and all(not sizes.get(e, _NO_SIZE).text for e in heading.itersiblings(preceding=True))
    )
    if is_first and size.text <= MOST_OF_TEXT * total and not size.has_title and size.headings <= 12:
        return [above]
    following = [heading]
    for sibling in heading.itersiblings():
        if sibling.tag in _HEADINGS or sizes.get(sibling, _NO_SIZE).has_title:
            break
        following.append(sibling)
    return following


def _shorten_profiles(body: Element) -> None:
    """Of the column about a post's author, the name stays."""
    for element in list(body.iter("div", "dl", "td", "ul")):
        if words_of(element) & _PROFILES and (name := next(element.iter("a", "strong", "b", "h4"), None)) is not None:
            text, tail = " ".join("".join(name.itertext()).split()), element.tail
            element.clear()
            element.tag, element.text, element.tail = "p", text[:SHORT], tail


def _part_inline(body: Element) -> None:
    """Write a space where only a style sheet parts two elements of one line: a name and the time beside it."""
    for element in body.iter(*_PARTED):
        after = element.getnext()
        is_parted = after is not None and after.tag in _PARTED and not element.tail
        if is_parted and not any(above.tag in ("pre", "code") for above in element.iterancestors()):
            element.tail = " "


def _container(body: Element) -> Element:
    """The `main` of the page when it has most of what is left, else the body."""
    mains = [e for e in body.iter("*") if e.tag == "main" or e.get("role") == "main"]
    if len(mains) != 1:
        return body
    within, left = (len(body_text(element, is_markdown=False)) for element in (mains[0], body))
    has_title = next(mains[0].iter("h1"), None) is not None or next(body.iter("h1"), None) is None
    return mains[0] if within >= MOST_OF_TEXT * left and has_title else body
