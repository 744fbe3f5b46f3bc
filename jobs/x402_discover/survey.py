"""Surveys a site: the target, x402's well-known addresses, the bazaar, OpenAPI, and the links of the page."""

import time
from dataclasses import dataclass, field
from typing import Annotated

import msgspec

from jobs.fields import doc
from jobs.hosts import NotPublic, PublicUrl, public_url
from jobs.ports import Calculations, Page, Ports
from jobs.site import Site
from jobs.x402_discover.document import Challenge, DocumentKind, Hint, Reading, Source
from jobs.x402_discover.fetching import Fetcher, OtherSite, Spent
from jobs.x402_discover.reading import NAME
from jobs.x402_discover.report import Calls, SourceName
from jobs.x402_discover.site import is_same_site
from shared.outcome import BlockedAddress, UpstreamFailed

TARGET_LIMIT_S = 4.0
CATALOG_LIMIT_S = 2.5
READING_LIMIT_S = 3.0
"""CPU time for reading one response of at most 1 MB: ten times the worst time on an idle core."""
READINGS_LIMIT_S = 15.0
"""Limit for all readings and the requests between them, including the wait for a free child process."""
MAX_WARNINGS = 40
MAX_MENTIONS = 5
MAX_IGNORED_LINKS = 10
"""How many links that are not called get a warning."""

_WELL_KNOWN: tuple[tuple[str, SourceName], ...] = (
    ("/.well-known/x402", "well_known"),
    ("/.well-known/x402.json", "well_known"),
    ("/bazaar.json", "bazaar"),
    ("/openapi.json", "openapi"),
)
# Failures of the target's host that its catalogs would share.
_HOPELESS = frozenset({"dns_failure", "tls_failure"})
_ABSENT = frozenset({401, 403, 404, 405, 410})

_readings = msgspec.msgpack.Decoder(Reading)


class Catalog(msgspec.Struct, frozen=True, rename="camel"):
    """An address that was checked for a catalog."""

    url: Annotated[str, doc("The address.")]
    status: Annotated[int | None, doc("The HTTP status. Null when there was no answer.")]
    format: Annotated[
        str | None,
        doc(
            "`openapi`, `bazaar`, `resource_list`, `manifest`, or `challenge` for a paid call. Null when it is not "
            "about x402."
        ),
    ]
    item_count: Annotated[int, doc("How many paid or listed calls it has.")]
    error: Annotated[str | None, doc("Why it could not be read. Null when it was read.")]


class Reader:
    """Reads responses in child processes.

    Args:
        calculations: the port that runs them there.
    """

    def __init__(self, calculations: Calculations) -> None:
        self._calculations = calculations
        self._deadline = time.monotonic() + READINGS_LIMIT_S

    def read(self, url: PublicUrl, method: str, page: Page, kind: DocumentKind) -> Reading:
        """Read a response. Raises DeadlineExceeded when no child process was free in time."""
        source = Source(kind, method, str(url), page.status, page.headers, page.body)
        try:
            result = self._calculations.run(
                NAME, msgspec.msgpack.encode(source), limit_s=READING_LIMIT_S, deadline=self._deadline
            )
        except UpstreamFailed as failed:
            return Reading(error=failed.reason)
        return _readings.decode(result)


@dataclass(slots=True)
class Survey:
    """The findings.

    Attributes:
        target: the target's URL after redirects.
        status: of the target; None when it did not answer.
        is_cut: a document names more calls than were read.
        mentions: the addresses of documents that mention money.
        links: the addresses of OpenAPI documents that other documents name.
    """

    target: PublicUrl
    calls: Calls
    status: int | None = None
    is_cut: bool = False
    challenge: Challenge | None = None
    hints: list[Hint] = field(default_factory=list)
    catalogs: list[Catalog] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    mentions: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def add(self, reading: Reading, source: SourceName, url: PublicUrl) -> None:
        """Add what was read at an address."""
        self.warn(*reading.warnings)
        self.calls.add(reading.entries, reading.offers, source)
        self.is_cut = self.is_cut or reading.is_cut
        if reading.link is not None:
            self.links.append(reading.link)
        if reading.mentions_money:
            self.mentions.append(str(url))

    def warn(self, *texts: str) -> None:
        """Add warnings, each once, up to a limit."""
        for text in texts:
            if text not in self.warnings and len(self.warnings) < MAX_WARNINGS:
                self.warnings.append(text)


def survey(url: PublicUrl, ports: Ports) -> Survey:
    """Survey a site.

    Raises:
        BlockedAddress: the target leads to an address that is not public.
        UpstreamFailed: the target did not answer, and there is no catalog. The reason is that of the target.
    """
    fetcher = Fetcher(ports)
    reader = Reader(ports.calculations)
    failure: UpstreamFailed | None = None
    try:
        final, page = fetcher.get(url, limit_s=TARGET_LIMIT_S)
        found = Survey(final, Calls(final.origin), page.status)
        _read_target(found, page, fetcher, reader)
    except Spent:
        raise UpstreamFailed("The target redirects too often.", reason="bad_content") from None
    except UpstreamFailed as failed:
        if failed.reason in _HOPELESS:
            raise
        failure = failed
        found = Survey(url, Calls(url.origin))
        found.warn(f"The target could not be read: {failed.reason}. {failed.detail}")
    _read_catalogs(found, fetcher, reader, ports.site)
    is_there = failure is None or failure.reason == "too_large"
    if failure is not None and not is_there and not any(one.format for one in found.catalogs):
        raise failure
    found.warn(*found.calls.warnings())
    if not len(found.calls) and found.mentions:
        found.warn(f"No paid call was found, but money is mentioned here: {', '.join(found.mentions[:MAX_MENTIONS])}.")
    return found


def _read_target(found: Survey, page: Page, fetcher: Fetcher, reader: Reader) -> None:
    is_well_known = found.target.target.partition("?")[0] in (_WELL_KNOWN[0][0], _WELL_KNOWN[1][0])
    kind: DocumentKind = "catalog" if is_well_known else "page"
    reading = reader.read(found.target, "GET", page, kind)
    if page.status == 405 and reading.challenge is None:
        try:
            page = fetcher.post(found.target, limit_s=TARGET_LIMIT_S)
        except (UpstreamFailed, Spent) as failed:
            found.warn(f"The target accepts no GET, and did not answer a POST: {getattr(failed, 'reason', 'timeout')}.")
        else:
            found.status = page.status
            reading = reader.read(found.target, "POST", page, "page")
    found.challenge = reading.challenge
    found.hints.extend(reading.hints)
    if reading.error is not None:
        found.warn(f"The target could not be read: {reading.error}.")
    source: SourceName = "challenge"
    if reading.format is not None and reading.challenge is None:
        source = _source_of(found.target.target, reading.format)
        found.catalogs.append(Catalog(str(found.target), page.status, reading.format, len(reading.entries), None))
    found.add(reading, source, found.target)


def _source_of(path: str, shape: str) -> SourceName:
    """The source name for a target that is itself a catalog."""
    if shape in ("openapi", "bazaar") and "/.well-known/" not in path:
        return "openapi" if shape == "openapi" else "bazaar"
    return "well_known"


def _read_catalogs(found: Survey, fetcher: Fetcher, reader: Reader, site: Site) -> None:
    places = [(public_url(path, site, base=found.target), source) for path, source in _WELL_KNOWN]
    places += [(url, "html_link") for url in _linked(found, site)]
    seen = {str(found.target)}
    while places or found.links:
        if places:
            url, source = places.pop(0)
        else:
            linked = _own(found, site, found.links.pop(0))
            if linked is None:
                continue
            url, source = linked, "openapi"
        if str(url) in seen:
            continue
        seen.add(str(url))
        try:
            final, page = fetcher.get(url, limit_s=CATALOG_LIMIT_S, site=found.target.host)
        except Spent:
            found.warn("Not every place was checked: a report makes few requests and takes at most 10 s.")
            return
        except OtherSite:
            _fail(found, url, "other_site")
        except BlockedAddress:
            _fail(found, url, BlockedAddress.code)
        except UpstreamFailed as failed:
            _fail(found, url, failed.reason or "bad_content")
        else:
            is_again = str(final) != str(url) and str(final) in seen
            seen.add(str(final))
            if is_again:
                found.catalogs.append(Catalog(str(url), page.status, None, 0, None))
            else:
                _read_catalog(found, url, final, page, source, reader)


def _read_catalog(
    found: Survey, url: PublicUrl, final: PublicUrl, page: Page, source: SourceName, reader: Reader
) -> None:
    kind: DocumentKind = "guess" if source in ("bazaar", "openapi") else "catalog"
    reading = reader.read(final, "GET", page, kind)
    error = reading.error
    if error is None and page.status >= 300 and reading.format is None:
        error = "http_status"
        if page.status not in _ABSENT:
            found.warn(f"{url} answered {page.status}.")
    elif error is not None:
        found.warn(f"{url} could not be read: {error}.")
    found.catalogs.append(Catalog(str(url), page.status, reading.format, len(reading.entries), error))
    found.add(reading, source, final)


def _fail(found: Survey, url: PublicUrl, error: str) -> None:
    found.catalogs.append(Catalog(str(url), None, None, 0, error))
    found.warn(f"{url} could not be read: {error}.")


def _own(found: Survey, site: Site, link: str) -> PublicUrl | None:
    """The address of a link, when it is on the target's site."""
    try:
        url = public_url(link, site, base=found.target)
    except NotPublic:
        return None
    return url if is_same_site(url.host, found.target.host) else None


def _linked(found: Survey, site: Site) -> list[PublicUrl]:
    """The links of the page to its own site. All others get a warning and are not called."""
    urls: list[PublicUrl] = []
    ignored: list[str] = []
    for hint in found.hints:
        if hint.url is None:
            continue
        try:
            url = public_url(hint.url, site)
        except NotPublic as refused:
            ignored.append(f"A link of the page is not called: {refused.detail}")
            continue
        if is_same_site(url.host, found.target.host):
            urls.append(url)
        else:
            ignored.append(f"A link of the page leads to another site, which is not called: {url.host}.")
    found.warn(*list(dict.fromkeys(ignored))[:MAX_IGNORED_LINKS])
    return urls
