"""Pages in twelve layouts, each written here, with the text that a reader would call its article.

The text is marked in the source: `[[` and `]]` enclose what belongs to the article and are removed from the page.
"""

from __future__ import annotations

import re
from html import unescape
from typing import NamedTuple

_GOLD = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


class Layout(NamedTuple):
    """A page and its article's text."""

    name: str
    html: str
    article: str


TITLE = "<h1>[[How the harbour found its way back]]</h1>"
P = (
    "[[For eleven years the old basin had been empty, and nobody in the town could remember who had locked its gate "
    "or why.]]",
    "[[In March the council voted, by nine to four, to drain it, repair the northern wall and let the fishing boats "
    "return "
    "before the summer.]]",
    "[[The engineers found three cannon, a church bell and the keel of a ship that is older than the town itself.]]",
    "[[Divers measured the silt at two metres; it will be carried to the fields behind the dunes, where it is worth "
    "more "
    "than the gold some had hoped for.]]",
    "[[The first boat is expected on the second Sunday in June, if the weather and the paint allow it, says the "
    "harbour "
    "master.]]",
    "[[Until then the footbridge stays closed on working days, and visitors are asked to use the path along the "
    "cliff.]]",
)
NAV = (
    "<header><a href='/'>The Tidal Post</a><nav><ul><li><a href='/news'>News</a></li><li><a "
    "href='/sport'>Sport</a></li>"
    "<li><a href='/jobs'>Jobs</a></li><li><a href='/subscribe'>Subscribe now</a></li></ul></nav></header>"
)
FOOTER = (
    "<footer><p>Copyright 2026 The Tidal Post. All rights reserved.</p><ul><li><a href='/imprint'>Imprint</a></li>"
    "<li><a href='/privacy'>Privacy policy</a></li></ul></footer>"
)
RELATED = (
    "<aside class='related'><h3>Most read</h3><ul><li><a href='/1'>Storm closes the school for a third day</a></li>"
    "<li><a href='/2'>Mayor denies plans for a second casino</a></li><li><a href='/3'>Ten recipes with "
    "mussels</a></li></ul></aside>"
)
COOKIES = (
    "<div id='cookie-banner' class='cookie-consent' role='dialog'><p>We and our 214 partners store cookies on your "
    "device to "
    "measure you and to show advertisements.</p><button>Accept all</button><button>Reject</button></div>"
)


def _paragraphs(*texts: str) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def _layout(name: str, body: str, head: str = "") -> Layout:
    document = f"<!doctype html><html lang='en'><head><title>{name}</title>{head}</head><body>{body}</body></html>"
    article = " ".join(unescape(_TAG.sub(" ", part)) for part in _GOLD.findall(document))
    return Layout(name, _GOLD.sub(r"\1", document), article)


LAYOUTS = (
    _layout("news article", f"{NAV}<main><article>{TITLE}{_paragraphs(*P)}</article>{RELATED}</main>{FOOTER}"),
    _layout(
        "blog with comments",
        f"{NAV}<div id='content' class='post'>{TITLE}<div class='entry-content'>{_paragraphs(*P)}</div></div>"
        "<section id='comments' class='comments'><h3>3 comments</h3><div class='comment'><p>Great post, thank you "
        "so much for "
        "writing this up!</p></div><div class='comment'><p>I was there in 1999 and it smelled awful, believe "
        "me.</p></div>"
        f"<form><textarea>Leave a reply</textarea></form></section>{FOOTER}",
    ),
    _layout(
        "documentation",
        "<div class='layout'><nav class='sidebar'><ul><li>Guide</li><li>Reference</li><li>Changelog</li></ul></nav>"
        "<main class='markdown-body'><h1>[[Installing the tide gauge]]</h1><p>[[The gauge is a program that reads a "
        "sensor and "
        "prints the height of the water once in a minute.]]</p><h2>[[Requirements]]</h2><ul><li>[[A sensor of the "
        "third "
        "generation, with a cable of at most five metres]]</li><li>[[Python 3.11 or newer, on a machine that is never "
        "asleep]]</li></ul><h2>[[Installation]]</h2><p>[[Install the package and run it once without arguments:]]</p>"
        "<pre><code>[[pip install tide-gauge\ntide-gauge --once]]</code></pre><p>[[The first line that it prints is "
        "the "
        "version; every other line is a time and a height in millimetres.]]</p></main></div>",
    ),
    _layout(
        "prices in a table",
        f"{NAV}<main><h1>[[Berths and their prices]]</h1><p>[[All prices are in euros for one night, with water and "
        f"power, "
        "and without the tourist tax of the "
        "town.]]</p><table><thead><tr><th>[[Length]]</th><th>[[Summer]]</th><th>[[Winter]]"
        "</th></tr></thead><tbody><tr><td>[[up to 8 "
        "metres]]</td><td>[[21.00]]</td><td>[[12.50]]</td></tr><tr><td>[[up to 12 "
        "metres]]</td><td>[[28.00]]</td><td>[[16.00]]</td></tr><tr><td>[[up to 20 "
        "metres]]</td><td>[[44.00]]</td><td>[[25.50]]"
        "</td></tr></tbody></table><p>[[Boats that stay for a whole week pay for six nights. Longer stays are "
        "agreed with the "
        f"office, by telephone or at the desk.]]</p></main>{FOOTER}",
    ),
    _layout(
        "cookie wall",
        f"{COOKIES}{NAV}<main><article>{TITLE}{_paragraphs(*P)}</article></main>{FOOTER}{COOKIES}",
    ),
    _layout(
        "client-rendered divs",
        f"<div id='root'><div class='css-1x'><div class='css-2a'><a href='/'>Home</a><a href='/login'>Log "
        f"in</a></div></div>"
        f"<div class='css-9k'><div class='css-3f'>{TITLE}</div>"
        + "".join(f"<div class='css-7p'><div><span>{text}</span></div></div>" for text in P)
        + "</div><div class='css-0z'><span>Terms</span><span>Contact</span></div></div>",
    ),
    _layout(
        "questions and answers",
        f"{NAV}<main><h1>[[Questions that visitors ask]]</h1><section class='faq'><h3>[[When is the office "
        f"open?]]</h3><p>"
        "[[From eight in the morning until six in the evening, on Sundays until noon.]]</p><h3>[[May I bring a "
        "dog?]]</h3><p>[[Dogs "
        "are welcome on the quay and in the garden, but not in the showers.]]</p><h3>[[Is there "
        "fuel?]]</h3><p>[[Diesel is sold at "
        "the eastern pier, in daylight and when the pump works, which is on most days.]]</p><h3>[[How deep is the "
        "entrance?]]</h3>"
        f"<p>[[Three metres at low water; in winter the sand may take half a metre of that "
        f"away.]]</p></section></main>{FOOTER}",
    ),
    _layout(
        "product page",
        f"{NAV}<div class='product'><div class='gallery'><img src='a.jpg' alt='A lamp'></div><h1>[[Storm lamp No. "
        f"7]]</h1>"
        "<div class='description'><p>[[A lamp of brass and glass that burns for forty hours with one filling and "
        "does not go out in "
        "a gale.]]</p><p>[[The glass is blown by hand in the workshop behind the church, so that no two lamps are "
        "quite the same.]]"
        "</p><ul><li>[[Height: 31 centimetres]]</li><li>[[Weight: 1.4 kilograms]]</li><li>[[Wick: flat, 12 "
        "millimetres]]</li></ul>"
        "</div><div class='buy'><button>Add to basket</button><button>Wish list</button></div></div><div "
        "class='recommendations'>"
        f"<h3>Customers also bought</h3><ul><li><a href='/p/1'>Rope, 20 m</a></li><li><a "
        f"href='/p/2'>Compass</a></li></ul></div>{FOOTER}",
    ),
    _layout(
        "old tables",
        "<table width='100%'><tr><td colspan='2'><font size='5'>Tidal Post</font></td></tr><tr><td width='150'><a "
        "href='a'>News"
        "</a><br><a href='b'>Links</a><br><a href='c'>Guestbook</a></td><td><h1>[[How the harbour found its way "
        "back]]</h1>"
        + "".join(f"<p><font face='Arial'>{text}</font></p>" for text in P)
        + "</td></tr><tr><td colspan='2'><center>You are visitor 004711</center></td></tr></table>",
    ),
    _layout(
        "long read with figures",
        f"{NAV}<article class='longread'>{TITLE}<p class='standfirst'>{P[0]}</p><figure><img "
        f"src='x.jpg'><figcaption>[[The basin "
        "in 1931, photographed from the lighthouse]]</figcaption></figure>"
        f"{_paragraphs(P[1], P[2])}<blockquote><p>[[We did not look for a bell, it was the bell that looked for "
        f"us.]]</p></blockquote>"
        f"<h2>[[What happens now]]</h2>{_paragraphs(P[3], P[4], P[5])}<div class='newsletter'><p>Sign up for our "
        f"newsletter and "
        f"never miss a tide again.</p></div></article>{RELATED}{FOOTER}",
    ),
    _layout(
        "release notes",
        "<nav><a href='/'>Gauge</a> <a href='/docs'>Docs</a></nav><main><h1>[[Release "
        "notes]]</h1><section><h2>[[Version 2.4]]</h2>"
        "<p>[[This release reads sensors of the fourth generation and needs half the memory.]]</p><ul><li>[[Added: "
        "heights may be "
        "printed in feet]]</li><li>[[Fixed: a pause at midnight on the last day of a "
        "month]]</li></ul></section><section><h2>"
        "[[Version 2.3]]</h2><p>[[A release for those whose clocks run backwards, of whom there were more than we "
        "thought.]]</p><ul>"
        "<li>[[Changed: the version is printed first]]</li><li>[[Removed: the option that nobody "
        "used]]</li></ul></section></main>"
        f"{FOOTER}",
    ),
    _layout(
        "Japanese article",
        "<header><nav><ul><li>ホーム</li><li>ニュース</li></ul></nav></header><article><h1>[[港が帰ってきた日]]</h1>"
        "<p>[[十一年のあいだ古い船だまりは空のままで、誰が門を閉めたのか町の誰も覚えていなかった。]]</p>"
        "<p>[[三月、議会は九対四で水を抜き、北の壁を直し、夏までに漁船を戻すことを決めた。]]</p>"
        "<p>[[技師たちは大砲三門と教会の鐘、そして町よりも古い船の竜骨を見つけた。]]</p></article><footer><p>無断転載を禁じます</p></footer>",
    ),
)
