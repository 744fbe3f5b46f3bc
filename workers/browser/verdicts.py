"""What it means when there is no page to read: from the browser's errors and the proxy's refusals to failures of the port."""

from shared.outcome import UNAVAILABLE, BlockedAddress, JobFailure, Unavailable, UpstreamFailed
from workers.browser.page import Page, host_of
from workers.egress.allowance import REASONS, Job
from workers.egress.connect import NO_WAY

_BY_REFUSAL = {
    "bad_request": "blocked_address",
    "too_many_bytes": "too_large",
    "too_many_hosts": "too_many_redirects",
    "too_many_requests": "too_many_redirects",
}
"""Reasons of the proxy (workers/egress/allowance.py) that mean another failure of the port."""

_BY_ERROR = (
    ("ERR_CERT_", "tls_failure"),
    ("ERR_SSL_", "tls_failure"),
    ("ERR_BAD_SSL_", "tls_failure"),
    ("ERR_TOO_MANY_REDIRECTS", "too_many_redirects"),
    ("ERR_TIMED_OUT", "timeout"),
    ("ERR_CONNECTION_TIMED_OUT", "timeout"),
    ("ERR_CONNECTION_", "connection_refused"),
    ("ERR_EMPTY_RESPONSE", "connection_refused"),
    ("ERR_SOCKET_", "connection_refused"),
    ("ERR_NETWORK_", "connection_refused"),
    ("ERR_INTERNET_DISCONNECTED", "too_many_redirects"),  # it had made all its requests
    ("ERR_TUNNEL_", "connection_refused"),
    ("ERR_PROXY_", "connection_refused"),
    ("ERR_NAME_NOT_RESOLVED", "dns_failure"),
    ("ERR_CONTENT_", "bad_content"),
    ("ERR_HTTP2_", "bad_content"),
    ("ERR_INVALID_", "bad_content"),
    ("ERR_INCOMPLETE_", "bad_content"),
    ("ERR_RESPONSE_", "bad_content"),
)
"""Beginnings of the browser's names of errors (net_error_list.h). All others: there is no page at this URL."""

_DETAILS = {
    "timeout": "The site did not answer in time.",
    "dns_failure": "The host of the page has no address.",
    "connection_refused": "The site refused the connection, or ended it.",
    "tls_failure": "There is no secure connection to the site: its certificate is not valid, or the handshake failed.",
    "too_many_redirects": "The page redirects, reloads or navigates without end.",
    "too_large": "The page is too large.",
    "bad_content": "What the site sent is not valid HTTP.",
    "not_a_page": "There is no page at this URL, but a download, a document or an image, or nothing at all.",
    "page_crashed": "The page took more memory or depth than a page may take, or closed itself.",
}

_TEXTS = ("text/", "application/xhtml", "application/xml", "application/json", "application/rss", "application/atom")


def failed(reason: str, *, is_final: bool = False) -> UpstreamFailed:
    """The failure with this reason.

    Args:
        is_final: it is known what the page is, and it is the same when it is requested again. An aborted navigation and a
            blank page are never final: the page's process may have been killed.
    """
    return UpstreamFailed(_DETAILS[reason], reason=reason, is_final=is_final)


def of_error(error: str, url: str, job: Job) -> JobFailure:
    """The failure of a navigation.

    Args:
        error: the browser's name of it, such as ``net::ERR_TUNNEL_CONNECTION_FAILED``; empty for a download.
        url: what was asked for last.
    """
    name = error.removeprefix("net::")
    if name.startswith(("ERR_TUNNEL_", "ERR_PROXY_")) and (refused := _refusal(url, job)):
        return refused
    if job.exhausted == "too_many_bytes":
        return failed("too_large", is_final=True)
    reason = next((reason for beginning, reason in _BY_ERROR if name.startswith(beginning)), "not_a_page")
    return failed(reason, is_final=name in ("", "ERR_TOO_MANY_REDIRECTS"))


def of_document(page: Page, job: Job) -> JobFailure | None:
    """Why the document that is shown is not what the caller asked for; None when it is."""
    document, response = page.document, page.response
    if document.unreachable:
        # The browser does not say why a navigation that the page itself began has failed. The proxy's refusals do.
        return _refusal(document.unreachable, job) or failed("connection_refused")
    if not document.url.startswith(("http://", "https://")) or response is None:
        return failed("not_a_page")  # blob: and about:blank replace a page as if nothing had happened
    if _is_refusal(response.url, response.status, response.mime, job):
        return _refusal(response.url, job)
    if response.failure:
        return of_error(response.failure, response.url, job)
    is_text = response.mime.startswith(_TEXTS) or response.mime.endswith(("+xml", "+json"))
    if response.mime == "image/svg+xml" or not is_text:
        return failed("not_a_page", is_final=True)
    return None


def _is_refusal(url: str, status: int, mime: str, job: Job) -> bool:
    """Whether a document was written by the proxy. Over TLS it cannot write one. A host that was refused something else, its
    201st request for example, may have sent a page before: a refusal is plain text with one of a few statuses."""
    is_like_one = url.startswith("http:") and mime == "text/plain" and status in REASONS.values()
    return is_like_one and _refusal(url, job) is not None


def _refusal(url: str, job: Job) -> JobFailure | None:
    host = host_of(url)
    reason = job.refusals.get(host) or job.refusals.get("")  # "": a host that is not even a name, such as 127.0.0.1
    if reason is None:
        return None
    means = _BY_REFUSAL.get(reason, reason if reason in REASONS else "connection_refused")
    if means == "blocked_address":
        return BlockedAddress("The page, or what it leads to, is at an address that is not public.")
    if means == UNAVAILABLE:
        return Unavailable(NO_WAY)
    return failed(means, is_final=host in job.absent)
