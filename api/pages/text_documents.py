"""Documents for programs that look around: llms.txt, the API catalogue, security.txt, robots.txt and the sitemap."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

import msgspec

from api.discovery.listing import MCP_PATH, SERVICE_NAME
from api.discovery.routes import RESOURCES
from api.pages.entry import Entry
from shared.call_path import OWN

API_CATALOG_PATH = "/.well-known/api-catalog"
API_CATALOG_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'


_CHANNELS = (
    "On Base calls are also sold by channels (scheme `batch-settlement`): one deposit, then a signed voucher with each call,",
    "which waits for no transaction, and is free when the call fails.",
)


def llms(entries: Sequence[Entry], base_url: str) -> str:
    """/llms.txt, in the form of llmstxt.org: a title, a summary, and lists of links."""
    lines = [
        f"# {SERVICE_NAME}",
        "",
        "> Single API calls, sold one at a time over x402 (HTTP 402). No account, no API key: POST a JSON body, get a "
        "402 with the price, pay it, repeat the identical request with the payment, read the answer.",
        "",
        "An unpaid call costs nothing. A call that is charged is answered; the same request with the same payment fetches",
        "its answer again, free, for a day. The live 402 is the authority for price, asset, recipient and network.",
        *(_CHANNELS if any(entry.gate.has_channels for entry in entries) else ()),
        "Pages are Markdown for `Accept: text/markdown`.",
        "A body is checked for free: POST it as the form field `body` to the page of its call, which says whether a paid call",
        "would take it.",
        "",
        "## How to call",
        "",
        f"- [OpenAPI]({base_url}/openapi.json): every call with schemas, prices and errors; `x-guidance` says how to pay",
        f"- [Catalogue]({base_url}/bazaar.json): the same as x402 resources, with offers",
        f"- [MCP server]({base_url}{MCP_PATH}): each call as a tool, paid in `_meta` (streamable HTTP); all tools at "
        f"{base_url}{MCP_PATH}?tools=all",
        f"- [Catalogue for people]({base_url}/bazaar): search, examples, programs to copy",
        f"- [Errors]({base_url}/errors): every error code, whether it is charged, and what to do",
        f"- [Status]({base_url}/status.json): how many calls were answered and how fast, by call and network",
        "",
        "## Calls",
        "",
    ]
    lines += [
        f"- [{entry.endpoint.name}]({base_url}{entry.path}): ${entry.price}. {entry.endpoint.summary}"
        for entry in entries
    ]
    return "\n".join(lines) + "\n"


def api_catalog(entries: Sequence[Entry], base_url: str) -> bytes:
    """/.well-known/api-catalog (RFC 9727) as a linkset (RFC 9264)."""
    json_type = "application/json"
    # A package's calls are below a path of their own.
    prefixes = dict.fromkeys((OWN, *(entry.endpoint.path.split("/")[2] for entry in entries)))
    documents = {
        "service-desc": [{"href": f"{base_url}/openapi.json", "type": json_type}],
        "service-doc": [
            {"href": f"{base_url}/bazaar", "type": "text/html"},
            {"href": f"{base_url}/llms.txt", "type": "text/plain"},
        ],
        "service-meta": [
            {"href": f"{base_url}/.well-known/x402", "type": json_type},
            {"href": f"{base_url}/bazaar.json", "type": json_type},
            # The same in parts: metadata, and no `item`, which is a call that is sold.
            {"href": base_url + RESOURCES, "type": json_type},
        ],
        "status": [
            {"href": f"{base_url}/readyz", "type": json_type},
            {"href": f"{base_url}/status.json", "type": json_type},
            {"href": f"{base_url}/status", "type": "text/html"},
        ],
    }
    return msgspec.json.encode(
        {
            "linkset": [
                {"anchor": base_url + API_CATALOG_PATH, "item": [{"href": entry.url} for entry in entries]},
                *({"anchor": f"{base_url}/v1/{prefix}/", **documents} for prefix in prefixes),
            ]
        }
    )


def security(contact: str, expires: str, base_url: str) -> str:
    """/.well-known/security.txt (RFC 9116).

    Args:
        contact: ``mailto:`` or https.
        expires: a date, ``2027-06-30``.
    """
    return (
        f"Contact: {contact}\n"
        f"Expires: {expires}T00:00:00Z\n"
        "Preferred-Languages: en\n"
        f"Canonical: {base_url}/.well-known/security.txt\n"
    )


def robots(base_url: str) -> str:
    """/robots.txt: all is open but the many addresses of searches."""
    return f"User-agent: *\nDisallow: /bazaar?\n\nSitemap: {base_url}/sitemap.xml\n"


def sitemap(paths: Sequence[str], base_url: str, updated: str) -> str:
    """/sitemap.xml.

    Args:
        updated: ISO date of the last change.
    """
    urls = "".join(
        f"<url><loc>{escape(base_url + path)}</loc><lastmod>{escape(updated)}</lastmod></url>\n" for path in paths
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n'
    )
