"""x402-discover: finds the paid calls that a site offers over x402, in everything that the site publishes about them.

- A report makes at most 8 requests, redirects included, of 1 MB each, in 10 s. It never pays.
- The target may redirect to another site, and the report is then about the final origin. Catalogs and links are called only
  on that site: on the same host, or on one below the same registrable domain.
- A call is reported when there is evidence that it costs something, and `evidence` says which. Free calls are not reported.
- A call that appears in several places is reported once, with the terms of the first place. `warnings` names places that
  contradict it.
- The calls of a report have at most 1 MiB as JSON. `endpointCount` always counts all of them, up to 10,000 per document.
"""

from typing import Annotated

import msgspec

from jobs.fields import Ok, doc
from jobs.hosts import MAX_URL, checked, public_url
from jobs.ports import Context
from jobs.site import Site, SiteRequest
from jobs.x402_discover.document import Challenge, Hint
from jobs.x402_discover.report import Endpoint as Call
from jobs.x402_discover.survey import Catalog, survey
from shared.endpoint import Category, Endpoint, Example, Flavour, Pool
from shared.money import Price

MAX_LIMIT = 500


class Request(SiteRequest, frozen=True, kw_only=True, rename="camel"):
    url: Annotated[
        str, msgspec.Meta(max_length=MAX_URL, description="http(s) URL of a call, a page, a catalog or a site.")
    ]
    limit: Annotated[
        int, msgspec.Meta(ge=1, le=MAX_LIMIT, description="How many calls to return; all are counted.")
    ] = 100

    def check(self, site: Site) -> None:
        checked(public_url, self.url, site, field="url")


class Response(msgspec.Struct, frozen=True, rename="camel"):
    ok: Ok
    target: Annotated[str, doc("The address that was examined.")]
    final_url: Annotated[str, doc("The address after redirects.")]
    origin: Annotated[str, doc("The origin of `finalUrl`.")]
    status: Annotated[int | None, doc("The HTTP status of the target. Null when only catalogs answered.")]
    challenge: Annotated[Challenge | None, doc("The target's own demand for payment. Null when it makes none.")]
    endpoints: Annotated[list[Call], doc("The calls that are sold, at most `limit`.")]
    hints: Annotated[list[Hint], doc("Elements of the target's page that mention x402.")]
    catalogs: Annotated[list[Catalog], doc("The addresses that were checked for a catalog.")]
    endpoint_count: Annotated[int, doc("The number of all calls that were found.")]
    truncated: Annotated[bool, doc("Whether there are more calls than `endpoints` has.")]
    warnings: Annotated[list[str], doc("What could not be read, what contradicts itself, and other remarks.")]


def run(request: Request, context: Context) -> Response:
    """Read the target, then every place where a site may publish what it sells."""
    url = public_url(request.url, context.site)
    found = survey(url, context.ports)
    shown = found.calls.first(request.limit)
    return Response(
        ok=True,
        target=str(url),
        final_url=str(found.target),
        origin=found.target.origin,
        status=found.status,
        challenge=found.challenge,
        endpoints=shown,
        hints=found.hints,
        catalogs=found.catalogs,
        endpoint_count=len(found.calls),
        truncated=found.is_cut or len(shown) < len(found.calls),
        warnings=found.warnings,
    )


_BASE = {"network": "eip155:8453", "payTo": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"}
_OFFER = {
    **_BASE,
    "scheme": "exact",
    "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "amount": "2000",
    "maxTimeoutSeconds": 60,
}
_ABSENT = {"status": 404, "format": None, "itemCount": 0, "error": "http_status"}
_KIOSK = "https://kiosk.example.com:8443"

_REASONS = ("timeout", "dns_failure", "connection_refused", "tls_failure", "bad_content")

ENDPOINT = Endpoint(
    name="x402-discover",
    price=Price.of("0.005"),
    category=Category.SECURITY,
    pool=Pool.NET,
    deadline_s=20,
    flavour=Flavour.OLDER,
    request=Request,
    response=Response,
    summary=(
        "Reports the paid calls of a site over x402 from everything that it says about them: 402 challenges of both "
        "versions, HTML hints, /.well-known/x402, bazaar.json and OpenAPI, as one list with normalised offers and prices. "
        "Never pays."
    ),
    failures=_REASONS,
    target_failures=_REASONS,
    example=Example(
        request={"url": f"{_KIOSK}/tide"},
        response={
            "ok": True,
            "target": f"{_KIOSK}/tide",
            "finalUrl": f"{_KIOSK}/tide",
            "origin": _KIOSK,
            "status": 402,
            "challenge": {
                "status": 402,
                "x402Version": 2,
                "accepts": [_OFFER],
                "transport": "payment_required_header",
            },
            "endpoints": [
                {
                    "url": f"{_KIOSK}/tide",
                    "method": "GET",
                    "source": "challenge",
                    "x402Version": 2,
                    "description": "High water today",
                    "accepts": [_OFFER],
                    "priceUsdc": 0.002,
                    "evidence": "challenge",
                    "crossOrigin": False,
                },
                {
                    "url": f"{_KIOSK}/moon",
                    "method": "POST",
                    "source": "well_known",
                    "x402Version": 2,
                    "description": "The moon's phase",
                    "accepts": [
                        {**_BASE, "scheme": None, "asset": "USDC", "amount": "1000", "maxTimeoutSeconds": None}
                    ],
                    "priceUsdc": 0.001,
                    "evidence": "terms",
                    "crossOrigin": False,
                },
            ],
            "hints": [],
            "catalogs": [
                {
                    "url": f"{_KIOSK}/.well-known/x402",
                    "status": 200,
                    "format": "manifest",
                    "itemCount": 1,
                    "error": None,
                },
                {"url": f"{_KIOSK}/.well-known/x402.json", **_ABSENT},
                {"url": f"{_KIOSK}/bazaar.json", **_ABSENT},
                {"url": f"{_KIOSK}/openapi.json", **_ABSENT},
            ],
            "endpointCount": 2,
            "truncated": False,
            "warnings": [],
        },
    ),
    run=run,
)
