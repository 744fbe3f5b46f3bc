"""The port to a browser: a public page, as it is when its scripts have run.

The engine trusts nothing in the answer but the numbers that the browser's own side counted: `html`, `source`, `title` and
`language` may be any text.
"""

from enum import StrEnum
from typing import Literal, NamedTuple, Protocol

from jobs.hosts import PublicUrl

MAX_HTML = 1_000_000
"""Characters of `html` and of `source` that an adapter hands over. What is longer is cut there; it is not a failure."""
MAX_SCREENSHOT_BYTES = 1_500_000
VIEWPORT = (1280, 800)
"""Width and height in CSS pixels, which are pixels of the screenshot."""
MAX_HEIGHT = 4_000
"""Pixels of the screenshot of a full page. The rest of the page is not on it."""

FAILURES = (
    "timeout",
    "dns_failure",
    "connection_refused",
    "tls_failure",
    "too_many_redirects",
    "too_large",
    "bad_content",
    "not_a_page",
    "page_crashed",
)
"""The reasons of `UpstreamFailed`:

    timeout              the site had sent no document when the time was over, or the browser did not answer in time
    dns_failure          the host of the main document has no address
    connection_refused   no connection, or it ended before there was a document
    tls_failure          the handshake failed, or the certificate is not valid for the host
    too_many_redirects   more than 10 redirects, reloads and navigations until the page was at rest
    too_large            the main document alone is larger than all that one page may load
    bad_content          the response is not valid HTTP, or its content coding is damaged
    not_a_page           the main document is no text that a browser shows: a download, a PDF, an image, another scheme
    page_crashed         the page ended its renderer: out of memory, too deep, stopped by the watchdog
"""


class Area(StrEnum):
    """What a screenshot shows."""

    VIEWPORT = "viewport"
    FULL_PAGE = "full_page"


class Screenshot(NamedTuple):
    """A picture of the page.

    Attributes:
        format: `png`; `webp` where a PNG would be larger than MAX_SCREENSHOT_BYTES.
        width, height: pixels.
        data: the file.
    """

    format: Literal["png", "webp"]
    width: int
    height: int
    data: bytes


NotDrawn = Literal["timeout", "too_large", "not_drawn"]
"""Why there is no picture: it took too long, its file is larger than MAX_SCREENSHOT_BYTES, or the browser could not draw it."""


class RenderedPage(NamedTuple):
    """A page as the browser showed it.

    Attributes:
        final_url: the URL of the document that `html` is, after redirects and navigations, without a fragment. Scripts may
            change it (`history.pushState`) within its origin.
        http_status: of the response that brought this document. A page of any status is a page, not a failure.
        html: the DOM, serialised when rendering ended; without the content of frames. At most MAX_HTML characters.
        source: the body of that response, decoded to text, before any script ran. At most MAX_HTML characters; "" when it is
            not known.
        title: `document.title`, not trimmed; None when it is empty.
        language: the `lang` of the root element; None when there is none.
        screenshot: None unless it was asked for; otherwise why there is none.
        requests: requests that the page made and that were let through, all frames and redirects included.
        received_bytes: bytes of all responses, as they came over the network.
        timed_out: the page was read before it was at rest: its scripts did not end, or it never stopped loading.
        exit: number of this installation's exit to the internet by which it came.
    """

    final_url: str
    http_status: int
    html: str
    source: str
    title: str | None
    language: str | None
    screenshot: Screenshot | NotDrawn | None
    requests: int
    received_bytes: int
    timed_out: bool
    exit: int = 0


class Browser(Protocol):
    """A browser that reaches public addresses only, whatever the page does. Thread-safe."""

    def render(self, url: PublicUrl, *, screenshot: Area | None, deadline: float) -> RenderedPage:
        """Open a page in a new context without cookies or storage, wait until it is at rest, and read it.

        Args:
            screenshot: None: images, media and fonts are not loaded either.
            deadline: monotonic seconds. The answer is there by then, also that of a page that is never at rest.

        Raises:
            BlockedAddress: the main document, or a redirect or navigation to one, leads to an address that is not public.
                What the page asks for beside it is refused in silence, as if the network had failed.
            UpstreamFailed: with one of FAILURES as its reason.
            DeadlineExceeded: the browser did not call the site in time, or was late itself.
        """
        ...

    def refused(self, url: PublicUrl, page: RenderedPage) -> bool:
        """Note that a site refuses programs or our address, as this page of it shows.

        Returns:
            Whether the next rendering calls the site from another address.
        """
        ...
