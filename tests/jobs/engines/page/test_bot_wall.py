"""What is a wall, and what only looks like one."""

import contextlib
import html
from typing import Any, NamedTuple

import pytest
from lxml.html import fromstring

from jobs.engines.page import visit
from jobs.engines.page.bot_wall import bot_wall
from jobs.render_pro.endpoint import ENDPOINT as RENDER_PRO
from jobs.web_diff.endpoint import ENDPOINT as WEB_DIFF
from shared.outcome import DeadlineExceeded, UpstreamFailed
from tests.each import each
from tests.jobs.engines.page.site import URL, Site
from tests.sites import decoded

SENTENCE = "The harbour has forty berths for visitors, and every one of them has water and power. "
NAV = "".join(
    f"<a href='/{name}'>{name}</a> " for name in ("home", "news", "tides", "berths", "prices", "map", "jobs", "us", "x")
)


class Wall(NamedTuple):
    """What a vendor sends.

    Attributes:
        body: what the browser shows.
        scripts: what the document holds beside it.
        statuses: with which it comes.
    """

    title: str
    body: str
    scripts: str
    statuses: tuple[int, ...]


WALLS = {
    "Cloudflare": Wall(
        "Just a moment...",
        "<h1>site.example</h1><p id='x'>Performing security verification</p>",
        "<script>(function(){window._cf_chl_opt = {cvId: '3', cType: 'managed'};})();</script>",
        (200, 403, 503),
    ),
    "Cloudflare in German": Wall(
        "Nur einen Moment…",
        "<div class='main-wrapper'><p>Bestätigen Sie, dass Sie ein Mensch sind. Dies kann einige Sekunden dauern.</p></div>",
        "<script src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=9'></script>",
        (200, 403),
    ),
    "Cloudflare's refusal": Wall(
        "Attention Required! | Cloudflare",
        "<div id='cf-error-details'><h1>Sorry, you have been blocked</h1><h2>You are unable to access site.example</h2></div>",
        "",
        (200, 403),
    ),
    "Akamai's refusal": Wall(
        "Access Denied",
        '<h1>Access Denied</h1>You don\'t have permission to access "http://site.example/" on this server.<p>'
        "Reference #18.2d3c1702.1763993000.1a2b3c<p>https://errors.edgesuite.net/18.2d3c1702.1763993000.1a2b3c",
        "",
        (403,),
    ),
    "Akamai's challenge": Wall(
        "Challenge Validation",
        "<div id='sec-if-cpt-container'><p>Powered and protected by</p></div>",
        "<script src='/_sec/cp_challenge/crypto_message-4-3.htm'></script>",
        (200, 428),
    ),
    "DataDome": Wall(
        "site.example",
        "<p id='cmsg'>Please enable JS and disable any ad blocker</p>",
        "<script>var dd={'rt':'c','host':'geo.captcha-delivery.com'}</script>"
        "<script src='https://ct.captcha-delivery.com/c.js'></script>",
        (200, 403),
    ),
    "PerimeterX": Wall(
        "Access to this page has been denied",
        "<div class='px-captcha-container'><h1>Press &amp; Hold to confirm you are a human (and not a bot).</h1>"
        "<div id='px-captcha'></div></div>",
        "<script>window._pxAppId = 'PX1';</script>",
        (200, 403),
    ),
    "Imperva": Wall(
        "",
        "<p>Request unsuccessful. Incapsula incident ID: 1234000560123456789-123456789</p>",
        "<iframe id='main-iframe' src='/_Incapsula_Resource?SWUDNSAI=31&xinfo=1&incident_id=12&edet=12&cinfo=1'></iframe>",
        (200, 403),
    ),
    "AWS WAF": Wall("", "<div id='challenge-container'></div>", "<script>window.gokuProps = {};</script>", (202, 405)),
    "Kasada": Wall("", "", "<script>window.KPSDK={};KPSDK.now=Date.now;</script>", (200, 429)),
    "a captcha alone": Wall(
        "Human check",
        "<h2>Verify you are human</h2><form><div class='cf-turnstile'></div><input type='hidden' name='cf-turnstile-response'>"
        "<button>Continue</button></form>",
        "<script src='https://challenges.cloudflare.com/turnstile/v0/api.js'></script>",
        (200, 403),
    ),
    "letters to type": Wall(
        "Shop",
        "<h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not a robot. "
        "For best results, please make sure your browser is accepting cookies.</p>"
        "<form><input name='field-captcha' type='text'></form>"
        "<a href='/conditions'>Conditions</a> <a href='/privacy'>Privacy</a>",
        "",
        (200, 503),
    ),
    "unusual traffic": Wall(
        "https://site.example/",
        "<div>Our systems have detected unusual traffic from your computer network. This page checks to see if it is "
        "really you sending the requests, and not a robot.</div>",
        "",
        (429,),
    ),
    "Anubis": Wall(
        "Making sure you're not a bot!",
        "<h1>Making sure you're not a bot!</h1><p>Loading...</p>",
        "<script id='anubis_challenge' type='application/json'>{}</script>",
        (200,),
    ),
}

PAGES = {
    "a page that Cloudflare's scripts watch": (
        "Berths",
        SENTENCE,
        "<script>window.__CF$cv$params={r:'9'}</script>"
        "<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>",
    ),
    "a page that the other vendors' scripts watch": (
        "Berths",
        SENTENCE,
        "<script src='https://js.datadome.co/tags.js'></script><script>window._pxAppId='PX1'</script>"
        "<script src='/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3&ns=2'></script>",
    ),
    "a form with a captcha": (
        "Write to us",
        f"<h1>Write to us</h1><p>{SENTENCE}</p><form><input name='name'><input type='email' name='e'>"
        "<textarea name='m'></textarea><label>Please verify you are human</label><div class='g-recaptcha'></div>"
        "<button>Send</button></form>",
        "<script src='https://www.google.com/recaptcha/api.js'></script>",
    ),
    "a login with a captcha": (
        "Log in",
        "<h1>Log in</h1><form><input type='text' name='user'><input type='password' name='p'><p>Verify you are human</p>"
        "<div class='cf-turnstile'></div></form>",
        "<script src='https://challenges.cloudflare.com/turnstile/v0/api.js'></script>",
    ),
    "documentation of a challenge": (
        "Challenge pages",
        "<h1>Challenge pages</h1><p>The script sets <code>window._cf_chl_opt</code> and the visitor sees "
        f"<em>Verify you are human</em>. The frame comes from <code>geo.captcha-delivery.com</code>, the box is "
        f"<code>px-captcha</code>.</p><p>{SENTENCE}</p>",
        "",
    ),
    "a short answer about walls": (
        'What does "Verify you are human" mean?',
        '<h1>What does "Verify you are human" mean?</h1><p>A site behind Cloudflare or Akamai asks it when '
        "it takes you for a bot. "
        "Wait for five seconds.</p>",
        "",
    ),
    "a long article that is called as walls are": (
        "Just a moment...",
        f"<h1>Are you a robot?</h1><p>{SENTENCE * 30}</p>",
        "",
    ),
    "a shop with a heading of walls": (
        "Are you human?",
        f"<nav>{NAV}</nav><h1>Are you human?</h1><p>{SENTENCE}</p>",
        "",
    ),
    "hardly a page": ("Hello", "<p>Hello</p>", ""),
    "nothing": ("", "", ""),
}


def call(endpoint: Any, title: str, body: str, scripts: str, status: int, *, site: Site | None = None) -> Any:
    """Scripts are in the document as it was sent; the DOM that the browser hands over has none."""
    site = site or Site()
    head = f"<html><head><title>{html.escape(title)}</title>"
    site.html, site.source = (
        f"{head}</head><body>{body}</body></html>",
        f"{head}{scripts}</head><body>{body}</body></html>",
    )
    site.status = status
    return site.call(endpoint.run, decoded(endpoint.request, {"url": URL}))


@each("name", WALLS)
@pytest.mark.parametrize("endpoint", [RENDER_PRO, WEB_DIFF], ids=lambda endpoint: endpoint.name)
def test_a_wall_is_not_the_page(endpoint: Any, name: str) -> None:
    """With any of its statuses: the call fails, and the baseline stays."""
    wall = WALLS[name]
    for status in wall.statuses:
        site = Site()
        call(endpoint, "Berths", SENTENCE, "", 200, site=site)
        left = site.left
        with pytest.raises(UpstreamFailed) as failed:
            call(endpoint, wall.title, wall.body, wall.scripts, status, site=site)
        assert (failed.value.reason, site.left is left) == ("bot_wall", True)


@each(
    "line",
    [
        *("Performing security verification", "Please wait while we verify your browser...", "I'm not a robot"),
        *("Your connection needs to be verified before you can proceed", "Drag the slider to complete the puzzle"),
        *("We want to make sure it is actually you we are dealing with and not a robot.", "Bot detected."),
        *("Our systems have detected unusual traffic from your computer network.", "Please slide to verify"),
        *("Before you continue, we need to check that you're not a robot.", "Enter the characters you see below"),
        *("Click the button below to continue shopping", "We've detected unusual activity from your computer network"),
        *(
            "Geben Sie die Zeichen unten ein",
            "Your Browsing Activity Has Been Paused",
            "\u8bf7\u5b8c\u6210\u4e0b\u65b9\u9a8c\u8bc1\u540e\u7ee7\u7eed\u64cd\u4f5c",
        ),
        *("To continue, please confirm that you're not a robot", "Je ne suis pas un robot", "Ich bin kein Roboter"),
        *(
            "No soy un robot",
            "Não sou um robô",
            "Проверка, что вы не робот",
            "Bitte warten, Ihr Browser wird überprüft",
        ),
    ],
)
def test_what_walls_say(line: str) -> None:
    """A line to itself on a bare page; in a longer sentence it is the page's own text."""
    for text, is_wall in ((line, True), (f"The sign at the harbour says this: {line}", False)):
        root = fromstring(f"<html><head><title>site</title></head><body><p>{text}</p></body></html>")
        assert (bot_wall(root, None, text, status=200) is not None) is is_wall


@pytest.mark.parametrize(("status", "reason"), [(200, "bot_wall"), (403, "bot_wall"), (403, None), (429, None)])
def test_a_page_that_is_refused_is_rendered_from_another_address(status: int, reason: str | None) -> None:
    """Once, where there is one and time is left, and what that one gets is the answer. Other errors are the page's own."""
    wall = WALLS["Cloudflare"] if reason else Wall("No", "<h1>No</h1>", "", ())
    site = Site(elsewhere=(200, f"<main><p>{SENTENCE}</p></main>"))
    answer = call(RENDER_PRO, wall.title, wall.body, wall.scripts, status, site=site)
    assert (SENTENCE.strip() in answer.markdown, answer.http_status, len(site.asked)) == (True, 200, 2)
    for again in (500, 429):
        site = Site(elsewhere=(again, "<p>Later</p>"))
        with pytest.raises(UpstreamFailed, match=f"status {again}"):
            call(RENDER_PRO, wall.title, wall.body, wall.scripts, status, site=site)
        assert len(site.asked) == 2
    for own in (401, 404, 500):
        site = Site(elsewhere=(200, ""))
        with contextlib.suppress(UpstreamFailed):
            call(RENDER_PRO, "No", "<h1>No</h1>", "", own, site=site)
        assert len(site.asked) == 1


def test_a_second_rendering_that_fails_leaves_the_first_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal says more than a timeout. Without time for another rendering, it is noted alone."""
    wall = WALLS["Cloudflare"]
    site = Site(elsewhere=(200, SENTENCE))
    render = site.render

    def failing_later(*arguments: Any, **named: Any) -> Any:
        if site.asked:
            raise DeadlineExceeded("No browser was free in time.")
        return render(*arguments, **named)

    monkeypatch.setattr(site, "render", failing_later)
    with pytest.raises(UpstreamFailed) as failed:
        call(RENDER_PRO, wall.title, wall.body, wall.scripts, 403, site=site)
    assert (failed.value.reason, site.elsewhere) == ("bot_wall", None)
    monkeypatch.setattr(visit, "AGAIN_S", visit.RENDER_S + 1)
    site = Site(elsewhere=(200, SENTENCE))
    with pytest.raises(UpstreamFailed) as failed:
        call(RENDER_PRO, wall.title, wall.body, wall.scripts, 403, site=site)
    assert (failed.value.reason, site.elsewhere, len(site.asked)) == ("bot_wall", None, 1)


@each("name", PAGES)
def test_a_page_with_some_of_a_walls_parts_is_a_page(name: str) -> None:
    """Vendors' names, their scripts on ordinary pages, and captchas in forms."""
    assert call(RENDER_PRO, *PAGES[name], 200).ok


@pytest.mark.parametrize("status", [401, 403, 500])
def test_an_error_that_is_no_wall_is_an_error(status: int) -> None:
    """Also where its text is short."""
    with pytest.raises(UpstreamFailed) as failed:
        call(RENDER_PRO, "Forbidden", "<h1>Forbidden</h1><p>You need an account to see this page.</p>", "", status)
    assert failed.value.reason == "http_status"
