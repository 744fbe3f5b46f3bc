"""The routes of the pages. Every body is there already, compressed too, but for searches."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec
from litestar import HttpMethod, Request, Response, route
from litestar.exceptions import NotFoundException
from litestar.handlers import BaseRouteHandler

from api.accept import HTML, MARKDOWN, prefers
from api.admission import Admission
from api.body import RequestBody
from api.discovery.listing import MIME_TYPE
from api.discovery.problem import MEDIA_TYPE
from api.errors import ERROR_KINDS, Problem
from api.pages import check, errors, status, text_documents
from api.pages.assets import CONTENT_SECURITY_POLICY, ICON, STYLE, STYLE_PATH
from api.pages.entry import Entry
from api.pages.free_work import FreeWork
from api.pages.renderer import Form, PageRenderer
from api.payment.offer_receipt import DID_DOCUMENT, Signer
from api.services import Services
from api.status.report import StatusReader
from api.stored import Stored, answer

_SAFE = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
}
_TYPES: dict[Form, str] = {"html": HTML, "md": MARKDOWN}
_PROBLEMS = ("application/json", "application/problem+json")
_ENTRY = "/bazaar/{name:path}"
_MINUTE = "public, max-age=60"
_DAY = "public, max-age=86400"
_FOR_EVER = "public, max-age=31536000, immutable"


def routes(
    renderer: PageRenderer,
    services: Services,
    reader: StatusReader,
    *,
    contact: str,
    contact_expires: str,
    updated: Callable[[], int],
    signer: Signer | None,
) -> list[BaseRouteHandler]:
    """All routes of the pages, and of the documents beside them.

    Args:
        services: of the paid calls, whose bodies are judged in the same way.
        reader: of what /status shows.
        contact, contact_expires: of security.txt, which there is with both.
        updated: gives when the catalogue last changed, in Unix seconds.
        signer: of receipts, which a DID document names; None where nothing is signed.
    """
    base_url = renderer.base_url
    made = [
        _home(renderer),
        _catalogue(renderer),
        _endpoint(renderer),
        _check(renderer, services),
        _error(renderer),
        *_status(renderer, reader),
        _style(),
        _fixed("/favicon.ico", ICON, "image/x-icon", _DAY),
        _made("/llms.txt", lambda: text_documents.llms(renderer.entries, base_url), "text/plain"),
        _made(
            text_documents.API_CATALOG_PATH,
            lambda: text_documents.api_catalog(renderer.entries, base_url),
            text_documents.API_CATALOG_TYPE,
            headers={"Link": _links(base_url)},
        ),
        _fixed("/robots.txt", text_documents.robots(base_url), "text/plain"),
        _made(
            "/sitemap.xml",
            lambda: text_documents.sitemap(renderer.paths, base_url, _date(updated())),
            "application/xml",
        ),
    ]
    if contact and contact_expires:
        security = text_documents.security(contact, contact_expires, base_url)
        made.append(_fixed("/.well-known/security.txt", security, "text/plain"))
    if signer:
        made.append(_fixed(signer.document_path, signer.document(), DID_DOCUMENT))
    return made


def not_found(renderer: PageRenderer, request: Request[Any, Any, Any]) -> Response[bytes] | None:
    """The 404 for a person; None when the caller sends something, rather wants JSON, or says nothing."""
    accept = request.headers.get("accept", "")
    if request.method not in ("GET", "HEAD") or not prefers(accept, HTML, *_PROBLEMS):
        return None
    headers = {**_SAFE, "Cache-Control": "no-store", "Vary": "Accept"}
    return Response(renderer.not_found, status_code=404, media_type=_TYPES["html"], headers=headers)


def _home(renderer: PageRenderer) -> BaseRouteHandler:
    return _negotiated(renderer, "/", lambda _, form: renderer.page("/", form))


def _endpoint(renderer: PageRenderer) -> BaseRouteHandler:
    """One route for the pages of all endpoints: Litestar takes a millisecond to register a route."""

    def find(request: Request[Any, Any, Any], form: Form) -> Stored:
        return renderer.page(_asked(renderer, request).path, form)

    return _negotiated(renderer, _ENTRY, find)


def _check(renderer: PageRenderer, services: Services) -> BaseRouteHandler:
    """The form on these pages: a body is judged as that of a paid call is, and forgotten. Nothing is run or charged."""

    @cache
    def admission(entry: Entry) -> Admission:
        return Admission(entry.endpoint, services.disk, services.binder, services.site)

    work = FreeWork()

    @route(_ENTRY, http_method=HttpMethod.POST, status_code=200)
    async def page(request: Request[Any, Any, Any]) -> Response[bytes]:
        entry = _asked(renderer, request)
        accept = request.headers.get("accept", "")
        form = _form(accept)
        headers = {**_SAFE, "Cache-Control": "no-store", "Vary": "Accept"}
        sent = RequestBody(request.scope, request.receive, services.long_bodies)

        def render() -> bytes:
            body = check.body_of(content)
            return renderer.checked(check.Check(entry, body, admission(entry).judged(body)), form)

        try:
            check.require_form(request.headers.get("content-type", ""))
            sent.require_no_coding()
            content = await sent.peek()
            rendered = await work.run(render)
        except Problem as problem:
            if not prefers(accept, HTML, *_PROBLEMS):
                raise
            if problem.retry_after_s is not None:
                headers["Retry-After"] = str(problem.retry_after_s)
            return Response(
                renderer.refused(problem), status_code=problem.kind.status, media_type=_TYPES["html"], headers=headers
            )
        finally:
            await sent.discard()
        return Response(rendered, media_type=_TYPES[form], headers=headers)

    return page


def _asked(renderer: PageRenderer, request: Request[Any, Any, Any]) -> Entry:
    """The entry whose page a request names."""
    entry = renderer.by_path.get(f"/bazaar/{request.path_params['name'].strip('/')}")
    if entry is None:
        raise NotFoundException
    return entry


def _catalogue(renderer: PageRenderer) -> BaseRouteHandler:
    def find(request: Request[Any, Any, Any], form: Form) -> Stored | bytes:
        asked = request.query_params
        return renderer.found(_last(asked.getall("q", [])), _last(asked.getall("category", [])), form)

    return _negotiated(renderer, "/bazaar", find)


def _error(renderer: PageRenderer) -> BaseRouteHandler:
    """The pages about error codes, which are JSON for a program that wants it; without a code: about all of them."""
    base_url = renderer.base_url

    @route(
        [errors.PATH, f"{errors.PATH}/{{code:str}}"],
        http_method=[HttpMethod.GET, HttpMethod.HEAD],
        sync_to_thread=False,
    )
    def page(request: Request[Any, Any, Any]) -> Response[bytes]:
        code: str = request.path_params.get("code", "")
        if code and code not in ERROR_KINDS:
            raise NotFoundException
        accept = request.headers.get("accept", "")
        headers = {**_SAFE, "Cache-Control": _MINUTE, "Vary": "Accept", "Link": _links(base_url)}
        if any(prefers(accept, wanted, HTML, MARKDOWN) for wanted in (MIME_TYPE, MEDIA_TYPE)):
            said = errors.document(code, base_url) if code else errors.documents(base_url)
            return Response(msgspec.json.encode(said), media_type=MIME_TYPE, headers=headers)
        form: Form = _form(accept)
        return answer(request, renderer.error(code, form), _TYPES[form], headers)

    return page


def _status(renderer: PageRenderer, reader: StatusReader) -> list[BaseRouteHandler]:
    pages, links = status.StatusPages(renderer, reader), _links(renderer.base_url)

    @route(status.PATH, http_method=[HttpMethod.GET, HttpMethod.HEAD])
    async def page(request: Request[Any, Any, Any]) -> Response[bytes]:
        form = _form(request.headers.get("accept", ""))
        headers = {**_SAFE, "Cache-Control": _MINUTE, "Vary": "Accept", "Link": links}
        return Response(await pages.body(form), media_type=_TYPES[form], headers=headers)

    @route(f"{status.PATH}.json", http_method=[HttpMethod.GET, HttpMethod.HEAD])
    async def document() -> Response[bytes]:
        headers = {"Cache-Control": _MINUTE, "X-Content-Type-Options": "nosniff"}
        return Response(await pages.body(), media_type=MIME_TYPE, headers=headers)

    return [page, document]


def _form(accept: str) -> Form:
    return "md" if prefers(accept, MARKDOWN) and not prefers(accept, HTML, MARKDOWN) else "html"


def _last(values: list[str]) -> str:
    return values[-1] if values else ""


def _links(base_url: str) -> str:
    """The Link header by which a program that got a page finds the API (RFC 9727, section 3)."""
    catalogue, llms = f"{base_url}{text_documents.API_CATALOG_PATH}", f"{base_url}/llms.txt"
    return f'<{catalogue}>; rel="api-catalog", <{llms}>; rel="describedby"; type="text/plain"'


def _negotiated(
    renderer: PageRenderer, path: str, find: Callable[[Request[Any, Any, Any], Form], Stored | bytes]
) -> BaseRouteHandler:
    links = _links(renderer.base_url)

    @route(path, http_method=[HttpMethod.GET, HttpMethod.HEAD], sync_to_thread=False)
    def page(request: Request[Any, Any, Any]) -> Response[bytes]:
        accept = request.headers.get("accept", "")
        form = _form(accept)
        headers = {**_SAFE, "Cache-Control": _MINUTE, "Vary": "Accept", "Link": links}
        return answer(request, find(request, form), _TYPES[form], headers)

    return page


def _style() -> BaseRouteHandler:
    style, headers = Stored(STYLE), {"Cache-Control": _FOR_EVER, "X-Content-Type-Options": "nosniff"}

    @route(STYLE_PATH, http_method=[HttpMethod.GET, HttpMethod.HEAD], sync_to_thread=False)
    def document(request: Request[Any, Any, Any]) -> Response[bytes]:
        return answer(request, style, "text/css", headers)

    return document


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def _fixed(path: str, body: str | bytes, media_type: str, cache: str = _MINUTE) -> BaseRouteHandler:
    return _made(path, lambda: body, media_type, cache)


def _made(
    path: str,
    make: Callable[[], str | bytes],
    media_type: str,
    cache: str = _MINUTE,
    headers: Mapping[str, str] | None = None,
) -> BaseRouteHandler:
    """A short document that is made for each request."""
    sent = {"Cache-Control": cache, "X-Content-Type-Options": "nosniff", **(headers or {})}

    @route(path, http_method=[HttpMethod.GET, HttpMethod.HEAD], sync_to_thread=False)
    def document() -> Response[str | bytes]:
        return Response(make(), media_type=media_type, headers=sent)

    return document
