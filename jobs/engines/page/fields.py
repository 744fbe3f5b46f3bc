"""The fields that render-pro and web-diff share, and what their observations are about."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from jobs.engines.page.kinds import Kind
from jobs.engines.page.reading import Extract, Method
from jobs.fields import doc
from jobs.hosts import MAX_URL, PublicUrl, checked, public_url
from jobs.site import Site

Url = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=MAX_URL,
        description="Public http or https page; ports 80, 443, 8080 and 8443. A fragment is ignored.",
    ),
]
Extraction = Annotated[Extract, msgspec.Meta(description="The main text, all text, or all text without Markdown.")]
Since = Annotated[
    str,
    msgspec.Meta(
        pattern="^cur_[0-9a-f]{24}$",
        description="The cursor of one of your last five observations of this page: compares with it, not with the last one.",
    ),
]

Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
RequestedUrl = Annotated[str, doc("The address that the request named.")]
FinalUrl = Annotated[str, doc("The address of the page, after redirects and navigations, without a fragment.")]
HttpStatus = Annotated[int, doc("The HTTP status of the page.")]
Title = Annotated[str | None, doc("The page's title. Null when it has none.")]
Extracted = Annotated[Extract, doc("Which text was extracted: that of the request.")]
Found = Annotated[
    Method,
    doc(
        "How it was found: trafilatura's `precision` or `default`; `main`, by the page's structure; or `body`, all that "
        "the page shows."
    ),
]
PageKind = Annotated[
    Kind | None,
    doc("What the page was taken for, which decides how its main text is found. Null when it took too much to read."),
]
Coverage = Annotated[
    float | None,
    doc(
        "The share of the page's main text that was extracted, from 0 to 1, before it was cut. Where it is low, `full` may "
        "hold what you miss. Null as with `kind`."
    ),
]
FromSource = Annotated[
    bool, doc("Whether the text is the document's as it was sent, because scripts had removed most of it.")
]
TimedOut = Annotated[bool, doc("Whether the page was read before it had finished loading.")]
Markdown = Annotated[str, doc("The extracted text, at most 60,000 characters, cut after a block.")]
IsCut = Annotated[bool, doc("Whether the page has more text than `markdown`.")]
SinceCursorFound = Annotated[
    bool | None,
    doc("Whether `sinceCursor` was known. If not, the page was compared with the last call. Null when none was sent."),
]
Cursor = Annotated[
    str, doc("Names this observation, for a later `sinceCursor`. It is the same while the page says the same.")
]
ObservationId = Annotated[str, doc("Names the page's content. It is the same for every caller.")]


def checked_url(text: str, site: Site) -> PublicUrl:
    """Read the URL of a request. Raises InvalidField."""
    return checked(public_url, text, site, field="url")


def subject(endpoint: str, url: str, extract: str, site: Site, without: Sequence[str] = ()) -> str:
    """What an observation is about: one endpoint's view of one page. Two URLs that differ in their fragments are one page.

    Args:
        without: selectors of elements that the view leaves out.
    """
    return "\n".join((endpoint, str(checked_url(url, site)), extract, *without))
