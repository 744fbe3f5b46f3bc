"""The endpoint with simulated pages: which addresses it calls, what it reports, and what it refuses."""

import base64
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from jobs.calculations import CALCULATIONS
from jobs.hosts import PublicUrl
from jobs.ports import Context, Page, Ports
from jobs.x402_discover.endpoint import ENDPOINT, Request, run
from jobs.x402_discover.fetching import MAX_BYTES, MAX_REQUESTS
from shared.endpoint import InvalidField
from shared.outcome import BlockedAddress, UpstreamFailed
from tests.each import each
from tests.sites import PUBLIC, decoded

SITE = "https://shop.example.com"
USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
OFFER = {"scheme": "exact", "network": "eip155:8453", "asset": USDC, "payTo": "0xPayee", "amount": "5000"}
PLACES = ["/.well-known/x402", "/.well-known/x402.json", "/bazaar.json", "/openapi.json"]

Answer = Page | Exception | Callable[[], Page]


def page(body: Any = b"", status: int = 200, **headers: str) -> Page:
    raw = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    kind = "text/html" if raw.startswith(b"<") else "application/json"
    pairs = {"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Page("", status, tuple(pairs.items()), raw)


def challenge(amount: str = "5000") -> Page:
    content = {"x402Version": 2, "accepts": [{**OFFER, "amount": amount}]}
    return page({}, 402, payment_required=base64.b64encode(json.dumps(content).encode()).decode())


class Site:
    """The ports of this endpoint. It answers by "METHOD URL", and 404 for all others."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self.answers = answers
        self.site = PUBLIC
        self.asked: list[str] = []
        self.sent: list[tuple[Mapping[str, str] | None, bytes | None]] = []

    @property
    def pages(self) -> "Site":
        return self

    @property
    def calculations(self) -> "Site":
        return self

    def exchange(self, method: str, url: PublicUrl, *, limit_bytes: int, deadline: float, **request: Any) -> Page:
        assert limit_bytes == MAX_BYTES
        self.asked.append(f"{method} {url}")
        self.sent.append((request.get("headers"), request.get("content")))
        answer = self.answers.get(f"{method} {url}", page({"error": "not found"}, 404))
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Page) else answer()

    def run(self, name: str, argument: bytes, *, limit_s: float, deadline: float | None = None) -> bytes:
        return CALCULATIONS[name].calculate(argument)


def report(answers: Mapping[str, Answer], url: str = SITE + "/", **request: Any) -> tuple[dict[str, Any], Site]:
    site = Site(answers)
    result = run(Request(url=url, **request), Context(payer="0x1", ports=cast(Ports, site)))
    return cast(dict[str, Any], json.loads(msgspec.json.encode(result))), site


def calls(answer: dict[str, Any]) -> list[tuple[str, str | None, str, float | None]]:
    return [(e["url"].removeprefix(SITE), e["method"], e["source"], e["priceUsdc"]) for e in answer["endpoints"]]


def refusal(**fields: Any) -> InvalidField:
    with pytest.raises(InvalidField) as caught:
        decoded(Request, fields)
    return caught.value


def test_an_openapi_document_that_a_manifest_links_is_read() -> None:
    """On the target's site only."""
    document = {"openapi": "3.1.0", "paths": {"/a": {"get": {"x-payment-info": {"price": "$0.01"}}}}}
    for link, asked in (("/spec/v1.json", True), ("https://elsewhere.example.net/v1.json", False)):
        answer, site = report(
            {
                f"GET {SITE}/.well-known/x402": page({"openapi": link, "x402Version": 1}),
                f"GET {SITE}/spec/v1.json": page(document),
            }
        )
        assert site.asked.count(f"GET {SITE}/spec/v1.json") == asked
        assert calls(answer) == ([("/a", "GET", "openapi", 0.01)] if asked else [])
        assert not any("elsewhere" in one for one in site.asked)


def test_money_without_a_call_is_a_warning() -> None:
    """The shape was not understood, perhaps. Prices on an ordinary page are no such sign."""
    for answers, warned in (
        ({f"GET {SITE}/.well-known/x402": page({"tariff": {"a": {"price": "one cent in USDC"}}})}, True),
        ({f"GET {SITE}/": page("<p>Pay with USDC over x402.</p>")}, True),
        ({f"GET {SITE}/": page("<p>Shoes for $19.99</p>")}, False),
        ({f"GET {SITE}/": challenge()}, False),
    ):
        answer, _ = report(answers)
        assert any("money is mentioned" in text for text in answer["warnings"]) is warned


def test_a_price_above_a_thousand_is_a_warning() -> None:
    """It is mostly one in atomic units that was taken for whole ones."""
    for price, warned in ((1000, False), (1000.5, True)):
        answer, _ = report({f"GET {SITE}/.well-known/x402": page({"endpoints": [{"path": "/a", "priceUsdc": price}]})})
        assert answer["endpoints"][0]["priceUsdc"] == price
        assert any("1,000 USDC" in text for text in answer["warnings"]) is warned


def test_a_site_that_says_nothing() -> None:
    """Every address is called once, in order, and an empty report is an answer."""
    answer, site = report({f"GET {SITE}/": page("<p>Hello</p>")})
    assert site.asked == [f"GET {SITE}/", *(f"GET {SITE}{path}" for path in PLACES)]
    assert list(answer) == list(ENDPOINT.example.response)
    assert answer == {
        "ok": True,
        "target": f"{SITE}/",
        "finalUrl": f"{SITE}/",
        "origin": SITE,
        "status": 200,
        "challenge": None,
        "endpoints": [],
        "hints": [],
        "catalogs": [
            {"url": SITE + path, "status": 404, "format": None, "itemCount": 0, "error": "http_status"}
            for path in PLACES
        ],
        "endpointCount": 0,
        "truncated": False,
        "warnings": [],
    }


def test_a_challenge() -> None:
    """The target itself is a paid call."""
    answer, _ = report({f"GET {SITE}/x": challenge()}, f"{SITE}/x")
    assert calls(answer) == [("/x", "GET", "challenge", 0.005)]
    assert answer["challenge"]["transport"] == "payment_required_header"
    assert (answer["endpoints"][0]["evidence"], answer["endpoints"][0]["crossOrigin"]) == ("challenge", False)


def test_a_call_that_takes_no_get_is_posted_to() -> None:
    """405, then `{}` as JSON. Nothing that looks like a payment is ever sent."""
    answers = {f"GET {SITE}/x": page("", 405), f"POST {SITE}/x": challenge()}
    answer, site = report(answers, f"{SITE}/x")
    assert calls(answer) == [("/x", "POST", "challenge", 0.005)]
    assert answer["status"] == 402
    assert site.asked[:2] == [f"GET {SITE}/x", f"POST {SITE}/x"]
    assert site.sent[1] == ({"Content-Type": "application/json"}, b"{}")
    assert all(sent == (None, None) for number, sent in enumerate(site.sent) if number != 1)


@each("status", [200, 400, 401, 404, 500])
def test_nothing_but_405_is_posted_to(status: int) -> None:
    """After any other status there is no POST."""
    _, site = report({f"GET {SITE}/x": page("<p>", status)}, f"{SITE}/x")
    assert not any(asked.startswith("POST") for asked in site.asked)


def test_a_post_that_fails_or_redirects_is_reported() -> None:
    """Catalogs are looked at all the same, and the redirect of a POST is not followed."""
    failing = {f"GET {SITE}/x": page("", 405), f"POST {SITE}/x": UpstreamFailed("no", reason="timeout")}
    answer, site = report(failing, f"{SITE}/x")
    assert any("did not answer a POST: timeout" in text for text in answer["warnings"])
    assert len(site.asked) == 6
    moved = {f"GET {SITE}/x": page("", 405), f"POST {SITE}/x": page("", 307, location="/y")}
    answer, site = report(moved, f"{SITE}/x")
    assert answer["status"] == 307
    assert f"POST {SITE}/y" not in site.asked


def test_all_sources_make_one_list() -> None:
    """A call that several places name is reported once, with the first terms; what lacks is filled in from the others."""
    answers = {
        f"GET {SITE}/a": challenge(),
        f"GET {SITE}/.well-known/x402": page({"version": 1, "resources": [f"{SITE}/a", f"{SITE}/b", "POST /c"]}),
        f"GET {SITE}/bazaar.json": page(
            {"items": [{"resource": f"{SITE}/b", "method": "GET", "accepts": [OFFER], "description": "B"}]}
        ),
        f"GET {SITE}/openapi.json": page(
            {
                "openapi": "3.1.0",
                "paths": {"/a": {"get": {"summary": "A", "x-price": "$0.005"}, "post": {"x-price": "$1"}}},
            }
        ),
    }
    answer, _ = report(answers, f"{SITE}/a")
    assert calls(answer) == [
        ("/a", "GET", "challenge", 0.005),
        ("/b", "GET", "bazaar", 0.005),
        ("/c", "POST", "well_known", None),
        ("/a", "POST", "openapi", 1.0),
    ]
    assert [call["description"] for call in answer["endpoints"]] == ["A", "B", None, None]
    assert [call["evidence"] for call in answer["endpoints"]] == ["challenge", "terms", "listed", "terms"]
    assert answer["warnings"] == [
        "Calls that are listed without payment terms, whose prices only their challenges state: 1."
    ]
    assert [catalog["format"] for catalog in answer["catalogs"]] == ["resource_list", None, "bazaar", "openapi"]
    assert [catalog["itemCount"] for catalog in answer["catalogs"]] == [3, 0, 1, 2]


def test_contradictory_terms_are_reported() -> None:
    """The challenge counts before a catalog, and a catalog before the next."""
    answers = {
        f"GET {SITE}/a": challenge("5000"),
        f"GET {SITE}/bazaar.json": page({"items": [{"resource": f"{SITE}/a", "accepts": [{**OFFER, "amount": "1"}]}]}),
        f"GET {SITE}/.well-known/x402": page(
            {"resources": [{"url": "/a", "accepts": [{**OFFER, "payTo": "0xOther"}]}]}
        ),
    }
    answer, _ = report(answers, f"{SITE}/a")
    assert calls(answer) == [("/a", "GET", "challenge", 0.005)]
    assert answer["warnings"] == [
        f"Calls with contradictory terms in different places, of which the first are reported: 1 (GET {SITE}/a)."
    ]


def test_other_spellings_of_the_same_terms_are_no_contradiction() -> None:
    """Version 1 and version 2, upper and lower case."""
    offer = {**OFFER, "network": "base", "asset": USDC.lower(), "payTo": "0XPAYEE", "maxAmountRequired": "5000"}
    del offer["amount"]
    answers = {
        f"GET {SITE}/a": challenge(),
        f"GET {SITE}/bazaar.json": page({"items": [{"resource": f"{SITE}/a", "accepts": [offer]}]}),
    }
    assert report(answers, f"{SITE}/a")[0]["warnings"] == []


def test_cross_origin_calls_are_marked() -> None:
    """Another scheme, port or host is another origin."""
    urls = [
        f"{SITE}/a",
        "http://shop.example.com/a",
        f"{SITE}:8443/a",
        "https://evil.example.net/a",
        "http://127.0.0.1/a",
    ]
    answer, site = report({f"GET {SITE}/.well-known/x402": page({"version": 1, "resources": urls})})
    assert [(call["url"], call["crossOrigin"]) for call in answer["endpoints"]] == [
        (url, url != urls[0]) for url in urls
    ]
    assert "Calls at other origins than the target, which may be somebody else's: 4." in answer["warnings"]
    assert all("evil" not in asked and "127.0.0.1" not in asked for asked in site.asked)


def test_links_of_the_page_are_followed_on_its_own_site() -> None:
    """Links are called after the well-known addresses. Links to other sites are only reported."""
    html = """<link rel=x402 href="https://api.example.com/catalog"><meta name=x402 content="/pay.json">
    <a href="/bazaar.json">b</a><a href="https://shop.example.org/bazaar.json">o</a>
    <a href="http://10.0.0.7/bazaar.json">i</a><a href="https://intranet/bazaar.json">i</a>"""
    answers = {
        f"GET {SITE}/": page(html),
        "GET https://api.example.com/catalog": page({"resources": [{"url": "/x", "accepts": [OFFER]}]}),
        f"GET {SITE}/pay.json": challenge(),
    }
    answer, site = report(answers)
    assert site.asked[5:] == ["GET https://api.example.com/catalog", f"GET {SITE}/pay.json"]
    assert calls(answer) == [
        ("https://api.example.com/x", None, "html_link", 0.005),
        ("/pay.json", "GET", "html_link", 0.005),
    ]
    assert [catalog["format"] for catalog in answer["catalogs"]][-2:] == ["manifest", "challenge"]
    assert sum("another site, which is not called: shop.example.org" in text for text in answer["warnings"]) == 1
    assert sum("A link of the page is not called" in text for text in answer["warnings"]) == 2
    assert len(answer["hints"]) == 6


def test_no_more_than_eight_requests_are_made() -> None:
    """Whatever a page links to, and whatever redirects."""
    html = "".join(f"<link rel=x402 href=/catalog/{number}>" for number in range(40))
    answer, site = report({f"GET {SITE}/": page(html)})
    assert len(site.asked) == MAX_REQUESTS
    assert any("few requests" in text for text in answer["warnings"])
    hops = {f"GET {SITE}/{number}": page("", 302, location=f"/{number + 1}") for number in range(5)}
    answer, site = report({**hops, f"GET {SITE}/5": page(html)}, f"{SITE}/0")
    assert len(site.asked) == MAX_REQUESTS
    assert answer["finalUrl"] == f"{SITE}/5"


def test_the_report_is_about_where_the_target_is_in_the_end() -> None:
    """The report is about the final origin after redirects."""
    answers = {
        "GET http://example.com/": page("", 301, location="https://www.example.com/"),
        "GET https://www.example.com/": page("", 302, location="https://www.example.org/home"),
        "GET https://www.example.org/home": page("<p>"),
    }
    answer, site = report(answers, "http://example.com/")
    assert (answer["target"], answer["finalUrl"]) == ("http://example.com/", "https://www.example.org/home")
    assert answer["origin"] == "https://www.example.org"
    assert site.asked[3] == "GET https://www.example.org/.well-known/x402"


def test_catalogs_do_not_lead_to_other_sites() -> None:
    """A redirect within the site is followed, and no other."""
    answers = {
        f"GET {SITE}/.well-known/x402": page("", 302, location="https://api.example.com/x402"),
        "GET https://api.example.com/x402": page({"version": 1, "resources": ["/x"]}),
        f"GET {SITE}/bazaar.json": page("", 302, location="https://evil.example.org/bazaar.json"),
        f"GET {SITE}/openapi.json": page("", 302, location="http://127.0.0.1/openapi.json"),
        f"GET {SITE}/.well-known/x402.json": page("", 302, location="file:///etc/passwd"),
    }
    answer, site = report(answers)
    assert calls(answer) == [("https://api.example.com/x", None, "well_known", None)]
    errors = {catalog["url"].removeprefix(SITE): catalog["error"] for catalog in answer["catalogs"]}
    assert errors == {
        "/.well-known/x402": None,
        "/.well-known/x402.json": "bad_content",
        "/bazaar.json": "other_site",
        "/openapi.json": "blocked_address",
    }
    assert not any("evil" in asked or "127.0.0.1" in asked for asked in site.asked)


def test_a_site_that_sends_everybody_home() -> None:
    """A page that was read is not read again after a redirect."""
    home = page("", 302, location="/")
    catalog = page({"x402Version": 1, "resources": ["/x"]})
    answers = {f"GET {SITE}{path}": home for path in PLACES} | {f"GET {SITE}/": catalog}
    answer, _ = report(answers)
    assert len(answer["endpoints"]) == 1
    assert not any("could not be read" in text for text in answer["warnings"])


@each(
    ("path", "document", "source", "shape"),
    [
        ("/.well-known/x402", {"version": 1, "resources": ["/a"]}, "well_known", "resource_list"),
        ("/openapi.json", {"openapi": "3.0.0", "paths": {"/a": {"get": {"x-price": "$1"}}}}, "openapi", "openapi"),
        ("/any", {"x402Version": 2, "items": [{"resource": "/a", "accepts": [OFFER]}]}, "bazaar", "bazaar"),
        ("/any", {"x402Version": 2, "endpoints": [{"path": "/a", "price": "$1"}]}, "well_known", "manifest"),
    ],
)
def test_the_target_may_be_a_catalog(path: str, document: Any, source: str, shape: str) -> None:
    """It is read as one, and asked for once."""
    answer, site = report({f"GET {SITE}{path}": page(document)}, SITE + path)
    assert [call[2] for call in calls(answer)] == [source]
    assert answer["catalogs"][0] == {"url": SITE + path, "status": 200, "format": shape, "itemCount": 1, "error": None}
    assert site.asked.count(f"GET {SITE}{path}") == 1


def test_the_target_may_be_any_json() -> None:
    """A shop's prices are not x402's."""
    answer, _ = report({f"GET {SITE}/p": page([{"url": "/shirt", "price": 20}])}, f"{SITE}/p")
    assert (answer["endpoints"], answer["catalogs"][0]["url"]) == ([], SITE + PLACES[0])


def test_catalogs_that_cannot_be_read_are_told() -> None:
    """One broken place does not spoil the report."""
    answers = {
        f"GET {SITE}/": challenge(),
        f"GET {SITE}/.well-known/x402": page("<!doctype html><p>our app"),
        f"GET {SITE}/.well-known/x402.json": page(b'{"resources": ['),
        f"GET {SITE}/bazaar.json": UpstreamFailed("too slow", reason="timeout"),
        f"GET {SITE}/openapi.json": page("", 503),
    }
    answer, _ = report(answers)
    assert len(answer["endpoints"]) == 1
    assert [(catalog["status"], catalog["error"]) for catalog in answer["catalogs"]] == [
        (200, "bad_content"),
        (200, "bad_content"),
        (None, "timeout"),
        (503, "http_status"),
    ]
    assert [text.removeprefix(SITE) for text in answer["warnings"]] == [
        "/.well-known/x402 could not be read: bad_content.",
        "/.well-known/x402.json could not be read: bad_content.",
        "/bazaar.json could not be read: timeout.",
        "/openapi.json answered 503.",
    ]


def test_a_catalog_behind_a_paywall() -> None:
    """It is a paid call itself."""
    answer, _ = report({f"GET {SITE}/bazaar.json": challenge()})
    assert calls(answer) == [("/bazaar.json", "GET", "bazaar", 0.005)]


def test_a_target_that_fails_while_its_catalogs_answer() -> None:
    """The report says what the catalogs say."""
    answers: dict[str, Answer] = {
        f"GET {SITE}/": UpstreamFailed("It took too long.", reason="timeout"),
        f"GET {SITE}/bazaar.json": page({"items": [{"resource": "/a", "accepts": [OFFER]}]}),
    }
    answer, _ = report(answers)
    assert (answer["status"], answer["challenge"], len(answer["endpoints"])) == (None, None, 1)
    assert answer["warnings"][0] == "The target could not be read: timeout. It took too long."


def test_a_target_that_is_too_large_is_there() -> None:
    """It answered, even if nothing else does."""
    answers: dict[str, Answer] = {f"GET {SITE}{path}": UpstreamFailed("no", reason="timeout") for path in PLACES}
    answer, _ = report({**answers, f"GET {SITE}/": UpstreamFailed("big", reason="too_large")})
    assert (answer["status"], answer["endpoints"]) == (None, [])


@each("reason", ["timeout", "connection_refused", "bad_content", "dns_failure", "tls_failure"])
def test_nothing_that_answers_is_a_failure(reason: str) -> None:
    """502 with the target's reason, which is documented; when its name or its certificate is the reason, at once."""
    answers: dict[str, Answer] = {f"GET {SITE}{path}": UpstreamFailed("no", reason="timeout") for path in PLACES}
    site = Site({**answers, f"GET {SITE}/": UpstreamFailed("no", reason=reason)})
    with pytest.raises(UpstreamFailed) as caught:
        run(Request(url=SITE), Context(payer="0x1", ports=cast(Ports, site)))
    assert caught.value.reason == reason
    assert reason in ENDPOINT.failures
    assert len(site.asked) == (1 if reason in ("dns_failure", "tls_failure") else 5)


@pytest.mark.parametrize(
    "answer", [BlockedAddress("not public"), page("", 302, location="http://169.254.169.254/latest/meta-data")]
)
def test_a_target_that_leads_into_a_private_network(answer: Answer) -> None:
    """By its name or by a redirect."""
    site = Site({f"GET {SITE}/": answer})
    with pytest.raises(BlockedAddress):
        run(Request(url=SITE), Context(payer="0x1", ports=cast(Ports, site)))
    assert site.asked == [f"GET {SITE}/"]


def test_a_target_that_redirects_for_ever() -> None:
    """Nothing is reported of it."""
    site = Site({f"GET {SITE}/": page("", 302, location="/")})
    with pytest.raises(UpstreamFailed) as caught:
        run(Request(url=SITE), Context(payer="0x1", ports=cast(Ports, site)))
    assert caught.value.reason == "bad_content"
    assert len(site.asked) <= MAX_REQUESTS


@pytest.mark.parametrize(("limit", "shown", "truncated"), [(1, 1, True), (100, 100, True), (500, 250, False)])
def test_limit(limit: int, shown: int, truncated: bool) -> None:
    """All calls are counted, and as many as asked for are returned."""
    document = {"version": 1, "resources": [f"/{number}" for number in range(250)]}
    answer, _ = report({f"GET {SITE}/.well-known/x402": page(document)}, limit=limit)
    assert (len(answer["endpoints"]), answer["endpointCount"], answer["truncated"]) == (shown, 250, truncated)


def test_ten_thousand_items() -> None:
    """A hundred are shown of ten thousand."""
    items = [{"resource": f"/{number}", "accepts": [{"payTo": "p", "amount": "1"}]} for number in range(10_000)]
    answer, _ = report({f"GET {SITE}/bazaar.json": page({"x402Version": 2, "items": items})})
    assert (len(answer["endpoints"]), answer["endpointCount"], answer["truncated"]) == (100, 10_000, True)


def test_an_answer_has_no_more_than_a_megabyte() -> None:
    """Long addresses and ten offers for each call."""
    offers = [{**OFFER, "payTo": f"{number}" * 128, "scheme": "x" * 128} for number in range(10)]
    document = {"accepts": offers, "resources": ["/" + f"{number:04}" * 400 for number in range(500)]}
    answer, _ = report({f"GET {SITE}/.well-known/x402": page(document)}, limit=500)
    assert (answer["endpointCount"], answer["truncated"]) == (500, True)
    assert 100 < len(answer["endpoints"]) < 500
    assert len(json.dumps(answer)) < 1_300_000


def test_a_document_that_takes_too_much_to_read() -> None:
    """The calculation is ended, and the report says so."""

    class Heavy(Site):
        def run(self, name: str, argument: bytes, *, limit_s: float, deadline: float | None = None) -> bytes:
            raise UpstreamFailed("What came back takes too much to read.", reason="bad_content")

    result = run(Request(url=SITE), Context(payer="0x1", ports=cast(Ports, Heavy({}))))
    assert result.endpoints == []
    assert all(catalog.error == "bad_content" for catalog in result.catalogs)


@each(
    ("url", "code"),
    [
        ("", "invalid_url"),
        ("shop.example.com", "invalid_url"),
        ("ftp://shop.example.com/", "invalid_url"),
        ("http://u:p@shop.example.com/", "invalid_url"),
        ("http://127.0.0.1/", "blocked_address"),
        ("http://2130706433/", "blocked_address"),
        ("http://[::1]/", "blocked_address"),
        ("http://localhost/", "blocked_address"),
        ("http://shop.internal/", "blocked_address"),
        ("http://shop.example.com:22/", "blocked_address"),
        ("http://shop.example.com\\@127.0.0.1/", "invalid_url"),
    ],
)
def test_urls_that_are_refused(url: str, code: str) -> None:
    """Before the payment."""
    refused = refusal(url=url)
    assert (refused.field, refused.code) == ("url", code)


@each("fields", [{}, {"url": 5}, {"url": "x" * 2049}, *({"url": SITE, "limit": n} for n in (0, 501, "5"))])
def test_other_wrong_fields(fields: dict[str, Any]) -> None:
    """Types and bounds."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(json.dumps(fields).encode(), type=Request)


def test_the_api_process_stays_light() -> None:
    """Neither an HTML parser nor the suffix list is loaded by the declaration."""
    code = (
        "import sys, jobs.x402_discover.endpoint, jobs.calculations;"
        "print([m for m in ('lxml', 'tldextract') if m in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, cwd=Path(__file__).parents[3]
    )
    assert printed.stdout.strip() == b"[]"
