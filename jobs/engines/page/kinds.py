"""Recognises the kind of a page: by what it says of itself (schema.org, Open Graph, its generator), else by its structure.

What a page says of itself may be wrong: shops call every page a product's, and news sites call their front page an article. So
it counts only beside a structure that does not contradict it.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from jobs.engines.page.main_text import Size, sizes_of, words_of
from jobs.engines.page.metadata import linked_data, named_contents
from jobs.engines.page.tree import Element
from jobs.engines.page.writer import INLINE
from jobs.engines.text.names import names

Kind = Literal["article", "documentation", "forum", "product", "listing", "collection", "landing"]

_TYPES: dict[str, Kind] = {
    **dict.fromkeys(("DiscussionForumPosting", "QAPage"), "forum"),
    **dict.fromkeys(("Product", "ProductGroup", "IndividualProduct", "Vehicle", "Book"), "product"),
    **dict.fromkeys(("TechArticle", "APIReference"), "documentation"),
    **dict.fromkeys(("CollectionPage", "OfferCatalog", "ProductCollection"), "collection"),
    **dict.fromkeys(("SearchResultsPage", "Blog", "ItemList"), "listing"),
    **dict.fromkeys(
        (
            *(
                "Article",
                "NewsArticle",
                "BlogPosting",
                "Report",
                "ScholarlyArticle",
                "OpinionNewsArticle",
                "AnalysisNewsArticle",
            ),
            *("ReportageNewsArticle", "LiveBlogPosting", "Recipe", "MedicalWebPage", "AdvertiserContentArticle"),
        ),
        "article",
    ),
}
_OPEN_GRAPH: dict[str, Kind] = {
    "article": "article",
    "product": "product",
    "og:product": "product",
    "product.item": "product",
    "product.group": "collection",
}
_GENERATORS = re.compile(
    r"(?P<documentation>sphinx|docutils|docusaurus|mkdocs|gitbook|readthedocs|vitepress|vuepress|antora|doxygen|javadoc|rustdoc"
    r"|mintlify|starlight)"
    r"|(?P<forum>discourse|phpbb|vbulletin|xenforo|flarum|nodebb|mybb|smf|invision)",
    re.IGNORECASE,
)
_DOCUMENTATION_URL = re.compile(
    r"//(?:docs?|developers?|api|manual)\.|/(?:docs?|documentation|reference|manual|api|man)/", re.IGNORECASE
)
_BUY = re.compile(
    r"(?:add (?:it )?to|in den|ajouter au|añadir al?|aggiungi al) (?:your |my )?"
    r"(?:cart|basket|bag|warenkorb|panier|carrito|carrello)"
    r"|buy (?:it )?now|pre-?order",
    re.IGNORECASE,
)
_PRICE = re.compile(
    r"(?:[$€£¥₹]|\b(?:usd|eur|gbp|chf|kr)\b)\s?\d|\d\s?(?:[$€£¥₹]|(?:usd|eur|gbp|chf|kr)\b)", re.IGNORECASE
)
_SENTENCE = re.compile(r"[.!?…](?:\s|$|[\"'”’)])|[。！？]")
_NO_PROSE = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "pre", "a"})
_UNSPACED = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
"""Of scripts whose characters say more than a letter."""
_CARDS = ("div", "li", "article", "section", "a", "tr", "dl")

LEAST_CARDS = 3
LEAST_POSTS = 2
MOST_OF_TEXT = 0.5
SOME_TEXT = 0.35
_PARAGRAPH = 80
"""Code points of a paragraph of prose: shorter ones are on cards, too."""
_WARES = names(
    "product products recipe recipes plugin plugins app apps book books catalog catalogue gallery collection"
)
_CARD = (15, 1_500)
"""Code points of a card."""


class _Outline(NamedTuple):
    """Where the main text of a page is, in code points.

    Attributes:
        text: all of it.
        prose: in paragraphs that are in no post and on no card.
        posts, posts_text: how many posts, answers or comments there are, and what they hold.
        cards, cards_text, priced: the largest group of equal blocks with links or pictures, what they hold, and how many name a
            price.
        has_wares: their names say that they are products, recipes and the like.
        code: blocks of code.
        headings: how many.
    """

    text: int
    prose: int
    posts: int
    posts_text: int
    cards: int
    cards_text: int
    priced: int
    has_wares: bool
    code: int
    headings: int

    def is_mostly(self, part: int) -> bool:
        """Whether a part is most of the text."""
        return part >= MOST_OF_TEXT * max(1, self.text)


def kind_of(root: Element, main: Element, url: str) -> Kind:
    """The kind of a page.

    Args:
        main: its main text (`jobs.engines.page.main_text.main_tree`).
        url: its address.
    """
    outline = _outline(main)
    stated = set(_stated(root))
    has_cards = outline.cards >= LEAST_CARDS
    if outline.posts >= LEAST_POSTS and (
        "forum" in stated or (outline.is_mostly(outline.posts_text) and outline.posts_text > outline.prose)
    ):
        return "forum"
    if not (has_cards and outline.is_mostly(outline.cards_text)) and (
        ("product" in stated and _names_price(root)) or ("article" not in stated and _can_buy(root))
    ):
        return "product"
    if "documentation" in stated or (outline.code and "article" not in stated and _DOCUMENTATION_URL.search(url)):
        return "documentation"
    if "article" in stated and outline.prose >= SOME_TEXT * outline.text:
        return "article"
    if has_cards and (
        outline.is_mostly(outline.cards_text) or (stated & {"collection", "listing"} and not outline.prose)
    ):
        is_collection = "collection" in stated or 2 * outline.priced >= outline.cards or outline.has_wares
        return "collection" if is_collection else "listing"
    if outline.code and "article" not in stated:
        return "documentation"
    if outline.is_mostly(outline.prose):
        return "article"
    is_landing = outline.headings >= LEAST_CARDS or outline.prose < SOME_TEXT * outline.text
    return "landing" if is_landing else "article"


def posts_of(main: Element) -> list[Element]:
    """The outermost elements that hold posts, answers or comments, and not the page's title."""
    bodies = [element for element in main.iter("*") if _is_body_of_post(element)]
    several = set(bodies) if len(bodies) >= LEAST_POSTS else set()
    titles = {above for title in main.iter("h1") for above in title.iterancestors()}
    found: list[Element] = []
    stack = [main]
    while stack:
        element = stack.pop()
        is_one = element in several or _is_post(element) or "comments" in words_of(element)
        if is_one and element is not main and element not in titles:
            found.append(element)
        else:
            stack.extend(child for child in element if isinstance(child.tag, str))
    return found


def _stated(root: Element) -> Iterator[Kind]:
    named = named_contents(root)
    types = [item.get("@type") for item in linked_data(root)]
    texts = [
        text for found in types for text in (found if isinstance(found, list) else [found]) if isinstance(text, str)
    ]
    for element in root.iter("*"):
        if isinstance(element.tag, str) and (item := element.get("itemtype")):
            texts.append(item.strip().rstrip("/").rpartition("/")[2])
    yield from (_TYPES[text] for text in texts if text in _TYPES)
    if (kind := _OPEN_GRAPH.get(named.get("og:type", "").strip().lower())) is not None:
        yield kind
    if (found := _GENERATORS.search(named.get("generator", ""))) is not None:
        yield "forum" if found["forum"] else "documentation"


def _outline(main: Element) -> _Outline:
    sizes = sizes_of(main)
    text = sizes[main].text if main in sizes else 0
    posts = posts_of(main)
    number = sum(
        1 for element in main.iter("*") if element in sizes and _is_post(element) and sizes[element].text >= _CARD[0]
    )
    groups: dict[tuple[str, str], list[Element]] = {}
    for element, size in sizes.items():
        is_card = element.tag in _CARDS and _CARD[0] <= size.text <= _CARD[1] and (size.links or size.images)
        if is_card and element is not main:
            parent = element.getparent()
            name = element.get("class") or f"in {parent.get('class') or parent.tag}"
            groups.setdefault((element.tag, name), []).append(element)
    sums = {
        key: sum(sizes[element].text for element in group) for key, group in groups.items() if len(group) >= LEAST_CARDS
    }
    largest = max(sums, key=lambda key: min(sums[key], text), default=None)
    cards = groups[largest] if largest is not None else []
    apart = {*posts, *cards}
    return _Outline(
        text=text,
        prose=_prose(main, sizes, apart),
        posts=number,
        posts_text=sum(sizes[element].text for element in posts if element in sizes),
        cards=len(cards),
        cards_text=min(text, sums[largest]) if largest is not None else 0,
        priced=sum(1 for card in cards if _PRICE.search("".join(card.itertext()))),
        has_wares=any(words_of(element) & _WARES for card in cards[:1] for element in (card, card.getparent())),
        code=sum(1 for element in main.iter("pre") if element in sizes),
        headings=sum(1 for element in main.iter("h1", "h2", "h3") if element in sizes),
    )


def _prose(main: Element, sizes: dict[Element, Size], apart: set[Element]) -> int:
    """The text of paragraphs: of blocks without blocks in them that are long enough and have a sentence."""
    prose, stack = 0, [main]
    while stack:
        element = stack.pop()
        if element in apart or element not in sizes or element.tag in _NO_PROSE:
            continue
        if not all(child.tag in INLINE for child in element):
            stack.extend(element)
            continue
        size = sizes[element]
        text = "".join(element.itertext())
        letters = len(text.strip()) + 2 * len(_UNSPACED.findall(text))
        if letters >= _PARAGRAPH and 3 * size.linked < size.text and _SENTENCE.search(text):
            prose += size.text
    return prose


def _is_post(element: Element) -> bool:
    return isinstance(element.tag, str) and bool((words_of(element) | frozenset(element.tag.split("-"))) & _POST_WORDS)


def _is_body_of_post(element: Element) -> bool:
    tokens = f"{element.get('class') or ''} {element.get('id') or ''}"[:500].lower().split()
    return any(_POST_BODY.search(token) for token in tokens)


_POST_WORDS = names("comment answer reply postbody cooked commtext usertext postcontent shredditcomment")
_POST_BODY = re.compile(r"(?:post|message)[-_]?(?:body|text|content|message)|topic[-_]post$")


def _can_buy(root: Element) -> bool:
    texts = (
        " ".join(("".join(element.itertext())[:200], element.get("value") or ""))
        for element in root.iter("button", "a", "input")
    )
    return any(_BUY.search(text) for text in texts) and next(root.iter("h1"), None) is not None


def _names_price(root: Element) -> bool:
    if any(isinstance(item.get("offers"), dict | list) for item in linked_data(root)):
        return True
    return _PRICE.search("".join(root.itertext())) is not None
