"""A site with one page, whose browser is a fake and whose calculations run here."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from compose.sandbox.upstreams.pages import BERTHS
from jobs.calculations import CALCULATIONS
from jobs.hosts import PublicUrl
from jobs.observation import Observed, Previous
from jobs.ports import Context
from jobs.ports.browser import Area, NotDrawn, RenderedPage, Screenshot
from shared.outcome import JobFailure, UpstreamFailed
from shared.settled_payment import SettledPayment
from tests.sites import PUBLIC

URL = "https://site.example.com:8443/berths"
PAYMENT = SettledPayment(
    network="eip155:8453",
    payer="0x857b06519e91e3a54538791bdbb0e22373e36b66",
    asset="0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    amount="10000",
    transaction="0x" + "5a" * 32,
)


def html_of(*paragraphs: str) -> str:
    """A page with an article of these paragraphs."""
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return f"<html><head><title>Berths</title></head><body><main><article>{body}</article></main></body></html>"


@dataclass
class Site:
    """Implements what jobs.ports.Ports has of these endpoints.

    Attributes:
        failing: calculations that take too much.
        left: the observation of the last call, which the next one gets.
        asked: the arguments of each `render`.
        elsewhere: status and markup that the site shows to another address of ours; None: there is no other address.
    """

    html: str = BERTHS
    status: int = 200
    source: str = ""
    final_url: str = URL
    title: str | None = "Berths and their prices"
    picture: Screenshot | NotDrawn | None = None
    timed_out: bool = False
    failure: JobFailure | None = None
    failing: frozenset[str] = frozenset()
    left: Previous | None = None
    site: Any = PUBLIC
    asked: list[Any] = field(default_factory=list)
    calculated: list[str] = field(default_factory=list)
    elsewhere: tuple[int, str] | None = None
    time: datetime = datetime(2026, 11, 20, 15, 4, 5, 999, tzinfo=UTC)

    @property
    def browser(self) -> "Site":
        return self

    @property
    def calculations(self) -> "Site":
        return self

    @property
    def clock(self) -> "Site":
        return self

    def now(self) -> datetime:
        return self.time

    def refused(self, url: PublicUrl, page: RenderedPage) -> bool:
        """From now on the site shows `elsewhere`, if there is any."""
        assert (page.http_status, page.html) == (self.status, self.html)
        if self.elsewhere is None:
            return False
        (self.status, self.html), self.source = self.elsewhere, ""
        self.elsewhere = None
        return True

    def render(self, url: PublicUrl, *, screenshot: Area | None, deadline: float) -> RenderedPage:
        self.asked.append((str(url), screenshot, deadline - time.monotonic()))
        if self.failure:
            raise self.failure
        return RenderedPage(
            final_url=self.final_url,
            http_status=self.status,
            html=self.html,
            source=self.source,
            title=self.title,
            language="en-GB",
            screenshot=self.picture if screenshot else None,
            requests=3,
            received_bytes=4_000,
            timed_out=self.timed_out,
        )

    def run(self, name: str, argument: bytes, *, limit_s: float, deadline: float | None = None) -> bytes:
        assert limit_s > 0
        assert deadline is not None
        self.calculated.append(name)
        if name in self.failing:
            raise UpstreamFailed("What came back takes too much to read.", reason="bad_content")
        return CALCULATIONS[name].calculate(argument)

    def call(self, run: Any, request: Any, *, later: timedelta = timedelta(hours=1)) -> Any:
        """Run an endpoint as the worker does: what it leaves is there for the next call."""
        context = Context(payer=PAYMENT.payer, ports=self, payment=PAYMENT, previous=self.left)  # type: ignore[arg-type]
        answer = run(request, context)
        assert isinstance(answer, Observed)
        self.left = Previous(answer.observation, self.time)
        self.time += later
        return answer.response
