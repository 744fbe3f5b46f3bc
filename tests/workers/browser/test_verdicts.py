"""What the browser's errors mean, and which of them are the last word about a page."""

import pytest

from shared.outcome import Unavailable, UpstreamFailed
from workers.browser import verdicts
from workers.egress.allowance import Job

URL = "http://site.example.com/"


@pytest.mark.parametrize(
    ("error", "reason", "retryable"),
    [
        ("", "not_a_page", False),  # a download
        ("net::ERR_TOO_MANY_REDIRECTS", "too_many_redirects", False),
        ("net::ERR_ABORTED", "not_a_page", True),  # a response without a body
        ("net::ERR_FAILED", "not_a_page", True),
        ("net::ERR_INTERNET_DISCONNECTED", "too_many_redirects", True),
        ("net::ERR_CONNECTION_RESET", "connection_refused", True),
    ],
)
def test_only_what_is_known_of_the_page_is_final(error: str, reason: str, retryable: bool) -> None:
    """What else may have another cause is not stored as an answer: the call is run again."""
    failure = verdicts.of_error(error, URL, Job())
    assert isinstance(failure, UpstreamFailed)
    assert (failure.reason, failure.retryable) == (reason, retryable)


def test_a_proxy_of_ours_that_fails_is_not_the_sites_failure() -> None:
    """The call is our fault, and may be repeated."""
    job = Job(refusals={"site.example.com": "unavailable"})
    failure = verdicts.of_error("net::ERR_TUNNEL_CONNECTION_FAILED", URL, job)
    assert (type(failure), failure.retryable) == (Unavailable, True)
