"""The pages in a real browser: wide and narrow, light and dark, with keyboard and without script."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Response, expect

pytestmark = pytest.mark.timeout(300)  # the first run fetches axe-core

PAGES = ["/", "/bazaar", "/bazaar/json-repair", "/bazaar/chain/erc20-balance", "/errors", "/status", "/nothing-here"]
LOOKS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
MAX_WEIGHT = 150_000
FOCUSED = """() => {
    const style = getComputedStyle(document.activeElement);
    const box = document.activeElement.getBoundingClientRect();
    const [top, left] = [box.top + innerHeight > 0, box.left >= 0];
    return {name: document.activeElement.textContent.trim() || document.activeElement.name,
            isVisible: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && top && left};
}"""

Visit = Callable[..., BrowserContext]


def shown(page: Page) -> list[str]:
    """The calls that the catalogue shows."""
    return page.locator(".rows h3:visible").all_inner_texts()


def violations(page: Page, tools: Path) -> list[tuple[str, list[str]]]:
    """The rules of axe-core that the page breaks, and where."""
    page.evaluate((tools / "axe-core" / "axe.min.js").read_text())
    found = page.evaluate("axe.run()")
    assert found["passes"]
    return [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found["violations"]]


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_pages_fit_and_are_light(visit: Visit, width: int, scheme: str) -> None:
    """Nothing is wider than the screen, each has one main heading, and all that it loads is under 150 KB."""
    loaded: list[Response] = []
    for path in PAGES:
        page = visit(width, color_scheme=scheme).new_page()
        loaded.clear()
        page.on("response", lambda response: loaded.append(response))
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") == width, path
        assert page.locator("h1").count() == 1
        assert 0 < sum(len(response.body()) for response in loaded) < MAX_WEIGHT
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(14, 17, 22)") == (scheme == "dark")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing(visit: Visit, tools: Path, path: str, width: int, scheme: str) -> None:
    """All rules of axe-core, best practices too, with every program of the page open."""
    page = visit(width, color_scheme=scheme).new_page()
    page.goto(path)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert violations(page, tools) == []


def test_the_search_follows_the_typing(visit: Visit) -> None:
    """Rows, count, chips and the address change at once; the address opens the same list."""
    context = visit()
    page = context.new_page()
    page.goto("/bazaar")
    total = len(shown(page))
    field = page.get_by_role("searchbox", name="Search the calls")
    field.press_sequentially("Token balance")
    expect(page.get_by_role("status")).to_have_text("1 call")
    assert shown(page) == ["chain/erc20-balance"]
    assert page.locator(".section:visible").count() == 1
    assert page.url.endswith("/bazaar?q=Token+balance")
    page.get_by_role("link", name="Security").click()
    expect(page.locator(".none")).to_be_visible()
    field.fill("")
    page.get_by_role("link", name="All", exact=True).click()
    expect(page.get_by_role("status")).to_have_text(f"{total} calls")
    assert page.url.endswith("/bazaar")
    page.goto("/bazaar?q=token+balance&category=data")
    assert shown(page) == ["chain/erc20-balance"]
    field.fill("certificate")
    expect(page.locator(".none")).to_be_visible()
    page.get_by_role("link", name="Security").click()
    assert shown(page) == ["ssl-info"]


def test_the_search_works_without_script(visit: Visit) -> None:
    """The field is a form, and a chip is a link that keeps the words."""
    page = visit(java_script_enabled=False).new_page()
    page.goto("/bazaar")
    page.get_by_role("searchbox").fill("certificate")
    page.get_by_role("searchbox").press("Enter")
    page.wait_for_url("**/bazaar?q=certificate")
    assert shown(page) == ["ssl-info"]
    page.get_by_role("link", name="Utility").click()
    page.wait_for_url("**category=utility")
    assert shown(page) == []
    page.get_by_role("link", name="Show all calls").click()
    assert len(shown(page)) > 20
    page.goto("/bazaar/echo")
    page.locator("summary", has_text="Python").click()
    expect(page.locator("#python pre")).to_be_visible()
    assert page.locator(".copy").count() == 0


@pytest.mark.parametrize(
    ("width", "scheme", "script"), [(1280, "light", True), (390, "dark", True), (390, "light", False)]
)
def test_a_body_is_checked(visit: Visit, tools: Path, width: int, scheme: str, script: bool) -> None:
    """The page's example would be taken, and a slip is named. What was written is there to be corrected. It needs no script,
    and axe-core, which does, finds nothing."""
    page = visit(width, color_scheme=scheme, java_script_enabled=script).new_page()
    page.goto("/bazaar/json-repair")
    field = page.get_by_label("Request body, JSON")
    example = field.input_value()
    for body, verdict, says in (
        (example, "This body would be taken", "--max-price 0.005"),
        ('\n{"malfromed": "</textarea>é"}', "This body would be refused", "did you mean malformed?"),
    ):
        field.fill(body)
        page.get_by_role("button", name="Check for free").click()
        expect(page.get_by_role("heading", level=2).first).to_have_text(verdict)
        assert says in page.locator("main").inner_text()
        assert field.input_value() == body
        assert page.locator(".offers > li").count() == 5
        assert page.evaluate("document.documentElement.scrollWidth") == width
        if script:
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            assert violations(page, tools) == []


def test_the_copy_button_copies_the_program(visit: Visit) -> None:
    """Exactly what the page shows is on the clipboard, and the button says so."""
    context = visit(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto("/bazaar/echo")
    page.locator("summary", has_text="Python").click()
    page.get_by_role("button", name="Copy: Python").click()
    expect(page.get_by_role("button", name="Copied: Python")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#python pre").text_content()


def test_the_copy_button_works_where_a_page_has_no_clipboard(visit: Visit) -> None:
    """As over plain HTTP: the selection is copied."""
    context = visit(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto("/bazaar/echo")
    page.evaluate("() => { navigator.clipboard.writeText = undefined }")
    page.get_by_role("button", name="Copy: curl, unpaid").click()
    expect(page.get_by_role("button", name="Copied: curl, unpaid")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#curl pre").text_content()


@pytest.mark.parametrize("path", ["/", "/bazaar", "/bazaar/echo"])
def test_the_keyboard_reaches_everything_visibly(visit: Visit, path: str) -> None:
    """First comes the link that skips to the content; each stop has an outline."""
    page = visit().new_page()
    page.goto(path)
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == {"name": "Skip to the content", "isVisible": True}
    for _ in range(12):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        assert focused["isVisible"], focused
    page.goto(path)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
