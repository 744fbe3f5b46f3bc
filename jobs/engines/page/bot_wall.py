"""Recognises a page that a site shows to programs in the place of the page: a challenge, or a refusal by a bot filter.

A wall shows little text. Beside that it has a mark that only the challenge of a vendor has, in a script or an attribute, or one
of the sentences of such pages where a wall has it. Vendors' scripts that ordinary pages load, their names in a text, and a
captcha in a form are no marks.
"""

import re
import unicodedata

from jobs.engines.page.tree import Element

MAX_TEXT = 1_500
"""Code points of the text that a wall shows."""
MAX_TEXT_UNMARKED = 700
"""The same for a page without a vendor's mark that came with a status of success."""
MAX_LINKS = 8
_MAX_SCRIPT = 200_000

_MARKS = (
    (
        "Cloudflare",
        r"\b_cf_chl_opt\b|/cdn-cgi/challenge-platform/h/\w+/orchestrate/|^challenge-error-text$|^cf-error-details$",
    ),
    ("Akamai", r"\bsec-(?:if-cpt|bc-tile|cpt-if)-container\b|/_sec/cp_challenge/"),
    ("DataDome", r"\b(?:geo|ct|c)\.captcha-delivery\.com\b"),
    ("PerimeterX", r"^px-captcha(?:-wrapper)?$|\bcaptcha\.px-c(?:dn|loud)\.net\b|/captcha/captcha\.js\?a=c\b"),
    ("Imperva", r"/_Incapsula_Resource\?(?:[^\s\"']*&)?(?:incident_id|edet)=|\bdistil_r_(?:captcha|blocked)\b"),
    ("AWS WAF", r"\bgokuProps\b|\bAwsWafIntegration\.(?:checkForceRefresh|forceRefreshToken)\b"),
    ("Kasada", r"\bKPSDK\.now\b"),
    ("Sucuri", r"\bsucuri_cloudproxy_js\b"),
    ("Anubis", r"^anubis_challenge$"),
    ("Fastly", r"/_fs-ch-\w+/"),
    ("F5", r"\bbobcmn\b|/TSPD/\w+\?type="),
)
"""Vendors, and what only their challenges hold: in scripts, and in ids, classes and addresses of elements."""
_MARK = re.compile("|".join(f"(?P<v{n}>{pattern})" for n, (_, pattern) in enumerate(_MARKS)), re.MULTILINE)

_SENTENCES = re.compile(
    r"""
      (?:(?:to\ continue|before\ you\ (?:continue|proceed)),?\ )?
      (?:please\ )?(?:verify|confirm|prove|make\ sure)(?:\ that)?\ you(?:\ are|'re)(?:\ a)?(?:\ human|\ not\ a\ (?:ro)?bot)
    | (?:verifying|making\ sure|checking\ (?:if|that)|(?:(?:sorry|before\ you\ (?:continue|proceed)),\ )?
        we\ (?:just\ )?need\ to\ (?:make\ sure|check|verify|confirm))(?:\ that)?
      \ you(?:\ are|'re)\ (?:a\ )?(?:human|not\ a\ (?:ro)?bot)
    | (?:checking|verifying)\ (?:if\ the\ site\ connection\ is\ secure|your\ browser)
    | performing\ security\ verification | please\ wait\ while\ we\ (?:verify|check)\ your\ (?:browser|request|connection)
    | your\ connection\ needs\ to\ be\ verified | we\ want\ to\ make\ sure\ it\ is\ actually\ you
    | (?:please\ )?(?:slide|drag|swipe)\ (?:the\ slider\ )?to\ (?:the\ right\ to\ )?(?:verify|complete|confirm|unlock)
    | (?:our\ systems\ have|we\ have|we've)\ detected\ unusual\ (?:traffic|activity|behaviou?r) | bot\ detected
    | your\ browsing\ activity\ has\ been\ paused | click\ the\ button\ below\ to\ continue\ shopping
    | enter\ the\ characters\ you\ see\ below | geben\ sie\ die\ zeichen\ unten\ ein
    | i(?:'m|\ am)\ not\ a\ robot | ich\ bin\ kein\ roboter | je\ ne\ suis\ pas\ un\ robot
    | (?:yo\ )?no\ soy\ un\ robot
    | (?:eu\ )?não\ sou\ um\ robô | non\ sono\ un\ robot | провер(?:ка|яем),?\ что\ вы\ (?:не\ робот|человек)
    | (?:bitte\ warten,\ )?ihr\ browser\ wird\ überprüft
    | are\ you\ (?:a\ )?(?:human|robot)\ ?\?? | robot\ or\ human\?? | human\ verification | (?:ro)?bot\ verification
    | (?:please\ )?(?:complete|solve)\ the\ (?:security\ check|captcha)
    | press\ (?:&|and)\ hold\ to\ confirm | pardon\ our\ interruption | vercel\ security\ checkpoint
    | (?:enable|needs)\ javascript\ and\ cookies\ to\ continue | please\ enable\ js\ and\ disable\ any\ ad\ blocker
    | (?:sorry,\ )?you\ have\ been\ blocked | access\ to\ this\ page\ has\ been\ denied | blocked\ by\ network\ security
    | unusual\ (?:traffic|activity)\ from\ your\ (?:computer\ )?(?:network|browser|ip) | incapsula\ incident\ id
    | you\ don't\ have\ permission\ to\ access\ .{1,300}?\ on\ this\ server\.\ reference\ \#
    | the\ requested\ url\ was\ rejected\.\ please\ consult\ with\ your\ administrator
    | bestätigen\ sie,\ dass\ sie\ (?:ein\ mensch|kein\ roboter)\ sind
    | (?:vérifiez|confirmez)\ que\ vous\ êtes\ (?:un\ )?humain
    | (?:verifica|verifique|confirme|confirma)\ que\ (?:eres|es)\ (?:un\ )?humano | verifique\ se\ você\ é\ humano
    | verifica\ (?:di\ essere|che\ sei)\ umano | подтвердите,\ что\ (?:вы\ (?:не\ робот|человек)|запросы\ отправляли\ вы)
    | 请(?:完成(?:安全|下方|以下)验证|确认您是真人) | 私はロボットではありません | 人間であることを確認 | 사람인지\ 확인
    """,
    re.VERBOSE,
)
_TITLES = re.compile(
    r"just a moment\.{3}|attention required! \| cloudflare|nur einen moment\.{3}|un instant\.{3}|un momento\.{3}"
    r"|um momento\.{3}|een moment geduld\.{3}|один момент\.{3}|请稍候\.{3}|ddos-guard|.{0,40}\bsucuri website firewall"
)
_ABOUT = re.compile(r"\b(?:how|what|why|when|means?)\b")
"""Words of a heading that speaks about such a page."""
_OPENING = 160
"""Code points. A sentence that begins later is not what the page says, but what it speaks of."""
_ASKING = frozenset({"area", "email", "password", "tel", "search", "url", "date", "number", "file"})
"""Types of fields that a form has for its own purpose. A wall's form has hidden fields, a box, and at most one text."""


def bot_wall(root: Element, source: Element | None, shown: str, *, status: int) -> str | None:
    """The vendor of the wall that a page is, or "a bot filter"; None when it is a page.

    Args:
        source: the document as it was sent, whose scripts are there; None when it is not known.
        shown: all text that the page shows.
    """
    if len(shown) > MAX_TEXT:
        return None
    for tree in (root, source):
        if tree is not None and (vendor := _vendor(tree)):
            return vendor
    text = _folded(shown)
    if not 200 <= status < 300:
        return "a bot filter" if _SENTENCES.search(text) or _title(root) else None
    is_bare = len(text) <= MAX_TEXT_UNMARKED and not _has_purpose(root)
    return "a bot filter" if is_bare and _opens_as_wall(text, root) else None


def _vendor(root: Element) -> str | None:
    for element in root.iter("*"):
        if element.tag == "script":
            text = (element.text or "")[:_MAX_SCRIPT]
        else:
            text = "\n".join((element.get("id") or "", *(element.get("class") or "")[:2_000].split()))
        found = _MARK.search(
            "\n".join((text, (element.get("src") or "")[:2_000], (element.get("action") or "")[:2_000]))
        )
        if found and found.lastgroup:
            return _MARKS[int(found.lastgroup[1:])][0]
    return None


def _opens_as_wall(text: str, root: Element) -> bool:
    """Whether the text begins with a wall's sentence, which is the title too, or has a line to itself."""
    if _SENTENCES.search(text, 0, _OPENING) is None:
        return False
    elements = root.iter("h1", "h2", "h3", "p", "div", "label", "span", "button")
    lines = (_folded("".join(element.itertext())[: 4 * _OPENING]) for element in elements)
    return _title(root) or any(
        len(line) <= _OPENING and _SENTENCES.match(line) and not _ABOUT.search(line) for line in lines
    )


def _title(root: Element) -> bool:
    title = next((_folded("".join(element.itertext())) for element in root.iter("title")), "")
    return bool(_TITLES.fullmatch(title) or _SENTENCES.fullmatch(title.rstrip(".!…")))


def _has_purpose(root: Element) -> bool:
    """Whether the page has what a wall has not: fields to fill in, or ways to other pages."""
    texts = 0
    for element in root.iter("input", "textarea"):
        name = (element.get("name") or "").lower()
        if "captcha" in name or "response" in name:
            continue
        kind = "area" if element.tag == "textarea" else (element.get("type") or "text").lower()
        if kind in _ASKING:
            return True
        texts += kind == "text"
    links = {element.get("href") for element in root.iter("a") if (element.get("href") or "#")[0] != "#"}
    return texts > 1 or len(links) > MAX_LINKS


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text.replace("\u2019", "'")).split()).lower()
