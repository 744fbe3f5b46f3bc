"""What the pages say: every listed call and no other, in HTML and Markdown, escaped, small, and for whoever asks."""

import ast
import base64
import dataclasses
import hashlib
import json
import re
import secrets
import shlex
import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest
from litestar import Litestar
from lxml import html

from api.accept import prefers
from api.app import create_app
from api.body import PEEK_BYTES
from api.errors import ERROR_KINDS, Problem
from api.pages import free_work
from api.pages.check import MOST_BYTES
from api.pages.errors import EXPLANATIONS
from api.pages.renderer import PageRenderer
from api.payment.binding import Binder
from api.payment.gate import PaymentGate
from api.payment.rails import configured_rails
from jobs.catalogue import BY_NAME, CATALOGUE
from jobs.reasons import REASONS
from jobs.x402_discover.document import Source
from jobs.x402_discover.reading import read
from shared.endpoint import Endpoint
from shared.pools import POOLS
from shared.settings.rails import EvmRailSettings, StellarRailSettings, XrplRailSettings
from shared.settings.service import Settings
from tests.contract.endpoints import ENDPOINTS
from tests.each import each

pytestmark = pytest.mark.anyio

LISTED = [row.name for row in ENDPOINTS if row.listed]
UNLISTED = [row.name for row in ENDPOINTS if not row.listed]
MAX_WEIGHT = 150_000
NOWHERE = "http://127.0.0.1:9"
RAILS = {"base", "stellar", "xrpl-usdc", "xrpl-rlusd"}
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """All rails that need no word from their facilitator, and a contact. Pages ask neither Redis nor a node."""
    key = tmp_path_factory.mktemp("pages") / "key"
    key.write_text(secrets.token_hex(32))
    return Settings(
        base_url="http://shop.test",
        key_file=key,
        contact="mailto:shop@example.com",
        contact_expires="2027-06-30",
        evm=EvmRailSettings(pay_to="0x" + "11" * 20),
        stellar=StellarRailSettings(pay_to="GDNRATSVKQ6OKGSXT2HX22IABNH4Y3VPXI4ZNU3CMPSRF4AEGT7GEC7Y"),
        xrpl=XrplRailSettings(pay_to="rpMagkbGi6iiuRpbiFph2W9WiVdKug5oLa", read_urls=(NOWHERE,)),
        rpc_ethereum_urls=(NOWHERE,),
        rpc_base_urls=(NOWHERE,),
    )


@pytest.fixture(scope="module")
def app(settings: Settings) -> Litestar:
    """The API, which is never started."""
    return create_app(settings)


def client_of(app: Litestar) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app)  # type: ignore[arg-type]
    return httpx.AsyncClient(transport=transport, base_url="http://shop.test")


@pytest.fixture
async def shop(app: Litestar) -> AsyncIterator[httpx.AsyncClient]:
    """A client of it."""
    async with client_of(app) as client:
        yield client


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Free work may take all of the time."""
    monkeypatch.setattr(free_work, "SHARE", 1.0)


@pytest.fixture
def gates(settings: Settings) -> list[PaymentGate]:
    """Of every endpoint."""
    rails = configured_rails(settings)
    return [PaymentGate(endpoint, rails, settings.base_url, Binder(b"k" * 32)) for endpoint in CATALOGUE]


def shown(page: httpx.Response) -> Any:
    """The page as a tree, with what is hidden removed."""
    tree = html.fromstring(page.text)
    for hidden in tree.xpath("//*[@hidden]"):
        hidden.getparent().remove(hidden)
    return tree


def names(page: httpx.Response) -> list[str]:
    """The calls that a catalogue page shows, in order."""
    return [link.text for link in shown(page).cssselect(".rows h3 a")]


async def test_every_listed_call_is_in_the_catalogue_with_its_price_and_rails(shop: httpx.AsyncClient) -> None:
    """28 of 29: the price of the literal table, and a badge for each of its rails."""
    page = await shop.get("/bazaar")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    rows = {row.cssselect("h3 a")[0].text: row for row in shown(page).cssselect(".rows > li")}
    assert set(rows) == set(LISTED)
    for declared in ENDPOINTS:
        if declared.listed:
            row = rows[declared.name]
            assert row.cssselect(".cost strong")[0].text == f"${declared.price}"
            badges = [badge.text for badge in row.cssselect(".badges li")]
            assert len(badges) == len(RAILS.intersection(declared.rails))
            assert row.cssselect("p")[0].text
            assert row.cssselect("h3 a")[0].get("href") == f"/bazaar/{declared.name}"


@pytest.mark.parametrize("accept", [BROWSER, "text/markdown"])
async def test_what_is_not_listed_is_nowhere(shop: httpx.AsyncClient, accept: str) -> None:
    """No page, and no mention on any other or in any document."""
    (name,) = UNLISTED
    assert (await shop.get(f"/bazaar/{name}")).status_code == 404
    documents = ["/llms.txt", "/.well-known/api-catalog", "/sitemap.xml", "/robots.txt"]
    for path in ["/", "/bazaar", *(f"/bazaar/{one}" for one in LISTED), *documents]:
        page = await shop.get(path, headers={"Accept": accept})
        assert page.status_code == 200
        assert "erc1155-balance" not in page.text


@each("declared", [one for one in CATALOGUE if one.listed])
async def test_a_page_says_all_that_a_buyer_needs(shop: httpx.AsyncClient, declared: Endpoint) -> None:
    """Summary, price, every field of both schemas, both examples, every reason, and the live offers."""
    page = await shop.get(f"/bazaar/{declared.name}")
    tree = shown(page)
    text = " ".join(tree.text_content().split())
    assert tree.cssselect("h1")[0].text == declared.name
    assert " ".join(declared.summary.split()) in text
    assert f"${declared.price.text()} per call" in text
    assert POOLS[declared.pool].latency in text
    for part, example, struct in (
        ("request", declared.example.request, declared.request),
        ("answer", declared.example.response, declared.response),
    ):
        section = tree.get_element_by_id(part).getparent()
        assert json.loads(section.cssselect("pre")[0].text) == example
        fields = {cell.text for cell in section.cssselect(".fields td:first-child code")}
        assert {field.encode_name for field in msgspec.structs.fields(struct)} <= fields
    assert [cell.text for cell in tree.cssselect(".reasons td code")] == list(declared.failures)
    challenge = (await shop.post(declared.path)).json()
    offers = [[value.text_content() for value in offer.cssselect("dd")] for offer in tree.cssselect(".offers > li")]
    assert len(offers) == len(challenge["accepts"])
    for offer, values in zip(challenge["accepts"], offers, strict=True):
        assert [offer["network"], offer["payTo"], offer["asset"]] == values[:3]
        assert f'amount: "{offer["amount"]}"' in values[-1]


@pytest.mark.usefixtures("unlimited")
@each("declared", [one for one in CATALOGUE if one.listed])
async def test_a_body_is_checked_for_free(shop: httpx.AsyncClient, declared: Endpoint) -> None:
    """The form on a page has the example, which would be taken; the answer has the 402 of now, and the command that pays.

    This API was never started, and no test here may open a socket: nothing is asked, queued or kept.
    """
    (form,) = shown(await shop.get(f"/bazaar/{declared.name}")).cssselect("form.check")
    assert (form.get("action"), form.get("method")) == (f"/bazaar/{declared.name}", "post")
    body = form.cssselect("textarea")[0].text
    page = await shop.post(form.get("action"), data={"body": body}, headers={"Accept": BROWSER})
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    tree = shown(page)
    assert tree.get_element_by_id("verdict").text == "This body would be taken"
    command, said = (pre.text for pre in tree.cssselect("pre"))
    challenge, live = json.loads(said), (await shop.post(declared.path)).json()
    assert json.loads(shlex.split(command.replace("\\\n", " "))[3]) == declared.example.request
    assert {**challenge, "accepts": []} == {**live, "accepts": []}
    offers = [[value.text_content() for value in offer.cssselect("dd")] for offer in tree.cssselect(".offers > li")]
    for offer, now, values in zip(challenge["accepts"], live["accepts"], offers, strict=True):
        assert {**offer, "extra": {}} == {**now, "extra": {}}
        assert [offer["network"], offer["payTo"], offer["asset"]] == values[:3]
        assert f'amount: "{offer["amount"]}", valid for {offer["maxTimeoutSeconds"]} s' == values[-1]


@pytest.mark.usefixtures("unlimited")
async def test_a_checked_body_is_shown_as_text(shop: httpx.AsyncClient) -> None:
    """Whatever it is: it comes back in the field, and no part of it is markup, in an error or a command."""
    for hostile in (
        "</textarea><script>alert(1)</script>",
        '{"message": "\'</pre><img src=x onerror=alert(1)>$(id)`id`{{ 7777*7777 }}"}',
        '{"</code><img src=x>": 1}',
        '{"message": "a", "</code><img src=x>_of_mine": 1}',
        "\n\n {{ 7777*7777 }}\x00\ufffe&amp;",
    ):
        page = await shop.post("/bazaar/echo", data={"body": hostile}, headers={"Accept": BROWSER})
        tree = html.fromstring(page.text)
        assert (page.status_code, len(tree.cssselect("script"))) == (200, 1)
        assert not tree.cssselect("img")
        assert "60481729" not in tree.cssselect("main")[0].text_content()
        if "\x00" not in hostile:
            assert tree.cssselect("textarea")[0].text == "\n" + hostile
    (command,) = re.findall(
        r"    (coinslot call .*?)\n\n", (await checked(shop, '{"message": "\'; id"}')).text, re.DOTALL
    )
    assert shlex.split(command.replace("\\\n", " "))[3] == '{"message": "\'; id"}'


async def checked(shop: httpx.AsyncClient, body: str, path: str = "/bazaar/echo") -> httpx.Response:
    """What is said of a body, as Markdown."""
    return await shop.post(path, data={"body": body}, headers={"Accept": "text/markdown"})


@pytest.mark.usefixtures("unlimited")
async def test_a_check_says_what_is_wrong_and_what_is_ignored(shop: httpx.AsyncClient) -> None:
    """In Markdown, too: the verdict comes first. A browser's ends of lines are no part of the body."""
    page = await checked(shop, '{"message": 5}')
    assert page.headers["content-type"] == "text/markdown; charset=utf-8"
    assert page.text.startswith("# echo: this body would be refused\n\nExpected `string` or `null`, got `integer`.\n")
    assert "400 [invalid_body](http://shop.test/errors/invalid_body), and is not charged" in page.text
    page = await checked(shop, '{"template": {"a": "person.frstName", "b\\n# c": "person.fullName"}}', "/bazaar/faker")
    assert "Nearest: `person.firstName`" in page.text
    page = await checked(shop, '{"message": "a", "trace of\\nmine": 1}')
    assert page.text.startswith("# echo: this body would be taken\n")
    assert "would be ignored: `trace%20of%0Amine`." in page.text
    longest = '{"message":\r\n"a"}' + " " * (MOST_BYTES - len('{"message":\n"a"}'))
    assert "would be taken" in (await checked(shop, longest)).text
    assert "would be taken" in (await checked(shop, "")).text  # echo needs no body


@pytest.mark.usefixtures("unlimited")
async def test_only_a_form_with_a_short_body_is_checked(shop: httpx.AsyncClient) -> None:
    """The longest form of the longest body is read. Else a browser gets a page, everyone else a problem."""

    async def post(content: Any, kind: str = "application/x-www-form-urlencoded", accept: str = "*/*") -> Any:
        return await shop.post("/bazaar/echo", content=content, headers={"Content-Type": kind, "Accept": accept})

    async def chunks() -> AsyncIterator[bytes]:
        yield b"body=%7B%7D"

    escaped = "".join(f"%{byte:02X}" for byte in b" " * MOST_BYTES)
    assert len(f"body={escaped}") <= PEEK_BYTES
    assert (
        await post(f"other=1&body={escaped}", "application/x-www-form-urlencoded; charset=UTF-8")
    ).status_code == 200
    for content, kind, status, code in (
        (f"body={escaped}%20", "application/x-www-form-urlencoded", 413, "too_large"),
        (b"body=" + b"a" * PEEK_BYTES, "application/x-www-form-urlencoded", 413, "too_large"),
        (chunks(), "application/x-www-form-urlencoded", 413, "too_large"),
        (b'{"message": "a"}', "application/json", 415, "unsupported_media_type"),
    ):
        problem = await post(content, kind)
        assert (problem.status_code, problem.json()["code"], problem.json()["charged"]) == (status, code, False)
    page = await post(f"body={escaped}%20", accept=BROWSER)
    assert (page.status_code, page.headers["content-type"]) == (413, "text/html; charset=utf-8")
    assert "at most 16,384 bytes" in shown(page).text_content()
    # What is checked is never too long for the call itself.
    assert all(one.max_body_bytes >= MOST_BYTES for one in CATALOGUE)


@pytest.mark.usefixtures("unlimited")
async def test_the_address_of_a_check_is_that_of_the_page(shop: httpx.AsyncClient) -> None:
    """GET and HEAD get the page. Nothing is kept, by a cache either, and the policy is that of every page."""
    checked_page = await shop.post("/bazaar/echo", data={"body": "{}"})
    for method in ("GET", "HEAD"):
        page = await shop.request(method, "/bazaar/echo")
        assert (page.status_code, page.headers["cache-control"]) == (200, "public, max-age=60")
        for name in ("content-security-policy", "x-content-type-options", "referrer-policy"):
            assert page.headers[name] == checked_page.headers[name]
        assert (page.headers["vary"], checked_page.headers["vary"]) == ("Accept, Accept-Encoding", "Accept")
    assert checked_page.headers["cache-control"] == "no-store"
    assert "form-action 'self'" in checked_page.headers["content-security-policy"]
    wrong = await shop.put("/bazaar/echo")
    assert (wrong.status_code, set(wrong.headers["allow"].split(", "))) == (405, {"GET", "HEAD", "POST", "OPTIONS"})
    for name in (*UNLISTED, "nothing"):
        missing = await shop.post(f"/bazaar/{name}", data={"body": "{}"})
        assert (missing.status_code, missing.json()["code"]) == (404, "not_found")


async def test_checks_take_a_small_share_of_the_time(shop: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who sends more waits, and is refused when that would be long: at the cost of no rendering."""
    monkeypatch.setattr(free_work, "SHARE", 1e-9)
    assert (await checked(shop, "{}")).status_code == 200
    for accept, kind in ((BROWSER, "text/html; charset=utf-8"), ("*/*", "application/problem+json")):
        busy = await shop.post("/bazaar/echo", data={"body": "{}"}, headers={"Accept": accept})
        assert (busy.status_code, busy.headers["content-type"]) == (503, kind)
        assert int(busy.headers["retry-after"]) > free_work.LONGEST_WAIT_S


async def test_a_field_is_described_once_and_shortly(shop: httpx.AsyncClient) -> None:
    """Types within types are found, a bound of 256 bits is no row of digits, hundreds of values are folded, and no text has
    signs of Markdown or says the same twice."""
    rows: dict[tuple[str, str], str] = {}
    for name in LISTED:
        tree = shown(await shop.get(f"/bazaar/{name}"))
        assert not [cell.text_content() for cell in tree.cssselect("td") if "`" in cell.text_content()]
        for cell in tree.cssselect(".fields td:last-child"):
            key = name, cell.getprevious().text_content()
            rows.setdefault(key, " ".join(cell.text_content().split()))
            for meaning in cell.cssselect(".meaning"):
                sentences = re.split(r"(?<=[.]) ", meaning.text_content())
                assert len(sentences) == len(set(sentences)), key
            assert all(len(kind.text) <= 400 for kind in cell.cssselect("span.kind") if kind.text), key
    assert rows["webhook-sig-verify", "timestamp"].startswith("string, integer or null")
    assert rows["faker", "seed"].startswith("integer or null; -(2^256 - 1) to 2^256 - 1")


async def test_an_offer_is_shown_in_whole_units(shop: httpx.AsyncClient) -> None:
    """6 decimals on Base, 7 on Stellar, decimal values on the XRP Ledger."""
    tree = shown(await shop.get("/bazaar/echo"))
    assert [offer.text for offer in tree.cssselect(".offers h3")] == [
        "0.001 USDC on Base",
        "0.001 USDC on Stellar",
        "0.001 USDC on XRP Ledger",
        "0.001 RLUSD on XRP Ledger",
    ]


@each("declared", [one for one in CATALOGUE if one.listed])
async def test_snippets_send_the_example(shop: httpx.AsyncClient, declared: Endpoint) -> None:
    """Each names this installation's address, and its body is exactly the documented one."""
    tree = shown(await shop.get(f"/bazaar/{declared.name}"))
    url, body = f"http://shop.test{declared.path}", declared.example.request
    found = {part.get("id"): part.cssselect("pre")[0].text for part in tree.cssselect("details[id]")}
    has_evm = "base" in declared.rails
    assert list(found) == ["curl", "coinslot", "python", *(["typescript"] if has_evm else [])]
    curl = shlex.split(found["curl"].replace("\\\n", " "))
    assert (curl[curl.index("POST") + 1], json.loads(curl[curl.index("-d") + 1])) == (url, body)
    call = shlex.split(found["coinslot"].replace("\\\n", " "))
    assert (call[:3], json.loads(call[3])) == (["coinslot", "call", declared.name], body)
    assert call[call.index("--max-price") + 1] == declared.price.text()
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(found["python"]).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper()
    }
    assert values == {"URL": url, "BODY": body}
    if has_evm:
        literal = re.search(r"const body = (.*?);\nconst answer", found["typescript"], re.DOTALL)
        assert literal is not None
        assert json.loads(re.sub(r",\n(\s*[}\]])", r"\1", literal[1])) == body
        assert url in found["typescript"]


async def test_markdown_is_the_same_page(shop: httpx.AsyncClient) -> None:
    """For `Accept: text/markdown`, and never for a browser or for nobody in particular."""
    for path in ("/", "/bazaar", "/bazaar/echo", "/bazaar/chain/chain-id"):
        page = await shop.get(path, headers={"Accept": "text/markdown, text/html;q=0.5"})
        assert page.headers["content-type"] == "text/markdown; charset=utf-8"
        assert page.headers["vary"] == "Accept, Accept-Encoding"
        assert page.text.startswith("# ")
        assert "<p" not in page.text
        for accept in (BROWSER, "*/*", "text/html, text/markdown"):
            other = await shop.get(path, headers={"Accept": accept})
            assert other.headers["content-type"] == "text/html; charset=utf-8"
    page = await shop.get("/bazaar", headers={"Accept": "text/markdown"})
    assert re.findall(r"^\| \[(.*?)\]", page.text, re.MULTILINE) == names(await shop.get("/bazaar"))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "transcript"}, ["youtube"]),
        ({"q": "TRANSCRIPT  youtube"}, ["youtube"]),
        ({"q": "transcript echo"}, []),
        ({"category": "security", "q": "certificate"}, ["ssl-info"]),
        ({"category": "utility", "q": "certificate"}, []),
        ({"category": "none-such", "q": "certificate"}, ["ssl-info"]),
        ({"q": "erc1155"}, ["tx-explain"]),
        ({"q": "x" * 5000}, []),
    ],
)
async def test_a_search_needs_no_script(shop: httpx.AsyncClient, query: dict[str, str], found: list[str]) -> None:
    """Every word has to appear; what does not match is hidden."""
    page = await shop.get("/bazaar", params=query)
    shown_names = names(page)
    if query != {"q": "erc1155"}:
        assert shown_names == found
    assert "chain/erc1155-balance" not in shown_names
    status = shown(page).cssselect(".status")[0].text
    assert status == f"{len(shown_names)} {'call' if len(shown_names) == 1 else 'calls'}"
    listed = await shop.get("/bazaar", params=query, headers={"Accept": "text/markdown"})
    assert re.findall(r"^\| \[(.*?)\]", listed.text, re.MULTILINE) == shown_names


async def test_a_category_shows_its_calls(shop: httpx.AsyncClient) -> None:
    """Those of the literal table, with its chip marked."""
    for category in ("utility", "data", "security"):
        page = await shop.get("/bazaar", params={"category": category})
        assert sorted(names(page)) == sorted(row.name for row in ENDPOINTS if row.listed and row.category == category)
        (chip,) = shown(page).cssselect(".chips a[aria-current]")
        assert chip.text == category.capitalize()


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7*7 }}", "\x00&amp;'"]
)
async def test_a_search_is_shown_as_text(shop: httpx.AsyncClient, text: str) -> None:
    """Whatever is looked for comes back as the field's value, and as nothing else."""
    page = await shop.get("/bazaar", params={"q": text, "category": text})
    tree = shown(page)
    assert len(tree.cssselect("script")) == 1
    assert not tree.cssselect("img")
    assert "49" not in tree.cssselect(".search input")[0].get("value")
    assert "<script>alert" not in page.text
    assert 'onerror=alert(1)">' not in page.text.replace("&#34;", "&quot;")


async def test_a_declaration_is_shown_as_text(settings: Settings) -> None:
    """Names, summaries and examples are escaped like everything else."""
    echo = CATALOGUE[0]
    hostile = '<script>alert("x")</script>'
    changed = dataclasses.replace(
        echo, summary=hostile, example=dataclasses.replace(echo.example, request={"message": hostile})
    )
    gate = PaymentGate(changed, configured_rails(settings), settings.base_url, Binder(b"k" * 32))
    pages = PageRenderer([gate], settings.base_url)
    for path in pages.paths:
        assert hostile.encode() not in pages.page(path).body
    tree = html.fromstring(pages.page("/bazaar/echo").body.decode())
    assert tree.cssselect("#curl pre")[0].text.count(json.dumps(hostile)[1:-1]) == 1


async def test_a_page_allows_only_its_own_script(shop: httpx.AsyncClient) -> None:
    """The policy names the hash of the one script, and nothing is loaded from elsewhere."""
    for path in ("/", "/bazaar", "/bazaar/echo", "/nothing-here"):
        page = await shop.get(path, headers={"Accept": BROWSER})
        tree = html.fromstring(page.text)
        (script,) = tree.cssselect("script")
        digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
        policy = page.headers["content-security-policy"]
        assert f"script-src 'sha256-{digest}'" in policy
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert page.headers["x-content-type-options"] == "nosniff"
        assert not tree.xpath("//@style | //style | //@onclick")
        loaded = tree.xpath("//link[@rel='stylesheet' or @rel='icon']/@href | //img/@src | //script/@src")
        assert all(address.startswith("/") and not address.startswith("//") for address in loaded)


async def test_pages_are_light(shop: httpx.AsyncClient) -> None:
    """With its style sheet and icon, each weighs less than 150 KB."""
    tree = html.fromstring((await shop.get("/")).text)
    (style,) = tree.xpath("//link[@rel='stylesheet']/@href")
    sheet = await shop.get(style)
    assert sheet.headers["content-type"] == "text/css; charset=utf-8"
    assert "immutable" in sheet.headers["cache-control"]
    icon = await shop.get("/favicon.ico")
    assert icon.headers["content-type"] == "image/x-icon"
    assert icon.content.startswith(b"\x00\x00\x01\x00")
    assert "@import" not in sheet.text
    assert "url(" not in sheet.text
    for path in ["/", "/bazaar", *(f"/bazaar/{name}" for name in LISTED)]:
        page = await shop.get(path)
        assert len(page.content) + len(sheet.content) + len(icon.content) < MAX_WEIGHT


async def test_all_links_lead_somewhere(shop: httpx.AsyncClient) -> None:
    """Every address on this site that a page names answers, but for what asks Redis."""
    seen: set[str] = set()
    for path in ["/", "/bazaar", "/bazaar/echo", "/bazaar/chain/call"]:
        tree = html.fromstring((await shop.get(path)).text)
        seen |= {address for address in tree.xpath("//a/@href | //link/@href") if address.startswith("/")}
    for address in sorted(seen - {"/readyz", "/status"}):
        assert (await shop.get(address)).status_code == 200, address


async def test_a_missing_page_is_a_page_for_a_browser_alone(shop: httpx.AsyncClient) -> None:
    """Everyone else gets the problem that it always was."""
    page = await shop.get("/nothing-here", headers={"Accept": BROWSER})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is nothing here" in page.text
    assert page.headers["cache-control"] == "no-store"
    for accept in ("*/*", "application/json", "application/json, text/plain, */*", "text/html;q=0.5, application/json"):
        problem = await shop.get("/nothing-here", headers={"Accept": accept})
        assert (problem.status_code, problem.headers["content-type"]) == (404, "application/problem+json")
        assert problem.json()["code"] == "not_found"
    problem = await shop.get("/nothing-here", headers={"Accept": ""})
    assert problem.json()["code"] == "not_found"
    posted = await shop.post("/v1/cdp/nothing-here", headers={"Accept": BROWSER})
    assert (posted.status_code, posted.json()["code"]) == (404, "not_found")
    # Another refusal than 404 stays what it is for a browser, too.
    wrong = await shop.request("DELETE", "/bazaar", headers={"Accept": BROWSER})
    assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")


async def test_an_unpaid_call_is_never_a_page(shop: httpx.AsyncClient) -> None:
    """Even a browser gets the challenge."""
    answer = await shop.post("/v1/cdp/echo", headers={"Accept": BROWSER})
    assert (answer.status_code, answer.headers["content-type"]) == (402, "application/json")


async def test_our_own_discovery_finds_the_shop(shop: httpx.AsyncClient) -> None:
    """The meta element and the link lead x402-discover to the manifest."""
    for path in ("/", "/bazaar", "/bazaar/echo", "/bazaar/chain/chain-id"):
        page = await shop.get(path)
        url = f"http://shop.test{path}"
        hints = read(Source("page", "GET", url, 200, (("content-type", "text/html"),), page.content)).hints
        manifest = "http://shop.test/.well-known/x402"
        assert {(hint.type, hint.url) for hint in hints} >= {("meta", manifest), ("link", manifest)}
        assert ("anchor", "http://shop.test/bazaar.json") in {(hint.type, hint.url) for hint in hints}


async def test_llms_txt_links_every_call(shop: httpx.AsyncClient) -> None:
    """A title, a summary, and the address of each page."""
    text = (await shop.get("/llms.txt")).text
    assert text.startswith("# Coinslot\n\n> ")
    linked = re.findall(r"^- \[(.*?)\]\(http://shop\.test/bazaar/(.*?)\): \$", text, re.MULTILINE)
    assert [name for name, _ in linked] == [name for _, name in linked]
    assert {name for name, _ in linked} == set(LISTED)


async def test_the_api_catalogue_is_a_linkset(shop: httpx.AsyncClient) -> None:
    """RFC 9727: its type and profile, a Link header also on HEAD, every call as an item, and every machine-readable list as
    metadata (RFC 8631, service-meta) that can be fetched."""
    for method in ("GET", "HEAD"):
        answer = await shop.request(method, "/.well-known/api-catalog")
        assert answer.headers["content-type"].startswith("application/linkset+json;")
        assert 'profile="https://www.rfc-editor.org/info/rfc9727"' in answer.headers["content-type"]
        assert 'rel="api-catalog"' in answer.headers["link"]
    own, described = (await shop.get("/.well-known/api-catalog")).json()["linkset"]
    assert {item["href"] for item in own["item"]} == {f"http://shop.test/v1/cdp/{name}" for name in LISTED}
    assert described["service-desc"][0]["href"] == "http://shop.test/openapi.json"
    assert described["anchor"] == "http://shop.test/v1/cdp/"
    lists = ["/.well-known/x402", "/bazaar.json", "/discovery/resources"]
    assert [link["href"] for link in described["service-meta"]] == [f"http://shop.test{path}" for path in lists]
    for link in described["service-meta"]:
        listed = await shop.get(link["href"])
        assert (listed.status_code, listed.headers["content-type"]) == (200, link["type"])


async def test_security_txt_names_the_contact(shop: httpx.AsyncClient) -> None:
    """RFC 9116, from the settings."""
    answer = await shop.get("/.well-known/security.txt")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in answer.text.splitlines())
    assert fields["Contact"] == "mailto:shop@example.com"
    assert fields["Expires"] == "2027-06-30T00:00:00Z"
    assert fields["Canonical"] == "http://shop.test/.well-known/security.txt"


@pytest.mark.parametrize("missing", ["contact", "contact_expires"])
async def test_without_a_contact_there_is_no_security_txt(settings: Settings, missing: str) -> None:
    """A file without either field is not valid."""
    app = create_app(dataclasses.replace(settings, **{missing: ""}))
    async with client_of(app) as client:
        assert (await client.get("/.well-known/security.txt")).status_code == 404


async def test_crawlers_find_the_pages(shop: httpx.AsyncClient) -> None:
    """robots.txt names the sitemap, and that every page; each is its own canonical address."""
    assert "Sitemap: http://shop.test/sitemap.xml\n" in (await shop.get("/robots.txt")).text
    tree = ET.fromstring((await shop.get("/sitemap.xml")).content)
    found = [place.text or "" for place in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    pages = ["/", "/bazaar", *(f"/bazaar/{name}" for name in LISTED)]
    assert sorted(found) == sorted(f"http://shop.test{path}" for path in pages)
    for address in found:
        page = html.fromstring((await shop.get(address)).text)
        assert page.xpath("//link[@rel='canonical']/@href") == [address]


async def test_a_prefix_of_the_address_is_in_every_link(settings: Settings) -> None:
    """Behind a proxy that serves the shop below a path."""
    app = create_app(dataclasses.replace(settings, base_url="https://host.test/shop"))
    async with client_of(app) as client:
        for path in ("/", "/bazaar", "/bazaar/echo"):
            tree = html.fromstring((await client.get(path)).text)
            inside = [address for address in tree.xpath("//a/@href | //link/@href") if not address.startswith("#")]
            assert all(address.startswith(("/shop", "https://host.test/shop")) for address in inside)


def test_a_shop_that_lists_nothing_has_pages(gates: list[PaymentGate]) -> None:
    """They say so."""
    pages = PageRenderer([gate for gate in gates if not gate.endpoint.listed], "http://shop.test")
    assert pages.paths == ("/", "/bazaar")
    assert b"0 calls" in pages.page("/").body
    assert b"0 calls" in pages.page("/bazaar").body


def test_a_page_is_rendered_again_only_when_its_offers_change(gates: list[PaymentGate]) -> None:
    """The same bytes until a rail goes down; then the pages without it, and again when it is back."""
    pages = PageRenderer(gates, "http://shop.test")
    first = {path: pages.page(path) for path in pages.paths}
    assert all(pages.page(path) is page for path, page in first.items())
    health = next(gates[0].rail_of(offer).health for offer in gates[0].offered if offer.network == "stellar:pubnet")
    health.hold(is_held=True)
    assert b"USDC on Stellar" not in pages.page("/bazaar/echo").body
    assert b"USDC on Stellar" not in pages.page("/bazaar").body
    assert b"USDC on Stellar" not in pages.found("echo", "")
    assert pages.page("/bazaar/xrpl-wallet-watch") is first["/bazaar/xrpl-wallet-watch"]  # it is not sold there
    health.hold(is_held=False)
    assert {path: pages.page(path).body for path in pages.paths} == {path: page.body for path, page in first.items()}


def test_every_reason_has_words() -> None:
    """So that a new one cannot be forgotten."""
    assert set(REASONS) == {reason for endpoint in CATALOGUE for reason in endpoint.failures}


@each(
    ("accept", "is_preferred"),
    [
        ("text/html", True),
        (BROWSER, True),
        ("TEXT/HTML;level=1;q=0.3", True),
        ("application/json;q=0.2, text/html;q=0.2", True),
        ("application/json, text/html;q=0.9", False),
        ("*/*", False),
        ("text/*", False),
        ("text/html;q=0", False),
        ("text/html;q=nan", False),
        ("text/html;q=2", False),
        ("text/html;q=x", False),
        ("", False),
        (";;;,,,", False),
    ],
)
def test_what_a_request_prefers(accept: str, is_preferred: bool) -> None:
    """A type has to be named, and a wildcard names none."""
    assert prefers(accept, "text/html", "application/json") is is_preferred


def test_every_error_code_is_explained() -> None:
    """So that a new one cannot be forgotten."""
    assert set(EXPLANATIONS) == set(ERROR_KINDS)


@each("code", ERROR_KINDS)
async def test_the_type_of_a_problem_explains_it(shop: httpx.AsyncClient, code: str) -> None:
    """As a page, as Markdown and as JSON, at the address that the problem names."""
    address = json.loads(Problem(code=code, detail="-").body(instance="/", request_id="1", base_url="http://shop.test"))
    kind, explained = ERROR_KINDS[code], EXPLANATIONS[code]
    page = await shop.get(address["type"], headers={"Accept": BROWSER})
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    tree = html.fromstring(page.text)
    assert tree.cssselect("h1")[0].text == code
    assert tree.xpath("//link[@rel='canonical']/@href") == [address["type"]]
    markdown = await shop.get(address["type"], headers={"Accept": "text/markdown"})
    assert (markdown.status_code, markdown.text.splitlines()[0]) == (200, f"# {code}")
    assert explained.next in markdown.text
    for accept in ("application/json", "application/problem+json"):
        said = (await shop.get(address["type"], headers={"Accept": accept})).json()
        assert (said["code"], said["status"], said["retryable"]) == (code, kind.status, kind.retryable)
        assert (said["meaning"], said["type"]) == (explained.meaning, address["type"])
    assert said["reasons"] == (REASONS if code == "upstream_failed" else said["reasons"])


async def test_the_list_of_errors_leads_to_each(shop: httpx.AsyncClient) -> None:
    """In all three forms."""
    page = html.fromstring((await shop.get("/errors")).text)
    assert {f"/errors/{code}" for code in ERROR_KINDS} <= set(page.xpath("//a/@href"))
    markdown = (await shop.get("/errors", headers={"Accept": "text/markdown"})).text
    listed = (await shop.get("/errors", headers={"Accept": "application/json"})).json()["errors"]
    assert {error["code"] for error in listed} == set(ERROR_KINDS)
    assert all(f"]({error['type']})" in markdown for error in listed)
    assert (await shop.get("/errors/no_such_code", headers={"Accept": "application/json"})).status_code == 404


async def test_a_problems_type_is_an_address_of_this_installation(shop: httpx.AsyncClient) -> None:
    """Of a paid path as of a free one."""
    for method, path, code in (("PUT", "/v1/cdp/echo", "method_not_allowed"), ("GET", "/nothing", "not_found")):
        problem = (await shop.request(method, path)).json()
        assert (problem["code"], problem["type"]) == (code, f"http://shop.test/errors/{code}")
        assert (await shop.get(problem["type"])).status_code == 200


async def test_what_callers_read_points_to_nothing_that_they_cannot_open(shop: httpx.AsyncClient) -> None:
    """No file of this repository: neither in the documents nor in a refusal."""
    for path in ("/openapi.json", "/bazaar.json", "/llms.txt", "/errors"):
        assert not re.search(r"\bdocs/|\w\.(?:py|md)\b", (await shop.get(path)).text), path
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert({"template": {"a": "no.method"}}, BY_NAME["faker"].request)
    assert "docs/" not in str(refused.value)
